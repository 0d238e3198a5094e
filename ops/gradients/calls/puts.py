"""Writes through views, where calls are known as a whole.

A view that is written counts as another value, made by the operator that writes nothing, and what
it is a view of as a third: the old one with the new part put into it.  That is a step without a
note of its own.
"""

from __future__ import annotations

from types import EllipsisType
from typing import NamedTuple

from ...memory.dtype import Array
from ...memory.storage import address

__all__ = ["Key", "Memory", "Put", "key_between"]

Key = tuple[int | slice | EllipsisType, ...]


class Put(NamedTuple):
    """What is put into a value: `view` is what stood there before, at `key`."""

    view: int
    key: Key


class Memory:
    """Memory that a call has made: all of it as an array, the value that stands there now, and all
    values that have stood there or in parts of it."""

    __slots__ = ("members", "now", "whole")

    def __init__(self, whole: Array, number: int) -> None:
        self.whole = whole
        self.now = number
        self.members = {number}


def key_between(whole: Array, part: Array) -> Key | None:
    """The numbers and slices by which an array without gaps gives a part of it; None if there are
    none."""
    if part.dtype is not whole.dtype or not whole.flags.c_contiguous or not whole.size:
        return None
    begin = address(part) - address(whole)
    if not 0 <= begin < whole.nbytes or not part.size:
        return None
    starts = list[int]()
    for stride in whole.strides:
        start, begin = divmod(begin, stride)
        starts.append(start)
    found = None if begin else _keys(whole, part, starts, 0)
    return None if found is None else (*found, ...)


def _keys(whole: Array, part: Array, starts: list[int], place: int) -> list[int | slice] | None:
    """The keys of the dimensions behind those that have one, of which `place` are slices."""
    dim = len(whole.shape) - len(starts)
    if not starts:
        return [] if place == part.ndim else None
    start, rest = starts[0], starts[1:]
    if place < part.ndim:
        count = part.shape[place]
        step, apart = divmod(part.strides[place], whole.strides[dim]) if count > 1 else (1, 0)
        end = start + (count - 1) * step + 1
        if step > 0 and not apart and end <= whole.shape[dim]:
            found = _keys(whole, part, rest, place + 1)
            if found is not None:
                return [slice(start, end, step), *found]
    found = _keys(whole, part, rest, place)
    return None if found is None else [start, *found]
