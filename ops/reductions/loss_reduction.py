"""How losses are summed up: not at all, by their mean, by their sum."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import is_real
from ..memory.dtype import Array, Dtype, default_dtype, dtype_of
from ..memory.errors import OperatorError
from ..memory.order import order_of
from ..table.pointwise import as_array, cast, operand
from ..table.promotion import kind
from .reduce import mean, total

__all__ = ["MEAN", "NONE", "SUM", "floats", "reduced", "widened"]

NONE: Final = 0
MEAN: Final = 1
SUM: Final = 2
_FLOAT32: Final = np.dtype(np.float32)


def floats(array: Array) -> Array:
    """Whole numbers in the default float dtype, all others as they are."""
    return array.astype(default_dtype.float) if kind(array.dtype) < 2 else array


def widened(array: Array) -> Array:
    """16-bit floats in float32, all others as they are."""
    if array.itemsize < 4 and kind(array.dtype) == 2:
        return cast(array, _FLOAT32)
    return array


def reduced(losses: object, reduction: int, dtype: Dtype | None = None) -> Array:
    """The losses themselves, their mean or their sum, in `dtype` if given."""
    losses = as_array(losses)
    dtype = dtype or losses.dtype
    if reduction != NONE and not losses.flags.c_contiguous:
        order = order_of(losses)
        losses = losses if order is None else losses.transpose(order)
    if reduction == MEAN and kind(dtype) < 2:
        raise OperatorError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {dtype_of(np.empty(0, dtype)).scalar_name}",
            code="dtype-mismatch",
        )
    if reduction == SUM and kind(dtype) < 2:
        dtype = np.dtype(np.int64)
    wide = losses if reduction == NONE else widened(losses)
    if reduction != NONE and is_real(wide):
        losses = mean(wide, None) if reduction == MEAN else total(wide, None)
    elif reduction != NONE:
        losses = as_array(np.add.reduce(wide, None))
        if reduction == MEAN:
            losses = as_array(np.true_divide(losses, operand(wide.size, losses.dtype)))
    return cast(losses, dtype)
