"""Orders of large rows by words of 64 bits: a number's rank among all numbers, then its place.

Such words are all different, so whatever order they are put in is the stable one, and NumPy sorts
and partitions them by vectors.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import family, in_order, is_whole
from ..memory.dtype import Array

__all__ = ["packed", "places_of"]

_FLOAT32: Final = np.dtype(np.float32)
_INT64: Final = np.dtype(np.int64)
_INT32: Final = np.dtype(np.int32)
_LARGE: Final = 1024
_PLACES: Final = 0xFFFFFFFF
_SIGN: Final = np.uint32(1 << 31)


def packed(self: Array, axis: int, descending: bool) -> Array | None:
    """A word for each element, the dimension in question last; None if there is no such.

    NaN counts as the largest number, and zeros of both signs as equal.
    """
    self = self[...]  # which no other thread can change
    if self.size < _LARGE or self.shape[axis] > _PLACES:
        return None
    rows = self if axis == self.ndim - 1 else in_order(np.moveaxis(self, axis, -1))
    if self.dtype is _FLOAT32:
        native = family("ordering.order_words") if is_whole(rows) else None
        if native is not None:
            words: Array = native.order_words(rows, descending=descending)
            return words
        ranks = _ranks_of_floats(rows, descending)
    elif self.dtype in (_INT64, _INT32):
        found = _ranks_of_whole(rows, descending)
        if found is None:
            return None
        ranks = found
    else:
        return None
    ranks <<= np.uint64(32)
    ranks |= np.arange(rows.shape[-1], dtype=np.uint64)
    return ranks


def _ranks_of_floats(rows: Array, descending: bool) -> Array:
    settled = rows + np.float32(0)  # which is a copy, and has no negative zero
    is_nan = np.isnan(settled)
    if is_nan.any():
        settled[is_nan] = np.nan
    bits = settled.view(np.uint32)
    flips = (settled.view(np.int32) >> 31).view(np.uint32)
    flips |= _SIGN
    bits ^= flips
    if descending:
        np.invert(bits, bits)
    return bits.astype(np.uint64, order="C")


def _ranks_of_whole(rows: Array, descending: bool) -> Array | None:
    """None if the numbers lie too far apart."""
    settled = rows.astype(np.int64, order="C")
    low, high = int(settled.min()), int(settled.max())
    if high - low > _PLACES:
        return None
    ranks = np.subtract(high, settled, settled) if descending else settled.__isub__(low)
    return np.asarray(ranks.view(np.uint64))


def places_of(words: Array, axis: int) -> Array:
    """The places that words name, with their dimension back where it was."""
    places = (words & np.uint64(_PLACES)).view(np.int64)
    return places if axis == words.ndim - 1 else in_order(np.moveaxis(places, -1, axis))
