"""Tensors folded over dimensions by native code."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ..kernels import Prepared, family, is_ready
from ..memory.dtype import Array

__all__ = ["folded", "moments"]


def folded(
    self: Array, axes: tuple[int, ...] | None, keepdim: bool, operation: str
) -> Array | None:
    """The "sum", "product", "max" or "min" over dimensions, in the tensor's dtype; None if it is to
    be had otherwise.  Of floats the "squares" too: the sum of them.

    Groups of neighbouring dimensions are folded from the last one on.
    """
    found: Array | None = _known.call(self, axes, keepdim, operation)
    return found


def _folded(
    self: Array, axes: tuple[int, ...] | None, keepdim: bool, operation: str
) -> Array | None:
    self = self[...]  # which no other thread can change
    flags = self.flags
    folds = family("folds") if flags.c_contiguous and flags.aligned else None
    if folds is None:
        return None
    ordered = tuple(range(self.ndim)) if axes is None else tuple(sorted(axes))
    groups = _groups(ordered)
    if operation == "sum" and len(groups) > 1:
        operation = "total"
    made: Array | None = self if groups else None
    for first, last in groups:
        if made is None:
            return None
        made = folds.fold(made, first, last, operation)
        if operation in ("sum", "squares"):  # what is left is summed in double
            operation = "total"
    if made is None:
        return None
    if made.dtype is not self.dtype:
        made = family("arrays").cast(made, self.dtype)
    if keepdim:
        return made.reshape([1 if d in ordered else n for d, n in enumerate(self.shape)])
    return made


_known: Final = Prepared(_folded)


def _groups(axes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Runs of neighbouring dimensions, the last one first."""
    found: list[tuple[int, int]] = []
    for axis in reversed(axes):
        if found and found[-1][0] == axis + 1:
            found[-1] = axis, found[-1][1]
        else:
            found.append((axis, axis + 1))
    return found


def moments(self: Array, axes: tuple[int, ...]) -> tuple[Array, Array] | None:
    """Over the last dimensions the sum of squared distances from the mean, and the mean, in double.

    None if it is to be had otherwise.
    """
    self = self[...]
    kept = self.ndim - len(axes)
    if tuple(sorted(axes)) != tuple(range(kept, self.ndim)) or not is_ready(self):
        return None
    folds, rows = family("folds"), family("rows")
    if folds is None or rows is None:
        return None
    shape = self.shape[:kept]
    if kept:
        middle, squares = rows.moments(self.reshape(prod(shape), -1))
    else:
        middle = folds.fold(self, 0, self.ndim, "total") / self.size
        squares = folds.fold(self, 0, self.ndim, "squares", float(middle))
    return np.asarray(squares).reshape(shape), np.asarray(middle).reshape(shape)
