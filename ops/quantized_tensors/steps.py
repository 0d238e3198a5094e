"""Quantizing and giving values back by native code: as steps of expressions over arrays."""

from __future__ import annotations

from math import isfinite
from typing import Final

import numpy as np

from ..kernels import family, is_last_whole
from ..memory.dtype import Array, Dtype

__all__ = ["in_format", "numbers_by_kernel", "rounding", "values_by_kernel"]

F32: Final = np.float32
_EXACT: Final = 1 << 20
"""Zero points below that, less numbers of 8 bits, are exact in float32."""

Ordered = tuple[str, str, tuple[int, ...]]


def rounding(value: int, settings: int, first: int) -> list[Ordered]:
    """The steps that make numbers of values, which an operand or step has; the first of them is
    that number.

    The operands from `settings` on are one over the scale, the zero point, and the least and the
    largest number.  Product and sum are rounded once; what is not a number becomes the least.
    """
    inverse, zero, low, high = range(settings, settings + 4)
    made: list[Ordered]
    if family("quantized.integers").requantizes():
        made = [("multiply_add", "f", (value, inverse, zero))]
    else:
        made = [("multiply", "d", (value, inverse)), ("add", "d", (first, zero))]
        made.append(("same", "f", (first + 1,)))
    last = first + len(made) - 1
    return [
        *made,
        *(("rint", "f", (last,)), ("greater", "f", (last + 1, low))),
        *(("choose", "f", (last + 2, last + 1, low)), ("minimum", "f", (last + 3, high))),
    ]


def in_format(array: Array) -> Array:
    """The array where it lies in one piece, by rows or with channels last; else a copy by rows."""
    if array.flags.c_contiguous or is_last_whole(array):
        return array
    made: Array | None = family("elementwise.arrays").in_order(array)
    return np.ascontiguousarray(array) if made is None else made


def numbers_by_kernel(
    values: Array, inverse: float, zero_point: int, limits: tuple[int, int], field: Dtype
) -> Array | None:
    """The whole numbers of 8 bits nearest to float32 values; None where no kernel does that."""
    arrays = family("elementwise.arrays") if values.size else None
    if arrays is None or values.dtype != F32 or not isfinite(inverse):
        return None
    settings = inverse, float(zero_point), *map(float, limits)
    made: Array = arrays.evaluate(
        *(rounding(0, 1, 5), "b" if field.kind == "i" else "B", in_format(values), *settings),
        in_format=True,
    )
    return made


def values_by_kernel(numbers: Array, scale: float, zero_point: float) -> Array | None:
    """The float32 values of whole numbers of 8 bits; None where no kernel does that."""
    arrays = family("elementwise.arrays") if numbers.size else None
    if arrays is None or numbers.itemsize != 1 or abs(zero_point) > _EXACT:
        return None
    steps: list[Ordered] = [("subtract", "f", (0, 1)), ("multiply", "f", (3, 2))]
    given = in_format(numbers), float(zero_point), scale
    made: Array = arrays.evaluate(steps, "f", *given, in_format=True)
    return made
