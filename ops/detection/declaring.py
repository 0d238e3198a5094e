"""Declaring the operators of `torchvision`, and what those that read regions of images check.

They are open, since torchvision itself registers their gradients and what autocast does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import numpy as np

from ..eager.open_operators import OpenOperator
from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import OperatorError, UnsupportedDtype
from ..table.table import TABLE

__all__ = ["check_regions", "check_same_dtype", "image_numbers", "require_floats", "vision"]

Forward = TypeVar("Forward", bound=Callable[..., object])

_FLOATS: Final = ("float32", "float64")


def vision(*schemas: str) -> Callable[[Forward], Forward]:
    """Declare a function as the forward of operators of `torchvision`."""

    def declare(forward: Forward) -> Forward:
        for schema in schemas:
            TABLE.add(OpenOperator(f"torchvision::{schema}", forward))
        return forward

    return declare


def require_floats(name: str, array: Array, *others: str) -> Dtype:
    """The dtype to compute with floats of 32 or 64 bits in, or `others`.

    Raises:
        UnsupportedDtype: it is none of these.
    """
    if array.dtype.name not in (*_FLOATS, *others):
        raise UnsupportedDtype(f"\"{name}\" not implemented for '{dtype_of(array).scalar_name}'")
    return array.dtype if array.dtype.itemsize > 2 else np.dtype(np.float32)


def check_same_dtype(first: Array, second: Array, sentence: str) -> None:
    """Refuse two dtypes with a sentence.

    Raises:
        OperatorError: they differ.
    """
    if first.dtype != second.dtype:
        raise OperatorError(sentence)


def check_regions(input: Array, rois: Array, pooled: tuple[int, int], prefix: str = "") -> None:
    """Check images `(N, C, H, W)` and regions `(K, 5)`: the image's number and two corners.

    Raises:
        OperatorError: their shapes or dtypes are others, or the result would have no size.
    """
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise OperatorError(f"{prefix}rois {_MUST[prefix]} have shape as Tensor[K, 5]")
    check_same_dtype(input, rois, "input should have the same type as rois")
    if input.ndim != 4:
        raise OperatorError(
            f"Dimension out of range (expected to be in range of [{-input.ndim}, "
            f"{input.ndim - 1}], but got 3)"
        )
    if min(pooled) <= 0:
        raise OperatorError(f"pooled sizes must be positive, got {pooled[0]} and {pooled[1]}")


_MUST: Final = {"": "must", "Tensor ": "should"}


def image_numbers(rois: Array, batch_size: int) -> list[int]:
    """The numbers of the images that regions are of.

    Raises:
        OperatorError: there is no such image.
    """
    numbers = rois[:, 0].astype(np.float64)
    if numbers.size and not bool(np.all((numbers > -1) & (numbers < batch_size) & (numbers >= 0))):
        raise OperatorError("rois batch index must be in [0, batch_size)")
    found: list[int] = numbers.astype(np.int64).tolist()
    return found
