"""Transposed convolutions of any dtype: as products whose columns are put back.

A product gives what every input adds to the outputs around it.  What has kernels is in
`kernels/code/convolutions/transposed.py`.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..kernels import family, products
from ..memory.dtype import Array, Dtype, Key
from ..shapes.windows import positions, shifted
from ..table.pointwise import as_array

__all__ = ["by_columns"]


def by_columns(
    input: Array,
    weight: Array,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    output: tuple[int, ...],
    groups: int,
    kept: Dtype,
) -> Array:
    """The transposed convolution of something without bias, whose sums are `kept` in this dtype."""
    space, kernel = input.shape[2:], weight.shape[2:]
    columns, are_together = _columns(input, weight, groups)
    native = family("convolutions.window_sums") if columns.dtype == kept else None
    if native is not None:
        settings = output, space, stride, dilation, padding
        found = native.put_back(columns, *settings, together=are_together)
        if found is not None:
            return as_array(found)
    if are_together:
        columns = np.moveaxis(columns, len(kernel) + 1, 0)
    parts = columns.astype(kept, copy=False)
    sizes = (o + 2 * p for o, p in zip(output, padding, strict=True))
    total = np.zeros((*parts.shape[:2], *sizes), kept)
    for position in positions(kernel):
        target = shifted(total, position, space, stride, dilation)
        here: Key = (slice(None), slice(None), *position)
        target += parts[here]
    if not any(padding):
        return total
    inner = tuple(slice(p, p + o) for p, o in zip(padding, output, strict=True))
    return np.ascontiguousarray(total[(slice(None), slice(None), *inner)])


def _columns(input: Array, weight: Array, groups: int) -> tuple[Array, bool]:
    """What every input gives, [batch, channels, *kernel, *space]; or, where one product makes those
    of a whole batch together, [channels, *kernel, batch, *space]."""
    batch, channels, *space = input.shape
    made, kernel = weight.shape[1] * groups, weight.shape[2:]
    if groups == prod(space) == 1:
        found = products.dot(input.reshape(batch, channels), weight.reshape(channels, -1))
        return found.reshape(batch, made, *kernel, *space), False
    rows = weight.reshape(groups, channels // groups, -1).swapaxes(1, 2)
    if batch == 1:
        columns = products.matmul(rows, input.reshape(groups, channels // groups, -1))
        return columns.reshape(1, made, *kernel, *space), False
    seen = np.ascontiguousarray(input.swapaxes(0, 1)).reshape(groups, channels // groups, -1)
    return products.matmul(rows, seen).reshape(made, *kernel, batch, *space), True
