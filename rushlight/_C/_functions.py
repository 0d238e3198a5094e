"""`torch._C._functions`: nodes that no operator leaves."""

from __future__ import annotations

from ..ops.gradients.nodes.autograd import AccumulateGrad as AccumulateGrad
from ..ops.gradients.nodes.autograd import Node, edge_of, node_class
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.with_memory import with_memory

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]


class _Undefined(Node):
    """Gives no gradient, whatever it gets."""

    __slots__ = ()

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        return [None] * len(self.edges)


class _Error(Node):
    """Raises where the way back comes to it."""

    __slots__ = ("said",)

    said: str

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        raise RuntimeError(self.said)


def _after(tensor: Tensor, node: Node, number: int = 0) -> Tensor:
    """The tensor with a node of its own."""
    made: Tensor = with_memory(tensor.detach())
    made._requires_grad = True
    made._grad_node, made._output_number = node, number
    return made


class UndefinedGrad:
    """Gives tensors whose gradients are lost: who comes after on the way back gets None."""

    def __call__(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        """The tensors, each with one node more."""
        node = node_class(_Undefined, "UndefinedGradBackward")(map(edge_of, inputs))
        made = tuple(_after(each, node, number) for number, each in enumerate(inputs))
        return made[0] if len(made) == 1 else made


class DelayedError:
    """Gives tensors that cannot be differentiated.

    Args:
        msg: what the error says.
        num_inputs: of how many tensors.
    """

    def __init__(self, msg: str, num_inputs: int) -> None:
        self.msg = msg
        self.num_inputs = num_inputs

    def __call__(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        """The tensors, with a node that raises RuntimeError on the way back."""
        node = node_class(_Error, "Error")(map(edge_of, inputs))
        node.said = self.msg
        made = tuple(_after(each, node, number) for number, each in enumerate(inputs))
        return made[0] if len(made) == 1 else made
