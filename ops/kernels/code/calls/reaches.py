"""Where the elements of arrays lie: what one reaches over, and what another has of that."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ....memory.dtype import Array
from ....memory.overlap import reach_apart
from ....memory.storage import address, bounds_of, root_of, view_of
from ..fronts.prepared_text import KEY_FACTOR

__all__ = [
    *(
        "alike",
        "apart",
        "begins_in",
        "each_of",
        "gives_empty_parts",
        "gives_parts_of",
        "has_bytes_of",
    ),
    *("holds", "is_forward"),
    *("is_still", "key_of", "lies_apart", "span", "views_of_all"),
]


def is_forward(array: Array) -> bool:
    """Whether an array goes through memory forwards."""
    return min(array.strides, default=0) >= 0 and array.flags.aligned


def holds(value: object, part: Array) -> bool:
    """Whether all elements of an array lie in the memory that an argument reaches over."""
    if type(value) is not np.ndarray or not value.size or not is_forward(value):
        return False
    begin = address(part) - address(value)
    return begin >= 0 and begin + span(part) <= span(value)


def lies_apart(array: Array) -> bool:
    """Whether each element has memory of its own, as strides tell that go forwards."""
    return reach_apart(array) is not None


def alike(array: Array, values: Array) -> Array:
    """Values that lie as an array does, in other memory."""
    memory = np.empty(span(array), np.uint8)
    made = view_of(memory, array.shape, array.strides, 0, array.dtype)
    made[...] = values
    return made


def span(array: Array) -> int:
    """The bytes from the first to the last element of an array without negative strides."""
    if array.flags.c_contiguous and array.size:
        return array.nbytes
    reach = array.itemsize
    for size, step in zip(array.shape, array.strides, strict=True):
        reach += (size - 1) * step
    return reach


def begins_in(part: Array, whole: Array) -> bool:
    """Whether an array begins where another one has an element, which is not its first."""
    rest = address(part) - address(whole)
    if not 0 < rest < span(whole):
        return False
    for step, size in sorted(zip(whole.strides, whole.shape, strict=True), reverse=True):
        rest -= min(rest // step, size - 1) * step if step > 0 else 0
    return rest < int(whole.itemsize)


def has_bytes_of(array: Array, other: Array) -> bool:
    """Whether arrays of one dimension, in one piece each and equally large, have the same bytes."""
    words = np.uint64 if array.nbytes % 8 == 0 else np.uint8
    return bool((array.view(words) == other.view(words)).all())


def is_still(value: Any, settled: Any) -> bool:
    """Whether an argument is what it was, when a view was made of it if it is an array."""
    if value is settled:
        return True
    lies = value.shape == settled.shape and value.strides == settled.strides
    return lies and value.dtype is settled.dtype and address(value) == address(settled)


def each_of(result: Any) -> Sequence[Any]:
    """What a function gives, one by one."""
    return result if isinstance(result, (tuple, list)) else (result,)


def gives_parts_of(values: Sequence[Any], result: object) -> bool:
    """Whether a result is made of nothing but the first argument, or parts of arguments."""
    several = each_of(result)
    return bool(several) and all(
        (bool(values) and each is values[0])
        or (
            type(each) is np.ndarray
            and each.size > 0
            and each.base is not None
            and any(holds(value, each) for value in values)
        )
        for each in several
    )


def gives_empty_parts(values: Sequence[Any], result: object) -> bool:
    """Whether a result has no elements, but lies in the memory of an argument."""
    roots = [root_of(value) for value in values if type(value) is np.ndarray]
    return any(
        type(each) is np.ndarray and not each.size and any(root_of(each) is root for root in roots)
        for each in each_of(result)
    )


def views_of_all(values: Sequence[object]) -> tuple[Any, ...]:
    """Arguments with a view in the place of each array, which no other thread can make another
    array; one that is given twice has one view."""
    views = {id(each): each[...] for each in values if type(each) is np.ndarray}
    return tuple(views.get(id(each), each) for each in values)


def apart(values: Sequence[object]) -> Sequence[Any]:
    """Arguments of which none shares memory with another one: with copies in the place of arrays
    where some do, which lie as those, with the same bytes between elements."""
    found = {id(each): each for each in values if type(each) is np.ndarray and each.size}
    ends = sorted(map(bounds_of, found.values()))
    is_apart = all(end <= begin for (_, end), (begin, _) in pairwise(ends))
    if is_apart or not all(map(is_forward, found.values())):
        return values
    copies = {number: _copied(each) for number, each in found.items()}
    return tuple(copies.get(id(each), each) for each in values)


def _copied(array: Array) -> Array:
    """A copy that lies as the array does, of all that it reaches over."""
    memory = view_of(array, (span(array),), (1,), 0, np.dtype(np.uint8)).copy()
    return view_of(memory, array.shape, array.strides, 0, array.dtype)


def key_of(values: Sequence[object]) -> int:
    """The sum of the sizes of arrays that native code looks for, as a word."""
    key = 0
    for value in values:
        for size in value.shape if type(value) is np.ndarray else ():
            key = (key * KEY_FACTOR + size) & ((1 << 64) - 1)
    return key - (key >> 63 << 64)
