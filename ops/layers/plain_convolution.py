"""Convolutions by NumPy: for dtypes that have no kernels, and where there are none.

Windows are laid out as the columns of a matrix, and one matrix product does the rest.  Where all
strides are 1 the columns hold whole rows of the padded planes: copying them is fast, and the few
sums that belong to no output are left behind.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from ..kernels import blas
from ..memory.dtype import Array, Key
from ..memory.storage import view_of
from ..shapes.windows import Ints, Pads, padded, positions, shifted, windows
from ..table.pointwise import as_array

__all__ = ["forward", "sizes_of"]

_DENSE_LIMIT: Final = 1 << 22
"""Columns of more elements than this are made for a few output rows at a time."""


def sizes_of(input: Array, kernel: Ints, stride: Ints, pads: Pads, dilation: Ints) -> list[int]:
    settings = zip(input.shape[2:], kernel, stride, pads, dilation, strict=True)
    return [(s + sum(p) - d * (k - 1) - 1) // step + 1 for s, k, step, p, d in settings]


def forward(
    input: Array, weight: Array, stride: Ints, pads: Pads, dilation: Ints, groups: int
) -> Array:
    """The convolution without bias, of shape (batch, weight.shape[0], *space)."""
    kernel = weight.shape[2:]
    output = sizes_of(input, kernel, stride, pads, dilation)
    if not input.size or not weight.size or not all(output):
        return np.zeros((input.shape[0], weight.shape[0], *output), input.dtype)
    if groups > 1 and weight.shape[1] == 1:
        return _depthwise(input, weight, output, stride, pads, dilation)
    if prod(kernel) == 1:
        seen = _padded_if_needed(input, pads)
        return _pointwise(
            shifted(seen, (0,) * len(kernel), output, stride, dilation), weight, groups
        )
    if all(step == 1 for step in stride):
        return _dense(input, weight, output, pads, dilation, groups)
    return _strided(input, weight, output, stride, pads, dilation, groups)


def _padded_if_needed(input: Array, pads: Pads) -> Array:
    return padded(input, pads) if any(map(any, pads)) else input


def _pointwise(seen: Array, weight: Array, groups: int) -> Array:
    """A kernel of size 1: a matrix product over the channels."""
    batch, channels, *space = seen.shape
    columns = seen.reshape(batch, groups, channels // groups, -1)
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    return as_array(blas.matmul(rows, columns)).reshape(batch, weight.shape[0], *space)


def _depthwise(
    input: Array, weight: Array, output: Ints, stride: Ints, pads: Pads, dilation: Ints
) -> Array:
    """Every channel by itself: no product of matrices, but a sum over the kernel's positions."""
    batch, channels = input.shape[:2]
    seen = _padded_if_needed(input, pads)
    kernel = weight.shape[2:]
    factor = weight.shape[0] // channels
    ones = (1,) * len(kernel)
    total = np.zeros((batch, channels, factor, *output), input.dtype)
    term = np.empty_like(total)
    for position in positions(kernel):
        here: Key = (slice(None), 0, *position)
        scale = weight[here].reshape(channels, factor, *ones)
        part = shifted(seen, position, output, stride, dilation)[:, :, None]
        np.multiply(part, scale, out=term)
        total += term
    return total.reshape(batch, weight.shape[0], *output)


def _dense(
    input: Array, weight: Array, output: Ints, pads: Pads, dilation: Ints, groups: int
) -> Array:
    """Stride 1: a column for every element of the padded rows, cropped in the end."""
    batch, channels = input.shape[:2]
    kernel = weight.shape[2:]
    itemsize = input.dtype.itemsize
    inner = [s + sum(p) for s, p in zip(input.shape[3:], pads[1:], strict=True)]
    slack = sum(d * (k - 1) for k, d in zip(kernel[1:], dilation[1:], strict=True)) * prod(inner)
    planes = padded(input, pads, slack=slack + 1)
    memory: Any = planes.base  # with the slack
    row = prod(inner)
    chunk = max(1, min(output[0], _DENSE_LIMIT // max(1, channels * prod(kernel) * row)))
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    columns = np.empty((channels, *kernel, chunk * row), input.dtype)
    steps = [s * d for s, d in zip(planes.strides[2:], dilation, strict=True)]
    sums = np.empty((groups, rows.shape[1], chunk * row), input.dtype)
    result = np.empty((batch, weight.shape[0], *output), input.dtype)
    crop = tuple(slice(0, size) for size in output[1:])
    for n in range(batch):
        for top in range(0, output[0], chunk):
            count = min(chunk, output[0] - top)
            length = count * row
            source = view_of(
                memory,
                (channels, *kernel, length),
                (planes.strides[1], *steps, itemsize),
                n * planes.strides[0] + top * planes.strides[2],
            )
            taken, made = columns[..., :length], sums[..., :length]
            np.copyto(taken, source)
            if groups == 1 and made.flags.c_contiguous:
                blas.dot(rows[0], taken.reshape(rows.shape[2], length), made[0])
            else:
                blas.matmul(rows, taken.reshape(groups, rows.shape[2], length), out=made)
            whole = made.reshape(weight.shape[0], count, *inner)
            result[n, :, top : top + count] = whole[(slice(None), slice(None), *crop)]
    return result


def _strided(
    input: Array,
    weight: Array,
    output: Ints,
    stride: Ints,
    pads: Pads,
    dilation: Ints,
    groups: int,
) -> Array:
    """Any stride: a column for every output."""
    seen = windows(_padded_if_needed(input, pads), weight.shape[2:], output, stride, dilation)
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    result = np.empty((input.shape[0], weight.shape[0], *output), input.dtype)
    for n, sample in enumerate(seen):
        columns = sample.reshape(groups, rows.shape[2], -1)
        blas.matmul(rows, columns, out=result[n].reshape(groups, rows.shape[1], -1))
    return result
