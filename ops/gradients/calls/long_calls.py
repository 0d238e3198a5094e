"""Where long calls of scripted code are cut into parts, each of which leaves one node.

Long calls mostly are loops.  A few rounds of a loop are a part, so that loops of all lengths are
known by the shape of those rounds; what does not come again is cut where it gets too long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...memory.dtype import Array
from ..recording.noted import Step
from .shapes import LONGEST

__all__ = ["outward_of", "parts_of"]

PART: Final = 128
"""Operators of a part, if its rounds are not longer."""

Part = tuple[int, int]


def parts_of(kinds: Sequence[int]) -> list[Part]:
    """Where the parts of a call begin and end, by the operators that it ran."""
    return [*_parts(kinds, 0, len(kinds))]


def _parts(kinds: Sequence[int], begin: int, end: int) -> Iterator[Part]:
    if end - begin <= PART:
        if begin < end:
            yield begin, end
        return
    found = _rounds(kinds, begin, end)
    if found is None:
        middle = (begin + end) // 2
        yield from _parts(kinds, begin, middle)
        yield from _parts(kinds, middle, end)
        return
    first, last, length = found
    yield from _parts(kinds, begin, first)
    several = max(1, PART // length) * length
    while last - first >= several:
        yield first, first + several
        first += several
    for at in range(first, last, length):  # of which there may be other numbers in other calls
        yield at, at + length
    yield from _parts(kinds, last, end)


def _rounds(kinds: Sequence[int], begin: int, end: int) -> tuple[int, int, int] | None:
    """The rounds around the middle: where the first begins, where the last ends, and how long one
    is; None where nothing comes again there."""
    middle = (begin + end) // 2
    for length in range(1, min(LONGEST, end - middle - 1) + 1):
        again = middle + length
        if kinds[again] != kinds[middle] or again + length > end:
            continue
        if kinds[middle:again] == kinds[again : again + length]:
            break
    else:
        return None
    first, stop = middle, again
    while first > begin and kinds[first - 1] == kinds[first - 1 + length]:
        first -= 1
    while stop + length < end and kinds[stop] == kinds[stop + length]:
        stop += 1
    count = (stop + length - first) // length
    return first, first + count * length, length


def outward_of(parts: Sequence[Part], steps: Sequence[Step], ends: set[int]) -> list[list[Array]]:
    """The arrays that each part made for later ones, or that are among `ends` by their identity;
    whole numbers, which have no history, left out."""
    last: dict[int, int] = {}
    for number, (begin, end) in enumerate(parts):
        for step in steps[begin:end]:
            for each in step[1]:
                kind = type(each)
                if kind is np.ndarray:
                    last[id(each)] = number
                elif kind is list or kind is tuple:
                    last.update((id(one), number) for one in each if type(one) is np.ndarray)
    found = list[list[Array]]()
    for number, (begin, end) in enumerate(parts):
        outward: dict[int, Array] = {}
        for step in steps[begin:end]:
            result = step[2]
            for each in result if type(result) in (list, tuple) else (result,):
                if type(each) is np.ndarray and each.dtype.kind not in "biu":
                    key = id(each)
                    if last.get(key, -1) > number or key in ends:
                        outward[key] = each
        found.append([*outward.values()])
    return found
