"""Sums and variances of large float32 arrays by native code."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..memory.dtype import Array
from . import family

__all__ = ["native_sum", "native_variance"]

asarray: Final = np.asarray
_FLOAT32: Final = np.dtype(np.float32)


def native_sum(self: Array, axes: tuple[int, ...] | None, keepdim: bool) -> Array | None:
    """The sum over neighbouring axes by native code; None if it is to be had otherwise."""
    ordered = tuple(range(self.ndim)) if axes is None else tuple(sorted(axes))
    if not ordered or ordered != tuple(range(ordered[0], ordered[-1] + 1)):
        return None
    kernels = family("rows")
    if kernels is None:
        return None
    first, last = ordered[0], ordered[-1] + 1
    before, count, after = (
        math.prod(part) for part in (self.shape[:first], self.shape[first:last], self.shape[last:])
    )
    if before == 1 and after == 1:
        result = asarray(kernels.total(self.reshape(-1)))
    elif after == 1:
        result = kernels.row_sums(self.reshape(before, count))
    elif after >= 16:
        result = kernels.column_sums(self.reshape(before, count, after))
    else:
        return None
    kept = (1,) * (last - first) if keepdim else ()
    return result.astype(_FLOAT32).reshape((*self.shape[:first], *kept, *self.shape[last:]))


def native_variance(self: Array, freedom: float, keepdim: bool) -> tuple[Array, Array] | None:
    """Variance and mean of all elements, in double; None if there is no native code."""
    kernels = family("rows")
    if kernels is None:
        return None
    flat = self.reshape(-1)
    middle = kernels.total(flat) / self.size
    spread = np.true_divide(kernels.squares(flat, middle), freedom)
    shape = (1,) * self.ndim if keepdim else ()
    return asarray(spread).reshape(shape), asarray(middle).reshape(shape)
