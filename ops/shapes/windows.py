"""Windows that slide over the last dimensions: their sizes, padding, and views of what they see.

Convolution, pooling and folding share these.  "Space" is the dimensions after batch and channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Final

import numpy as np

from ..arithmetic.convert import is_channels_last
from ..kernels import in_order
from ..memory.dtype import Array, Dtype
from ..memory.errors import OperatorError
from ..memory.storage import view_of
from ..table.layouts import contiguous
from ..table.promotion import kind

__all__ = [
    "Ints",
    "Pads",
    "channels_last",
    "check_room",
    "ends_in_channels",
    "follow_format",
    "padded",
    "per_dimension",
    "pixels_of",
    "positions",
    "shifted",
    "wide_dtype",
    "windows",
]

Ints = Sequence[int]
Pads = Sequence[tuple[int, int]]
_FLOAT32: Final = np.dtype(np.float32)


def per_dimension(values: int | Ints, count: int) -> tuple[int, ...]:
    """The values for each dimension; a single one stands for all."""
    if isinstance(values, int):
        return (values,) * count
    return tuple(values) * count if len(values) == 1 else tuple(values)


def wide_dtype(dtype: Dtype) -> Dtype:
    """The dtype to compute in: 16-bit floats are summed in float32."""
    return _FLOAT32 if dtype.itemsize < 4 and kind(dtype) == 2 else dtype


def check_room(shape: Sequence[int], dtype: Dtype) -> None:
    """Refuse sizes that no memory can have.

    Raises:
        OperatorError: the bytes cannot be counted in 63 bits.
    """
    if prod(shape) * dtype.itemsize >= 1 << 62:
        raise OperatorError(
            f"Storage size calculation overflowed with sizes={list(shape)}", code="shape-mismatch"
        )


def padded(array: Array, pads: Pads, value: object = 0, *, slack: int = 0) -> Array:
    """A copy with its space enlarged by `pads`, the new elements being `value`.

    `slack` elements more are allocated behind the last one, so that `windows` of whole rows may
    read past the end.

    Raises:
        OperatorError: that would be larger than any memory.
    """
    space = [s + before + after for s, (before, after) in zip(array.shape[2:], pads, strict=True)]
    shape = (*array.shape[:2], *space)
    count = prod(shape)
    check_room(shape, array.dtype)
    flat = (np.zeros if value == 0 else np.empty)(count + slack, array.dtype)
    if value != 0:
        flat.fill(value)
    result = flat[:count].reshape(shape)
    inner = tuple(slice(b, b + s) for s, (b, _) in zip(array.shape[2:], pads, strict=True))
    result[(slice(None), slice(None), *inner)] = array
    return result


def windows(array: Array, kernel: Ints, output: Ints, stride: Ints, dilation: Ints) -> Array:
    """A read-only view of shape (batch, channels, *kernel, *output) of what each window sees."""
    steps = array.strides[2:]
    return view_of(
        array,
        (*array.shape[:2], *kernel, *output),
        (
            *array.strides[:2],
            *(step * d for step, d in zip(steps, dilation, strict=True)),
            *(step * s for step, s in zip(steps, stride, strict=True)),
        ),
        writeable=False,
    )


def positions(kernel: Ints) -> Iterator[tuple[int, ...]]:
    """The positions in a window, in row-major order."""
    return product(*map(range, kernel))


def shifted(array: Array, position: Ints, output: Ints, stride: Ints, dilation: Ints) -> Array:
    """The view of the space that all windows see at one of their positions."""
    index = tuple(
        slice(p * d, p * d + (count - 1) * s + 1, s) if count else slice(0, 0)
        for p, count, s, d in zip(position, output, stride, dilation, strict=True)
    )
    return array[(..., *index)]


def follow_format(result: Array, like: Array) -> Array:
    """The result in channels-last memory if that is how `like` lies, else as it is."""
    return channels_last(result) if like.ndim == result.ndim and ends_in_channels(like) else result


def ends_in_channels(array: Array) -> bool:
    """Whether an array lies with channels last, as its strides tell, and not as usual."""
    if array.flags.c_contiguous and (array.ndim < 4 or array.strides[1] > array.itemsize):
        return False
    return is_channels_last(array)


def pixels_of(array: Array, least: int, *, of_bytes: bool = False) -> Array | None:
    """A tensor of float32, or `of_bytes`, that lies with channels last in one piece, as [samples,
    height, width, channels]; None for all others, and where there are fewer channels than that."""
    is_taken = array.dtype is _FLOAT32 or (of_bytes and array.dtype.char in "Bb")
    if array.ndim != 4 or not is_taken or array.shape[1] < least:
        return None
    found = array.transpose(0, 2, 3, 1) if ends_in_channels(array) else None
    return found if found is not None and found.flags.c_contiguous else None


def channels_last(array: Array) -> Array:
    """The elements in channels-last memory."""
    rank = array.ndim
    made = contiguous(in_order(array.transpose(0, *range(2, rank), 1)))
    return made.transpose(0, -1, *range(1, rank - 1))
