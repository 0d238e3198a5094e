"""What is wrong with indices into tensors, as torch says it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.warned import warn_caller

__all__ = [
    "PLACES",
    "check_fits",
    "check_mask_shape",
    "check_rows",
    "first_outside",
    "index_error",
    "no_such_element",
    "of_nothing",
    "outside_dimension",
    "warn_of_bytes",
]

PLACES: Final = (np.dtype(np.int64), np.dtype(np.int32))
"""The dtypes of tensors that number places."""


def first_outside(places: Array, low: int, high: int) -> int | None:
    """The first number below `low`, or not below `high`; None if there is none."""
    wrong = (places < low) | (places >= high)
    return int(places[wrong][0]) if wrong.any() else None


def outside_dimension(axis: int, wrong: int, size: int) -> OperatorError:
    """What torch says of an index where it scatters."""
    return OperatorError(
        f"index {wrong} is out of bounds for dimension {axis} with size {size}",
        code="index-out-of-range",
        headline=f"index {wrong} is out of range for dimension {axis} of size {size}",
    )


def no_such_element(wrong: int, count: int) -> IndexOutOfRange:
    """What torch says of an element that is counted through."""
    return IndexOutOfRange(
        f"out of range: tried to access index {wrong} on a tensor of {count} elements."
    )


def warn_of_bytes() -> None:
    """What torch says of a mask that is not of bools."""
    warn_caller(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
    )


def check_mask_shape(self: Array, mask: Array, start: int) -> None:
    for dim in range(mask.ndim):
        if start + dim >= self.ndim:
            raise IndexOutOfRange(
                f"Dimension out of range (expected to be in range of [-{self.ndim}, "
                f"{self.ndim - 1}], but got {start + dim})",
                headline=f"a mask of {mask.ndim} dimensions for a tensor of {self.ndim}",
            )
        if mask.shape[dim] != self.shape[start + dim]:
            raise IndexOutOfRange(
                f"The shape of the mask {list(mask.shape)} at index {dim} does not match the "
                f"shape of the indexed tensor {list(self.shape)} at index {start + dim}",
                headline=f"a mask of shape {list(mask.shape)} does not fit a tensor of shape "
                f"{list(self.shape)}",
            )


def index_error(self: Array, error: IndexError, key: tuple[object, ...]) -> IndexOutOfRange:
    """What torch says of the first place that is none; it counts the dimensions indexed."""
    text = str(error)
    arrays = [part for part in key if isinstance(part, np.ndarray)]
    if "broadcast together" in text:
        shapes = ", ".join(str(list(array.shape)) for array in arrays)
        return IndexOutOfRange(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        )
    sizes = [
        size for size, part in zip(self.shape, key, strict=False) if isinstance(part, np.ndarray)
    ]
    if len(sizes) != len(arrays) or any(array.dtype not in PLACES for array in arrays):
        return IndexOutOfRange(text.replace("for axis", "for dimension"))
    places = np.stack([each.ravel() for each in np.broadcast_arrays(*arrays)], 1)
    wrong = (places < -np.array(sizes)) | (places >= np.array(sizes))
    if 0 in sizes or not wrong.any():
        return IndexOutOfRange("index is out of bounds for dimension with size 0")
    row = int(wrong.any(1).argmax())
    number = int(wrong[row].argmax())
    return IndexOutOfRange(
        f"index {places[row, number]} is out of bounds for dimension {number} with size "
        f"{sizes[number]}"
    )


def of_nothing(self: Array, key: tuple[object, ...], error: IndexError) -> tuple[Any, ...]:
    """A key of the same shape for a tensor without elements, whose indices torch does not look at.

    Raises:
        IndexOutOfRange: the tensor has elements, or indices into nothing.
    """
    if self.size:
        raise index_error(self, error, key) from None
    for part, size in zip(key, self.shape, strict=False):
        if isinstance(part, np.ndarray) and part.dtype in PLACES and part.size and not size:
            raise IndexOutOfRange("index is out of bounds for dimension with size 0")
    return tuple(
        np.zeros_like(part) if isinstance(part, np.ndarray) and part.dtype in PLACES else part
        for part in key
    )


def check_rows(self: Array, dim: int, index: Array) -> None:
    """What torch says of rows that are none: of something, those of the second dimension alone."""
    if self.ndim < 2 or not -self.ndim <= dim < self.ndim or (self.size and dim % self.ndim != 1):
        return
    size = self.shape[dim]
    if not size:
        raise OperatorError("index_select(): self indexing axis dim should be positive")
    for row in index.ravel().tolist():
        if not 0 <= row < size:
            raise OperatorError(
                f"INDICES element is out of DATA bounds, id={row} axis_dim={size}",
                code="index-out-of-range",
            )


def check_fits(self: Array, key: tuple[Array | slice, ...], values: Array) -> None:
    """See that the values have as many elements as there are positions, or one for many.

    Which rows the numbers name does not matter for that; whether there are such is asked later.
    """
    anywhere = tuple(
        np.zeros_like(part) if isinstance(part, np.ndarray) and part.dtype.kind in "iu" else part
        for part in key
    )
    try:
        wanted = np.asarray(self[anywhere]).shape
        np.broadcast_to(values, wanted)
    except IndexError as error:
        raise index_error(self, error, key) from None
    except ValueError:
        raise _misfit(values, wanted) from None


def _misfit(values: Array, wanted: tuple[int, ...]) -> OperatorError:
    """What torch says of values that are not as many as the positions."""
    given = list(values.shape)
    return OperatorError(
        f"shape mismatch: value tensor of shape {given} cannot be broadcast to indexing result of "
        f"shape {list(wanted)}",
        code="shape-mismatch",
        headline=f"values of shape {given} do not fit positions of shape {list(wanted)}",
        roles={"values": f"has shape {given}"},
    )
