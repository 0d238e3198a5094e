"""How many elements arguments and tensors ask for, counted before memory is asked for.

Sums and products are Python's ints: NumPy's wrap, and what it then writes lies outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Final

import numpy as np

from .dtype import Array, Dtype
from .errors import OperatorError

__all__ = [
    *("MOST_DIMENSIONS", "check_count", "check_room", "check_storage", "check_strides", "repeated"),
    "too_many_dimensions",
]

MOST_DIMENSIONS: Final = 64
"""Of NumPy's arrays."""

_MOST: Final = 2**63 - 1
_LARGEST: Final = 2**59
"""Elements that no memory holds, of whatever dtype."""


def check_count(sizes: Iterable[int]) -> int:
    """The number of elements of a tensor of these sizes.

    Raises:
        OperatorError: it is more than can be counted, or negative.
    """
    count = prod(sizes)
    if not 0 <= count <= _MOST:
        raise OperatorError("numel: integer multiplication overflow", code="shape-mismatch")
    return count


def too_many_dimensions(count: int) -> OperatorError:
    """The error of a tensor that NumPy has no array for."""
    return OperatorError(
        f"tensors of more than {MOST_DIMENSIONS} dimensions are not supported, but {count} are "
        "asked for",
        code="shape-mismatch",
    )


def check_strides(sizes: list[int]) -> None:
    """See that the steps between a tensor's elements can be counted, if it has none.

    Raises:
        OperatorError: they cannot.
    """
    if 0 in sizes and prod(size or 1 for size in sizes[1:]) > _MOST:
        raise OperatorError("Stride calculation overflowed", code="shape-mismatch")


def check_storage(sizes: list[int]) -> None:
    """See that a new tensor may have these sizes.

    Raises:
        OperatorError: no memory is that large, or NumPy does not count so many dimensions.
    """
    if len(sizes) > MOST_DIMENSIONS:
        raise too_many_dimensions(len(sizes))
    if 0 < prod(sizes) <= _LARGEST:  # nearly always
        return
    if max(sizes, default=0) > _MOST:
        raise OperatorError("numel: integer multiplication overflow", code="shape-mismatch")
    check_strides(sizes)
    if prod(size or 1 for size in sizes) > _LARGEST:
        raise OperatorError(
            f"Storage size calculation overflowed with sizes={sizes}", code="shape-mismatch"
        )


def check_room(sizes: Sequence[int], dtype: Dtype) -> None:
    """See that there is memory for a result, before work on its parts begins.

    Raises:
        OperatorError: no memory is that large.
        MemoryError: this machine's is not.
    """
    check_storage([*sizes])
    np.empty(sizes, dtype)


def _total(counts: Array, most: int) -> int:
    """The sum of whole numbers, of which the largest is known."""
    if most * counts.size <= _MOST:
        return int(counts.sum())
    return sum(counts.tolist())


def repeated(array: Array, counts: Array, axis: int, output_size: int | None) -> Array:
    """The slices along a dimension, each as often as its count says; one count is for all.

    Raises:
        OperatorError: a count is negative, the sum is not the promised size, or too large.
    """
    own = np.array(counts, np.int64).reshape(-1)
    if own.min(initial=0) < 0:
        raise OperatorError("repeats can not be negative")
    length = array.shape[axis]
    total = own.item() * length if own.size == 1 else _total(own, int(own.max(initial=0)))
    if output_size is not None and output_size != total:
        if output_size < 0:
            raise OperatorError(
                f"Trying to create tensor with negative dimension {output_size}: [{output_size}]"
            )
        raise OperatorError("allocated size does not match required size", code="shape-mismatch")
    wanted = [*array.shape[:axis], total, *array.shape[axis + 1 :]]
    check_storage(wanted)
    if 0 in wanted:  # NumPy goes through all that the other numbers ask for
        return np.empty_like(array, shape=wanted, order="C")
    return np.repeat(array, own, axis)
