"""Gradients that are not differentiated as formulas would have it: together, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...tensors.tensor import Tensor
from .autograd import Edge, Node, edge_of, node_class, with_node

__all__ = ["all_together", "not_twice", "unknown"]


class _Nothing(Node):
    """The node of a gradient that depends on nothing, though others made with it do."""

    __slots__ = ()

    takes_none = True

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        return [None] * len(self.edges)


class _Refused(Node):
    """The node of a gradient that cannot be differentiated itself."""

    __slots__ = ("why",)

    def __init__(self, edge: Edge | None, why: str) -> None:
        super().__init__([edge])
        self.why = why

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        raise RuntimeError(self.why)


class _Unknown(Node):
    """The node of an operator whose gradient is not known."""

    __slots__ = ("operator",)

    operator: str

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        raise RuntimeError(f"derivative for {self.operator} is not implemented")


def unknown(operator: str, edges: Iterable[Edge | None]) -> Node:
    """The node of a call of an operator whose gradient is not known."""
    made: _Unknown = node_class(_Unknown, "NotImplemented")(edges)
    made.operator = operator
    return made


def not_twice(grad: Tensor, why: str) -> Tensor:
    """A gradient that says, when it is differentiated, why it cannot be."""
    return with_node(grad, _Refused(edge_of(grad), why))


def all_together(
    node: Node,
    made: list[Tensor | None],
    edges: Sequence[Edge | None],
    grads: Sequence[Tensor | None],
) -> None:
    """Have all gradients that a node made require gradients if anything does that they are made
    of: the gradients of its results, and the arguments with these edges."""
    behind = [edge_of(grad) for grad in grads if grad is not None]
    behind = [edge for edge in (*edges, *behind) if edge is not None]
    if not behind:
        return
    kind = node_class(_Nothing, f"{type(node).__name__.removesuffix('0')}Backward0")
    for place, grad in enumerate(made):
        if grad is not None and edge_of(grad) is None:
            made[place] = with_node(grad, kind(behind))
