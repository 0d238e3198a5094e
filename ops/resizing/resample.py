"""Where resampling reads each dimension: places and weights of every output, for each filter.

A `Taps` holds, for every output along a dimension, the inputs it is made of: `places[k]` is the
k-th input of each output and `weights[k]` its share (None: all of it).  Resampling a tensor applies
the taps of each dimension in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, prod
from types import ModuleType
from typing import Any, Final

import numpy as np

from ..kernels import family, is_ready
from ..memory.dtype import Array, Dtype
from ..selection.places import taken_natively
from ..table.pointwise import as_array

__all__ = [
    "Filter",
    "Taps",
    "apply_taps",
    "apply_to_bytes",
    "cubic",
    "in_shares_of",
    "linear",
    "nearest",
    "smooth",
]


@dataclass(frozen=True, slots=True)
class Taps:
    """What each output along one dimension is made of."""

    places: Sequence[Array] | Array
    weights: Sequence[Array] | Array | None = None

    @property
    def nbytes(self) -> int:
        """The bytes of both."""
        weights = () if self.weights is None else self.weights
        return sum(each.nbytes for each in (*self.places, *weights))


def _ratio(size: int, count: int, align: bool, scale: float | None, dtype: Dtype) -> Any:
    """How far apart the outputs lie in the input."""
    number = dtype.type
    if align:
        return number(size - 1) / number(count - 1) if count > 1 else number(0)
    if scale is not None and scale > 0:
        return number(1.0 / scale)
    return number(size) / number(count)


# --------------------------------------------------------------------------- filters


def nearest(
    size: int, count: int, scale: float | None, dtype: Dtype, *, exact: bool, shortcut: bool
) -> Taps:
    """The input nearest to each output; without `exact`, the one at its left corner.

    With `shortcut`, equal and doubled sizes do not ask for the scale.
    """
    if shortcut and count in (size, 2 * size):  # whatever the scale says
        return Taps([np.arange(count) * size // count])
    ratio = _ratio(size, count, False, scale, np.dtype(np.float32))
    at = np.arange(count, dtype=np.float32) + np.float32(0.5 if exact else 0)
    places = np.minimum(np.floor(at * ratio).astype(np.int64), size - 1)
    return Taps([places])


def _sources(count: int, ratio: float | np.generic, align: bool, dtype: Dtype) -> Array:
    at = np.arange(count, dtype=dtype)
    half = dtype.type(0.5)
    return np.asarray(at * ratio if align else ratio * (at + half) - half)


def linear(size: int, count: int, align: bool, scale: float | None, dtype: Dtype) -> Taps:
    """Two neighbours, weighted by nearness."""
    at = _sources(count, _ratio(size, count, align, scale, dtype), align, dtype)
    at = np.maximum(at, 0)
    first = np.minimum(at.astype(np.int64), size - 1)
    second = np.minimum(first + 1, size - 1)
    share = np.clip(at - first, 0, 1).astype(dtype)
    return Taps([first, second], [1 - share, share])


def in_shares_of(taps: Taps, dtype: Dtype) -> Taps:
    """The taps of `linear` or `cubic` with shares that a 16-bit dtype holds."""
    assert taps.weights is not None
    wide = taps.weights[1].dtype
    if len(taps.weights) > 2:
        return Taps(taps.places, [each.astype(dtype).astype(wide) for each in taps.weights])
    far = taps.weights[1].astype(dtype)
    return Taps(taps.places, [(dtype.type(1) - far).astype(wide), far.astype(wide)])


_A: Final = -0.75
"""The slope of the cubic convolution without antialiasing; with it, torch uses -0.5."""


def cubic_weights(share: Array) -> list[Array]:
    """The weights of four neighbours, the point lying `share` after the second."""

    # Coefficients in the array's own dtype: a Python float would make float32 of bfloat16.
    near2, near3 = share.dtype.type(_A + 2), share.dtype.type(_A + 3)
    once, four = share.dtype.type(_A), share.dtype.type(4 * _A)
    five, eight = share.dtype.type(5 * _A), share.dtype.type(8 * _A)

    def near(x: Array) -> Array:
        return np.asarray((near2 * x - near3) * x * x + 1)

    def far(x: Array) -> Array:
        return np.asarray(((once * x - five) * x + eight) * x - four)

    return [far(share + 1), near(share), near(1 - share), far(2 - share)]


def cubic(size: int, count: int, align: bool, scale: float | None, dtype: Dtype) -> Taps:
    """Four neighbours by cubic convolution; the edge repeats."""
    at = _sources(count, _ratio(size, count, align, scale, dtype), align, dtype)
    first = np.floor(at)
    places = [np.clip(first.astype(np.int64) + k, 0, size - 1) for k in (-1, 0, 1, 2)]
    return Taps(places, cubic_weights((at - first).astype(dtype)))


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter for antialiased resampling: its width in inputs, and its shape."""

    width: int
    shape: Callable[[Array], Array]


def smooth(
    size: int, count: int, align: bool, scale: float | None, dtype: Dtype, filter: Filter
) -> Taps:
    """All inputs under a filter as wide as the outputs lie apart, at least as wide as made for."""
    ratio = _ratio(size, count, align, scale, dtype)
    stretch = max(float(ratio), 1.0)
    support = dtype.type(filter.width * 0.5 * stretch)
    center = ratio * (np.arange(count, dtype=dtype) + dtype.type(0.5))
    low = np.maximum((center - support + dtype.type(0.5)).astype(np.int64), 0)
    high = np.minimum((center + support + dtype.type(0.5)).astype(np.int64), size)
    most = min(int((high - low).max(initial=1)), ceil(float(support)) * 2 + 1)
    offsets = np.arange(most)[:, None]
    distance = (offsets + low - center + dtype.type(0.5)) / dtype.type(stretch)
    weights = np.where(offsets < high - low, filter.shape(distance.astype(dtype)), 0)
    total = weights.sum(0)
    weights = np.where(total != 0, weights / np.where(total != 0, total, 1), weights).astype(dtype)
    places = np.minimum(low + offsets, size - 1)
    return Taps(list(places), list(weights))


# --------------------------------------------------------------------------- application


def _natively(
    resamples: ModuleType,
    array: Array,
    axis: int,
    places: Sequence[Array] | Array,
    weights: Sequence[Array] | Array,
) -> Array:
    before, after = prod(array.shape[:axis]), prod(array.shape[axis + 1 :])
    where = np.asarray(places, np.int64)
    factors = np.asarray(weights, array.dtype)
    made = resamples.resample(array.reshape(before, -1, after), where, factors)
    return as_array(made.reshape(*array.shape[:axis], -1, *array.shape[axis + 1 :]))


def apply_taps(array: Array, axis: int, taps: Taps) -> Array:
    """The array resampled along one dimension."""
    array = array[...]  # which no other thread can change
    if taps.weights is None:
        found = taken_natively(array, axis, taps.places[0])
        return array.take(taps.places[0], axis) if found is None else found
    if is_ready(array):
        resamples = family("windows.resamples")
        if resamples is not None:
            return _natively(resamples, array, axis, taps.places, taps.weights)
    shape = [1] * array.ndim
    shape[axis] = -1
    total: Array | None = None
    for places, weights in zip(taps.places, taps.weights, strict=True):
        part = array.take(places, axis)
        part *= weights.reshape(shape)
        if total is None:
            total = part
        else:
            total += part
    assert total is not None
    return total


def _merged(taps: Taps) -> Taps:
    """The taps with one weight a place: past an edge, which repeats, they add up before they are
    rounded."""
    assert taps.weights is not None
    weights = [each.copy() for each in taps.weights]
    for k in range(len(weights) - 1):
        same = taps.places[k] == taps.places[k + 1]
        weights[k + 1] += np.where(same, weights[k], 0)
        weights[k][same] = 0
    return Taps(taps.places, weights)


def apply_to_bytes(array: Array, axis: int, taps: Taps) -> Array:
    """Bytes resampled along one dimension, with weights of 16 bits, each pass rounded to bytes."""
    assert taps.weights is not None
    taps = _merged(taps)
    assert taps.weights is not None
    largest = max(float(np.max(w, initial=0)) for w in taps.weights)
    bits = 0
    while bits < 22 and int(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    shape = [1] * array.ndim
    shape[axis] = -1
    total = np.asarray(1 << (bits - 1), np.int32)
    for places, weights in zip(taps.places, taps.weights, strict=True):
        scaled = weights * (1 << bits)
        whole = np.trunc(scaled + np.where(scaled < 0, -0.5, 0.5)).astype(np.int32)
        total = total + array.take(places, axis).astype(np.int32) * whole.reshape(shape)
    made: Array = np.clip(total >> bits, 0, 255).astype(np.uint8)
    return made
