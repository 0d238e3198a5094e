"""What is asked of kernels that put rows in order: some of the first elements of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....memory.dtype import Array
from ..rows.along import ELEMENTS, parts_of

__all__ = ["AskedRows", "asked_rows"]


class AskedRows(NamedTuple):
    """Rows of a contiguous array, and memory for the elements that are asked for and their places.

    Attributes:
        x: the array, which no other thread can change.
        element: the name of its dtype in kernels.
        rows: how many there are.
        size: of a row.
        inner: elements from one of a row to the next.
    """

    x: Array
    element: str
    rows: int
    size: int
    inner: int
    values: Array
    places: Array


def asked_rows(x: Array, axis: int, low: int, high: int, longest: int) -> AskedRows | None:
    """The rows along a dimension, of which elements from `low` on below `high` are asked for.

    None if rows are empty or longer than `longest`, or for other dtypes than float32, float64 and
    int64.
    """
    x = x[...]  # which no other thread can change
    element = ELEMENTS.get(x.dtype.str[1:])
    outer, size, inner = parts_of(x.shape, axis)
    if element is None or not 0 < size <= longest or not x.flags.c_contiguous or not x.size:
        return None
    if not 0 <= low < high <= size:
        raise ValueError(f"there are no elements {low} to {high} of {size}")
    shape = (*x.shape[:axis], high - low, *x.shape[axis + 1 :])
    memory = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    return AskedRows(x, element, outer * inner, size, inner, *memory)
