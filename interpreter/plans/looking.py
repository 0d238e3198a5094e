"""Calls that are looked at to find out which kernels they run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...ops.kernels import family
from ...ops.memory.dtype import Array
from ...ops.memory.storage import address, root_of, view_of
from ...ops.table.noticing import Unforeseen, arrays_in
from ...ops.table.record import Operator
from ..code.calls import Calls

if TYPE_CHECKING:
    from ...ops.kernels.code.calls.watching import Seen

__all__ = ["MOST_RUNS", "Looking", "NotNew", "bytes_of", "lies_forward", "owns_all"]
__all__ += ["roots_of", "seen_class", "with_parts"]

MOST_RUNS: Final = 4000
"""Kernels of one call: Python's handlers of signals wait as long as it takes."""


class Looking(Calls, ABC):
    """How operators over tensors are called while they are looked at."""

    def forward(self, entry: Operator) -> Callable[..., object]:
        """What is called in the place of an operator."""
        if "Tensor" not in entry.schema:
            return entry.forward
        return lambda *values: self.look(entry, values)

    @abstractmethod
    def look(self, entry: Operator, values: Sequence[object]) -> object:
        """The result of an operator, of which is noted what it ran.

        Raises:
            Unforeseen: it is more than runs of kernels.
        """


def seen_class() -> type[Seen]:
    """The class of what a look at a call gives; calls are looked at where there is native code."""
    found: type[Seen] = family("calls.prepared").Seen
    return found


def bytes_of(array: Array) -> Array:
    """The memory of an array, not to be written to.

    Raises:
        Unforeseen: it does not lie in one piece.
    """
    flat = array.ravel("K")
    if not array.size or address(flat) != address(array):
        raise Unforeseen("a constant does not lie in one piece")
    found = flat.view(np.uint8)
    found.flags.writeable = False
    return found


def owns_all(array: Array) -> bool:
    """Whether an array has its memory for itself."""
    root = root_of(array)
    return root.nbytes == array.nbytes and address(root) == address(array)


def lies_forward(array: Array) -> bool:
    """Whether an array has its memory for itself, or goes through a part of it forwards."""
    is_forward = array.size > 0 and min(array.strides, default=0) >= 0
    return owns_all(array) or (is_forward and array.flags.aligned)


def roots_of(results: Sequence[Array]) -> list[Array]:
    """The memory that some results are parts of, or share."""
    several = {id(each): each for each in results}.values()
    counts = Counter(id(root_of(each)) for each in several)
    found = (root_of(e) for e in several if counts[id(root_of(e))] > 1 or not owns_all(e))
    return list({id(each): each for each in found}.values())


class NotNew(Unforeseen):
    """A call that gives a constant, or what shares memory it was given; others may not."""

    def __init__(self) -> None:
        super().__init__("a result is no new tensor")


def with_parts(found: Seen, taken: Sequence[Any], values: Sequence[Any]) -> Seen:
    """What was seen of a call, with the results that are given, or lie in what is, told as such:
    in the arguments of the call itself, where copies of some were `taken` for them.

    Raises:
        Unforeseen: one may lie in several.
    """
    if found.result is None:
        return found
    given = {id(root_of(each)) for each in arrays_in(taken)}
    holds: Any = family("calls.reaches").holds
    results, parts, known = list[Any](), dict[int, tuple[int, int]](), dict[int, Any]()
    for made in found.result:
        if id(root_of(made)) in given and id(made) not in known:
            held = [i for i, each in enumerate(taken) if each is made]
            held = held or [i for i, each in enumerate(taken) if holds(each, made)]
            if len({id(taken[i]) for i in held}) != 1:
                raise NotNew
            whole, itself = taken[held[0]], values[held[0]]
            begin = -1 if whole is made else address(made) - address(whole)
            if whole is not itself:
                made_of = made.shape, made.strides, begin, made.dtype
                known[id(made)] = itself if begin < 0 else view_of(itself, *made_of)
            parts[id(known.get(id(made), made))] = held[0], begin
        results.append(known.get(id(made), made))
    return found._replace(result=tuple(results), taken=taken, parts=parts)
