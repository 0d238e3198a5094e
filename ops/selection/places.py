"""Places along one dimension by native code, where there are many."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import family, is_whole
from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange

__all__ = ["MANY", "combined_natively", "taken_natively"]

_INT64: Final = np.dtype(np.int64)
MANY: Final = 16
"""Elements from which writing them one by one is worth native code."""


def taken_natively(self: Array, axis: int, index: Array) -> Array | None:
    """The elements at places, one for each element of the result or, in a vector, for each slice.

    None if this is no work for native code, or if a place is not there.
    """
    if index.dtype is not _INT64 or not (is_whole(self) and is_whole(index)):
        return None
    if index.ndim > 1 and not _goes_with(index, self, axis):
        return None
    places = family("places")
    found: Array | None = None if places is None else places.take(self, axis, index)
    return found


def _goes_with(one: Array, other: Array, axis: int) -> bool:
    """Whether two arrays have the same dimensions but for one."""
    a, b = one.shape, other.shape
    return len(a) == len(b) and a[:axis] == b[:axis] and a[axis + 1 :] == b[axis + 1 :]


def combined_natively(self: Array, axis: int, index: Array, source: Array, operation: str) -> bool:
    """Whether elements were written to places of `self` by native code, or combined with it.

    The index names a place for each element of the source or, in a vector, for each slice; the
    operations are those of the kernel.

    Raises:
        IndexOutOfRange: a place is not there; nothing is written then.
    """
    if source.size < MANY or index.dtype is not _INT64 or not self.flags.carray or not self.ndim:
        return False
    if index.shape != source.shape and index.ndim != 1:
        return False
    if source.dtype != self.dtype or not _goes_with(source, self, axis):
        return False
    places = family("places")
    if places is None:
        return False
    index, source = np.ascontiguousarray(index), np.ascontiguousarray(source)
    done = places.combine(self, axis, index, source, operation)
    if done is False:
        raise IndexOutOfRange("index out of range in self")
    return done is True
