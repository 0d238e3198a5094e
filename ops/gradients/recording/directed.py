"""Where directions begin, and which tensors lead there: where derivatives go forwards, what does
is recorded under `no_grad`, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary, ref

from ...table.grad_mode import BEGINNINGS, DIRECTIONS, is_grad_enabled
from ...tensors.tensor import Tensor
from ..nodes.autograd import AccumulateGrad, Edge, Node, edge_of, with_node

__all__ = [
    "begin_direction",
    "for_directions_alone",
    "is_directed",
    "leads_to_leaf",
    "require",
    "without_direction",
]


class Identity(Node):
    """The node of a tensor that is another one, with its history."""

    __slots__ = ()

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        return grads


class _Undirected(Identity):
    """That of one without its direction."""

    __slots__ = ()
    undirected = (0,)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        return [None] if DIRECTIONS.walks else grads


class _DirectedAlone(Identity):
    """That of one that was made while no gradients were wanted, only directions."""

    __slots__ = ()

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        return grads if DIRECTIONS.walks or DIRECTIONS.passes else [None]


class _Wanted(Identity):
    """That of one with a direction whose gradient is wanted, too: it stands for a leaf."""

    __slots__ = ()

    def __init__(self, edge: Edge, tensor: Tensor) -> None:
        super().__init__([edge, (AccumulateGrad(tensor), 0)])

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        return grads * 2


class AliasBackward0(Identity):
    """That of one with a direction, which may be written in place."""

    __slots__ = ("is_apart",)

    def __init__(self, edge: Edge, is_apart: bool) -> None:
        super().__init__([edge])
        self.is_apart = is_apart
        """Whether nothing of the user's lies behind it."""
        BEGINNINGS.add(ref(self, BEGINNINGS.discard))


for _kind in (_Undirected, _DirectedAlone, _Wanted):
    _kind.__name__ = Identity.__name__  # which users see


def begin_direction(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """A tensor over the memory of another one where a direction begins, and one made of it for the
    user; what requires gradients keeps its history.

    Neither is a view, so that where they came from stays the same when their memory is written.
    """
    edge = edge_of(tensor)
    start = with_node(tensor, None if edge is None else Identity([edge]))
    begins = edge_of(start)
    assert begins is not None
    return start, with_node(tensor, AliasBackward0(begins, edge is None))


def without_direction(tensor: Tensor) -> Tensor:
    """A tensor without its direction, but with its history where gradients are wanted."""
    if not (is_grad_enabled() and leads_to_leaf(tensor)):
        return tensor.detach()
    return with_node(tensor, _Undirected([edge_of(tensor)]))


def require(tensor: Tensor) -> None:
    """Have a tensor that has a direction alone require gradients, as a leaf would."""
    edge = edge_of(tensor)
    if edge is not None and is_directed([tensor], alone=True):
        tensor._grad_node, tensor._output_number = _Wanted(edge, tensor), 0


def for_directions_alone(results: Iterable[Tensor]) -> None:
    """Have no gradients, only directions, go through some results."""
    for result in results:
        edge = edge_of(result)
        if edge is not None:
            result._grad_node, result._output_number = _DirectedAlone([edge]), 0


class _Leads(NamedTuple):
    to_direction: bool
    to_leaf: bool


_NONE: Final = _Leads(False, False)
_KNOWN: Final[WeakKeyDictionary[Node, _Leads]] = WeakKeyDictionary()


def is_directed(values: Iterable[object], *, alone: bool = False) -> bool:
    """Whether a tensor among some values leads to where a direction begins, and, if `alone` is
    asked for, to no leaf of the user's."""
    for value in values:
        if isinstance(value, Tensor):
            found = _leads(value) if value._requires_grad else _NONE
            if found.to_direction and not (alone and found.to_leaf):
                return True
        elif isinstance(value, (list, tuple)) and is_directed(value, alone=alone):
            return True
    return False


def leads_to_leaf(tensor: Tensor) -> bool:
    """Whether gradients of a tensor of the user's go into this one."""
    return _leads(tensor).to_leaf


def _leads(tensor: Tensor) -> _Leads:
    try:
        edge = edge_of(tensor)
    except RuntimeError:  # a view made without gradients whose memory was written since
        return _NONE
    if edge is None:
        return _NONE
    pending = [edge[0]]
    while pending:
        node = pending[-1]
        behind = _behind(node)
        unknown = [each for each in behind if each not in _KNOWN]
        if unknown:
            pending += unknown
            continue
        pending.pop()
        known = [_KNOWN[each] for each in behind]
        directed = any(each.to_direction for each in known) or type(node) is AliasBackward0
        leaf = any(each.to_leaf for each in known) or node.is_leaf
        _KNOWN[node] = _Leads(
            directed and type(node) is not _Undirected, leaf and type(node) is not _DirectedAlone
        )
    return _KNOWN[edge[0]]


def _behind(node: Node) -> list[Node]:
    if type(node) is AliasBackward0 and node.is_apart:
        return []
    return [edge[0] for edge in node.edges if edge is not None]
