"""Whether the members of a group have begun the same: MPI would mix what differs.

Beside each collective its members tell each other what they have begun, as whole numbers.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..ops.memory.dtype import Array
from .backends import DistBackendError, ReduceOp
from .communicators import Pending

__all__ = ["Agreed", "told"]

_CALLS: Final = (
    *("barrier", "broadcast", "all_reduce", "reduce", "reduce_scatter", "all_gather", "gather"),
    *("scatter", "all_to_all"),
)
_OPERATIONS: Final = tuple(ReduceOp)
_NONE: Final = -1
_COMMON: Final = 5
"""Numbers that are to be the same for all members; what they give each other stands behind."""


def told(
    call: str,
    size: int,
    values: Array | None = None,
    op: ReduceOp | None = None,
    root: int | None = None,
    exchanged: tuple[list[int], list[int]] | None = None,
) -> Array:
    """What a member of a group of a size tells of a call.

    Args:
        call: its name.
        size: how many members there are.
        values: the array that is to be alike for all members.
        op: how it is reduced.
        root: the member that gives or gets the whole.
        exchanged: how many bytes it gives to each member, and how many it takes from each.
    """
    common = [
        _CALLS.index(call),
        _NONE if values is None else ord(values.dtype.char),
        _NONE if values is None else values.size,
        _NONE if op is None else _OPERATIONS.index(op),
        _NONE if root is None else root,
    ]
    given, taken = exchanged or ([0] * size, [0] * size)
    return np.array([*common, *given, *taken], np.int64)


class Agreed:
    """Something that was begun, which fails as soon as members are heard to have begun another.

    Args:
        telling: the exchange of what they tell.
        rows: where that comes to, a row for each member.
        begun: what was begun.
    """

    def __init__(self, telling: Pending, rows: Array, begun: Pending) -> None:
        self._telling: Pending | None = telling
        self._rows = rows
        self._begun = begun

    def done(self) -> bool:
        if self._telling is not None:
            if not self._telling.done():
                return False
            self._telling = None
            difference = _difference(self._rows)
            if difference is not None:
                self._begun.abandon()
                raise DistBackendError(
                    f"Detected mismatch between collectives on ranks. {difference}"
                )
        return self._begun.done()

    def abandon(self) -> None:
        if self._telling is not None:
            self._telling.abandon()
        self._begun.abandon()

    def source(self) -> int:
        return self._begun.source()


def _difference(rows: Array) -> str | None:
    """The first thing that two members do not agree in, in words."""
    first, size = rows[0], len(rows)
    for rank in range(1, size):
        if (rows[rank, :_COMMON] != first[:_COMMON]).any():
            one, other = _words(first), _words(rows[rank])
            return (
                f"Rank 0 is running collective: {one}, but Rank {rank} is running collective: "
                f"{other}"
            )
    given, taken = rows[:, _COMMON : _COMMON + size], rows[:, _COMMON + size :].T
    if (given == taken).all():
        return None
    giver, taker = (int(place) for place in np.argwhere(given != taken)[0])
    return (
        f"Rank {giver} gives {given[giver, taker]} bytes to Rank {taker}, which expects "
        f"{taken[giver, taker]}"
    )


def _words(row: Array) -> str:
    call, dtype, count, op, root = (int(number) for number in row[:_COMMON])
    words = _CALLS[call]
    if count != _NONE:
        elements = "bytes" if words == "broadcast" else f"{np.dtype(chr(dtype)).name} elements"
        words += f" of {count} {elements}"
    if op != _NONE:
        words += f" by {_OPERATIONS[op].name}"
    return words if root == _NONE else f"{words} with root {root}"
