"""Transposed convolutions: as products whose columns are put back, large ones as plain ones.

A product gives what every input adds to the outputs around it.  Where that is much, outputs whose
places leave the same remainder by the stride see every other element of the kernel only, at places
one apart: they are a convolution of stride 1 by a part of the kernel, turned around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import gcd, prod
from typing import Any, Final, NamedTuple

import numpy as np

from ..kernels import family, products
from ..memory.dtype import Array, Dtype
from ..shapes.windows import Ints, Pads, positions, shifted
from ..table.pointwise import as_array

__all__ = ["by_columns", "in_parts"]

_MOST: Final = 9
"""Convolutions that one is made of, at the most."""
_TAPS: Final = 16
"""Elements of kernels that native code cuts."""
Convolve = Callable[[Array, Array, Ints, Pads, Ints], Array | None]
"""Input, weights, sizes of the result, pads, dilation -> the convolution; None if there is none."""


class _Part(NamedTuple):
    """What the outputs of one remainder see along a dimension."""

    goal: slice
    length: int
    taken: slice
    """Elements of the kernel, the last first."""
    dilation: int
    seen: slice
    """Elements of the input."""
    pads: tuple[int, int]


def _parts(
    size: int, kernel: int, stride: int, padding: int, dilation: int, output: int
) -> Iterator[_Part]:
    """Those of a dimension that has `size` elements; outputs that see none are left out."""
    common = gcd(stride, dilation)
    for first in range(min(stride, output)):
        place = first + padding
        found = [k for k in range(min(kernel, stride)) if (k * dilation - place) % stride == 0]
        if not found:
            continue
        step, spread = stride // common, dilation // common
        last = found[0] + (kernel - 1 - found[0]) // step * step
        # output `first + i * stride` sees element `k` at `i + (place - k * dilation) / stride`
        begin = (place - last * dilation) // stride
        count = -(-(output - first) // stride)
        end = count - 1 + (place - found[0] * dilation) // stride
        before, after = max(0, -begin), max(0, end - size + 1)
        seen = slice(max(0, begin), min(size, end + 1))
        stop = found[0] - step
        taken = slice(last, stop if stop >= 0 else None, -step)
        if seen.start < seen.stop:
            goal = slice(first, None, stride)
            yield _Part(goal, count, taken, spread, seen, (before, after))


def _cut(weight: Array, groups: int, taken: list[tuple[slice, ...]]) -> list[Array]:
    """The weights of plain convolutions, each of which sees some elements of the kernel."""
    channels, made, *sizes = weight.shape
    kernels = family("convolutions.turned_weights") if prod(sizes) <= _TAPS else None
    if kernels is not None and taken:
        places = [np.arange(prod(sizes)).reshape(sizes)[part] for part in taken]
        found = kernels.cut(
            weight.reshape(channels, made, -1), groups, [tuple(p.ravel().tolist()) for p in places]
        )
        return [w.reshape(*w.shape[:2], *p.shape) for w, p in zip(found, places, strict=True)]
    by_group = weight.reshape(groups, channels // groups, made, *sizes).swapaxes(1, 2)
    turned = by_group.reshape(made * groups, channels // groups, *sizes)
    return [np.ascontiguousarray(turned[(slice(None), slice(None), *part)]) for part in taken]


def in_parts(
    input: Array,
    weight: Array,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    output: Ints,
    groups: int,
    convolve: Convolve,
) -> Array | None:
    """The transposed convolution of float32 without bias; None if there is no such way."""
    batch, made = input.shape[0], weight.shape[1] * groups
    if prod(stride) > _MOST or not prod(output):
        return None
    settings = zip(
        input.shape[2:], weight.shape[2:], stride, padding, dilation, output, strict=True
    )
    everything = (slice(None), slice(None))
    is_whole = prod(stride) == 1
    result = np.zeros((batch, made, *output), np.float32)
    several = list(product(*(list(_parts(*each)) for each in settings)))
    taken = [tuple(part.taken for part in parts) for parts in several]
    for parts, cut in zip(several, _cut(weight, groups, taken), strict=True):
        source = (*everything, *(part.seen for part in parts))
        found = convolve(
            input[source],
            cut,
            [part.length for part in parts],
            [part.pads for part in parts],
            [part.dilation for part in parts],
        )
        if found is None:
            return None
        if is_whole:
            return found
        goal = (*everything, *(part.goal for part in parts))
        result[goal] = found
    return result


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
        here: Any = (slice(None), slice(None), *position)
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
