"""Regions of images, resampled to one size by bilinear interpolation.

K. He, G. Gkioxari, P. Dollar and R. Girshick, "Mask R-CNN", 2017, section 3: each bin of a region
is the mean of points on a grid inside it.  A point's weights are products of one along the height
and one along the width, and so are means over a grid of points; so a region is two small products
of matrices: `rows @ image @ columns.T`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..kernels import products
from ..memory.dtype import Array, Dtype
from ..memory.errors import OperatorError
from .declaring import check_regions, check_same_dtype, image_numbers, require_floats, vision

__all__ = ["Span", "check_gradient", "region_weights"]

Span = tuple[slice, Array]
"""The rows (or columns) of an image that a region reads, and the weights `(bins, rows)` of each."""


def _span(start: float, size: float, bins: int, points: int, length: int, dtype: Dtype) -> Span:
    """Along one axis of `length`: each bin is the mean of `points` on it."""
    step = dtype.type(size / bins)
    inside = np.arange(bins, dtype=dtype)[:, None] * step + dtype.type(start)
    places = inside + (np.arange(points, dtype=dtype) + dtype.type(0.5)) * step / dtype.type(points)
    taken = (places >= -1) & (places <= length)
    places = np.clip(places, 0, length - 1)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, length - 1)
    upper = places - low
    first, last = (int(low.min()), int(high.max()) + 1) if places.size else (0, 0)
    weights = np.zeros((bins, last - first), dtype)
    rows = np.broadcast_to(np.arange(bins)[:, None], places.shape)
    np.add.at(weights, (rows, low - first), np.where(taken, 1 - upper, 0))
    np.add.at(weights, (rows, high - first), np.where(taken, upper, 0))
    return slice(first, last), weights / dtype.type(max(points, 1))


_EMPTY: Final = slice(0, 0)


def region_weights(
    roi: list[float],
    scale: float,
    pooled: tuple[int, int],
    sampling_ratio: int,
    image: Sequence[int],
    dtype: Dtype,
    *,
    offset: float,
    least: float | None,
) -> tuple[Span, Span]:
    """The weights of a region along height and width.

    Args:
        roi: two corners, x before y.
        scale: of the image to what the corners are of.
        pooled: how many bins it has along each axis.
        sampling_ratio: points along a bin; as many as it has pixels if not positive.
        image: the sizes of the image.
        dtype: of weights.
        offset: subtracted from corners.
        least: the smallest size of a region, if there is one.
    """
    number = dtype.type
    x1, y1, x2, y2 = (float(number(v) * number(scale) - number(offset)) for v in roi)
    spans: list[Span] = []
    sizes = (float(number(y2) - number(y1)), float(number(x2) - number(x1)))
    for start, size, bins, length in zip((y1, x1), sizes, pooled, image, strict=True):
        size = size if least is None else max(size, least)
        points = sampling_ratio
        if sampling_ratio <= 0:
            share = float(number(size / bins))
            points = math.ceil(share) if math.isfinite(share) else 0
        if points > _MOST:
            raise OperatorError(f"a region of interest is {size} long, which is too much")
        usable = points > 0 and math.isfinite(start) and math.isfinite(size)
        spans.append(
            _span(start, size, bins, points, length, dtype)
            if usable and length
            else (_EMPTY, np.zeros((bins, 0), dtype))
        )
    return spans[0], spans[1]


_MOST: Final = 1_000_000
"""Points along a bin; what asks for more would not end."""


@vision(
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor"
)
def roi_align(
    input: Array,
    rois: Array,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Array:
    pooled = pooled_height, pooled_width
    check_regions(input, rois, pooled)
    dtype = require_floats("roi_align_forward_kernel", input, "float16")
    result = np.zeros((len(rois), input.shape[1], *pooled), dtype)
    options = _options(aligned)
    for place, image in enumerate(image_numbers(rois, len(input))):
        roi = rois[place, 1:].tolist()
        (high, rows), (wide, columns) = region_weights(
            roi, spatial_scale, pooled, sampling_ratio, input.shape[2:], dtype, **options
        )
        part = input[image, :, high, wide].astype(dtype, copy=False)
        result[place] = products.matmul(products.matmul(rows, part), columns.T)
    return result.astype(input.dtype, copy=False)


def _options(aligned: bool) -> dict[str, Any]:
    return {"offset": 0.5, "least": None} if aligned else {"offset": 0.0, "least": 1.0}


def check_gradient(grad: Array, rois: Array, channels: int, pooled: tuple[int, int]) -> None:
    """Check the gradient of what was made of regions.

    Raises:
        OperatorError: its shape is another, or its dtype than that of the regions.
    """
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise OperatorError("rois must have shape as Tensor[K, 5]")
    check_same_dtype(grad, rois, "grad should have the same type as rois")
    if grad.shape != (len(rois), channels, *pooled):
        raise OperatorError("grad should have shape [K, channels, pooled_height, pooled_width]")


@vision(
    "_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, "
    "int sampling_ratio, bool aligned) -> Tensor"
)
def roi_align_backward(
    grad: Array,
    rois: Array,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Array:
    pooled = pooled_height, pooled_width
    check_gradient(grad, rois, channels, pooled)
    dtype = require_floats("roi_align_backward_kernel", grad, "float16")
    result = np.zeros((batch_size, channels, height, width), dtype)
    options = _options(aligned)
    for place, image in enumerate(image_numbers(rois, batch_size)):
        roi = rois[place, 1:].tolist()
        (high, rows), (wide, columns) = region_weights(
            roi, spatial_scale, pooled, sampling_ratio, (height, width), dtype, **options
        )
        result[image, :, high, wide] += products.matmul(
            products.matmul(rows.T, grad[place].astype(dtype, copy=False)), columns
        )
    return result.astype(grad.dtype, copy=False)


@vision(
    "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, "
    "float rois_scale, int rois_zero_point, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor"
)
def quantized_roi_align(
    input: Array,
    rois: Array,
    input_scale: float,
    input_zero_point: int,
    rois_scale: float,
    rois_zero_point: int,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Array:
    """Of images and regions in whole numbers, with their scales and zero points."""
    if input.ndim and len(input) != 1:
        raise OperatorError("Only one image per batch is allowed in qroi_align.")
    corners = (rois.astype(np.float32) - rois_zero_point) * np.float32(rois_scale)
    corners[:, :1] = 0
    plain = input.astype(np.float32) - input_zero_point  # means do not ask for the scale
    pooled = roi_align(
        plain, corners, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned
    )
    back = np.rint(pooled) + input_zero_point
    if input.dtype.kind in "iu":
        limits = np.iinfo(input.dtype)
        back = np.clip(back, limits.min, limits.max)
    return back.astype(input.dtype)
