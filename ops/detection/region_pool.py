"""Regions of images, pooled to one size by maxima.

R. Girshick, "Fast R-CNN", 2015, section 2.1: a region in whole pixels is divided into bins, and
each bin gives its largest element.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ..memory.dtype import Array, Dtype
from ..memory.errors import OperatorError
from .declaring import check_regions, image_numbers, require_floats, vision
from .region_align import check_gradient

__all__ = ["bins_along", "rounded"]

_MOST: Final = 2**31 - 1


def rounded(value: float) -> int:
    """The nearest whole number, halves away from zero."""
    if value != value:
        return 0
    magnitude = min(int(min(abs(value), float(_MOST)) + 0.5), _MOST)
    return magnitude if value > 0 else -magnitude


def bins_along(
    start: int, size: int, bins: int, length: int, dtype: Dtype
) -> Iterator[tuple[int, int]]:
    """Where bins of a region begin and end along an axis, cut to `0..length`."""
    step = dtype.type(size) / dtype.type(bins)
    for place in range(bins):
        begin = int(np.floor(dtype.type(place) * step)) + start
        end = int(np.ceil(dtype.type(place + 1) * step)) + start
        yield min(max(begin, 0), length), min(max(end, 0), length)


@vision(
    "roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width) -> (Tensor, Tensor)"
)
def roi_pool(
    input: Array, rois: Array, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Array, Array]:
    pooled = pooled_height, pooled_width
    check_regions(input, rois, pooled, "Tensor ")
    dtype = require_floats("roi_pool_forward_kernel", input, "float16")
    result = np.zeros((len(rois), input.shape[1], *pooled), input.dtype)
    places = np.full(result.shape, -1, np.int32)
    for number, image in enumerate(image_numbers(rois, len(input))):
        x1, y1, x2, y2 = (rounded(float(v)) for v in rois[number, 1:] * dtype.type(spatial_scale))
        _pool_region(
            input[image],
            (y1, max(y2 - y1 + 1, 1)),
            (x1, max(x2 - x1 + 1, 1)),
            result[number],
            places[number],
            dtype,
        )
    return result, places


def _pool_region(
    image: Array,
    high: tuple[int, int],
    wide: tuple[int, int],
    result: Array,
    places: Array,
    dtype: Dtype,
) -> None:
    """The maxima of one region and where they lie, for all channels."""
    channels, height, width = image.shape
    columns = list(bins_along(*wide, result.shape[2], width, dtype))
    for i, (top, bottom) in enumerate(bins_along(*high, result.shape[1], height, dtype)):
        for j, (left, right) in enumerate(columns):
            if bottom <= top or right <= left:
                continue
            part = image[:, top:bottom, left:right].reshape(channels, -1)
            lowest = np.where(np.isnan(part), -np.inf, part)  # none is larger than NaN
            best = lowest.argmax(1)
            found = np.take_along_axis(lowest, best[:, None], 1)[:, 0]
            rows, offsets = np.divmod(best, right - left)
            nothing = ~(found > -np.inf)
            result[:, i, j] = np.where(nothing, np.finfo(result.dtype).min, found)
            where = (rows + top) * width + offsets + left
            places[:, i, j] = np.where(nothing, -1, where)


@vision(
    "_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, "
    "SymInt height, SymInt width) -> Tensor"
)
def roi_pool_backward(
    grad: Array,
    rois: Array,
    argmax: Array,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Array:
    check_gradient(grad, rois, channels, (pooled_height, pooled_width))
    if argmax.shape != grad.shape:
        raise OperatorError("argmax should have the same shape as grad")
    if argmax.size and not (argmax.min() >= -1 and argmax.max() < height * width):
        raise OperatorError("argmax values must be in [-1, height * width)")
    require_floats("roi_pool_backward_kernel", grad, "float16")
    result = np.zeros((batch_size, channels, height * width), grad.dtype)
    images = np.asarray(image_numbers(rois, batch_size), np.int64)
    where = np.nonzero(argmax >= 0)
    np.add.at(result, (images[where[0]], where[1], argmax[where]), grad[where])
    return result.reshape(batch_size, channels, height, width)
