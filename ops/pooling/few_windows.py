"""Windows along one dimension, one after the other: where there are fewer of them than of elements
that each could see.  A kernel may be longer than any memory; what a window sees lies in the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..memory.dtype import Array
from .pool_checks import Geometry

__all__ = ["cut_at", "max_in", "sums_in", "windows_of"]


def cut_at(axis: int, cut: slice) -> tuple[slice, ...]:
    """The index of a slice along a dimension."""
    return (*(slice(None),) * axis, cut)


def windows_of(size: int, g: Geometry, place: int) -> list[slice]:
    """What windows see of a dimension of that size; nothing has its end where it starts."""
    step = g.dilation[place]
    found = []
    for window in range(g.output[place]):
        start = window * g.stride[place] - g.padding[place]
        stop = min(size, start + (g.kernel[place] - 1) * step + 1)
        start = start if start >= 0 else start + -(start // step) * step
        found.append(slice(start, max(start, stop), step))
    return found


def sums_in(array: Array, axis: int, windows: Sequence[slice]) -> Array:
    """The sums of windows, their elements added one after the other."""
    sums = []
    for window in windows:
        part = array[cut_at(axis, window)]
        if part.shape[axis]:
            part = np.add.accumulate(part, axis)[cut_at(axis, slice(-1, None))]
        else:
            part = part.sum(axis, keepdims=True)
        sums.append(part)
    return np.concatenate(sums, axis)


def max_in(
    values: Array, index: Array | None, axis: int, windows: Sequence[slice], scale: int
) -> tuple[Array, Array]:
    """The maxima of windows and their places, as by `max_over`."""
    best, places = [], []
    for window in windows:
        if window.start >= window.stop:  # nothing of it lies inside: torch takes what is near
            near = min(window.start, values.shape[axis] - 1)
            window = slice(near, near + 1)
        part = values[cut_at(axis, window)]
        at = _place_of_largest(part, axis)
        best.append(np.take_along_axis(part, at, axis))
        here = (window.start + at * (window.step or 1)) * scale
        if index is not None:
            here += np.take_along_axis(index[cut_at(axis, window)], at, axis)
        places.append(here)
    return np.concatenate(best, axis), np.concatenate(places, axis)


def _place_of_largest(part: Array, axis: int) -> Array:
    """Where the last NaN is along a dimension, else the first of the largest."""
    at: Array = part.argmax(axis, keepdims=True)
    if part.dtype.kind != "f" or not np.isnan(part.max(initial=0)):
        return at
    missing = np.flip(np.isnan(part), axis)
    last = part.shape[axis] - 1 - missing.argmax(axis, keepdims=True)
    return np.asarray(np.where(missing.any(axis, keepdims=True), last, at))
