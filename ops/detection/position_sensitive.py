"""Position-sensitive regions: each bin of a region reads channels of its own.

J. Dai, Y. Li, K. He and J. Sun, "R-FCN: Object detection via region-based fully convolutional
networks", 2016, section 2: of `C * h * w` channels bin `(i, j)` of result channel `c` reads channel
`(c * h + i) * w + j`.
"""

from __future__ import annotations

import numpy as np

from ..memory.dtype import Array, Dtype
from ..memory.errors import OperatorError
from .declaring import check_regions, check_same_dtype, image_numbers, require_floats, vision
from .region_align import region_weights
from .region_pool import bins_along, rounded


def _channels(input: Array, rois: Array, pooled: tuple[int, int], prefix: str) -> Array:
    """The channel that each element of the result reads, `(K, C / (h * w), h, w)`.

    Raises:
        OperatorError: the arguments do not fit.
    """
    check_regions(input, rois, pooled, prefix)
    if input.shape[1] % (pooled[0] * pooled[1]):
        raise OperatorError("input channels must be a multiple of pooling height * pooling width")
    one = np.arange(input.shape[1], dtype=np.int32).reshape(-1, *pooled)
    return np.ascontiguousarray(np.broadcast_to(one, (len(rois), *one.shape)))


def _check_backward(
    grad: Array, rois: Array, mapping: Array, pooled: tuple[int, int], channels: int
) -> None:
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise OperatorError("Tensor rois should have shape as Tensor[K, 5]")
    check_same_dtype(grad, rois, "grad should have the same type as rois")
    if min(pooled) <= 0 or grad.shape != (
        len(rois), channels // (pooled[0] * pooled[1]), *pooled
    ):  # fmt: skip
        raise OperatorError(
            "grad should have shape [K, channels / (pooled_height * pooled_width), pooled_height, "
            "pooled_width]"
        )
    if mapping.shape != grad.shape:
        raise OperatorError("channel_mapping should have the same shape as grad")
    if mapping.size and not (mapping.min() >= 0 and mapping.max() < channels):
        raise OperatorError("channel_mapping values must be in [0, channels)")


# --------------------------------------------------------------------------- means of points


@vision(
    "ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)"
)
def ps_roi_align(
    input: Array,
    rois: Array,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[Array, Array]:
    pooled = pooled_height, pooled_width
    mapping = _channels(input, rois, pooled, "Tensor ")
    dtype = require_floats("ps_roi_align_forward_kernel", input, "float16")
    result = np.zeros(mapping.shape, dtype)
    for place, image in enumerate(image_numbers(rois, len(input))):
        (high, rows), (wide, columns) = region_weights(
            rois[place, 1:].tolist(), spatial_scale, pooled, sampling_ratio, input.shape[2:],
            dtype, offset=0.5, least=None,
        )  # fmt: skip
        part = input[image, :, high, wide].astype(dtype, copy=False)
        part = part.reshape(*mapping.shape[1:], *part.shape[1:])
        across = (part * columns[:, None, :]).sum(-1)
        result[place] = (across * rows[:, None, :]).sum(-1)
    return result.astype(input.dtype, copy=False), mapping


@vision(
    "_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, "
    "SymInt channels, SymInt height, SymInt width) -> Tensor"
)
def ps_roi_align_backward(
    grad: Array,
    rois: Array,
    channel_mapping: Array,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Array:
    pooled = pooled_height, pooled_width
    _check_backward(grad, rois, channel_mapping, pooled, channels)
    dtype = require_floats("ps_roi_align_backward_kernel", grad, "float16")
    result = np.zeros((batch_size, channels, height, width), dtype)
    for place, image in enumerate(image_numbers(rois, batch_size)):
        (high, rows), (wide, columns) = region_weights(
            rois[place, 1:].tolist(), spatial_scale, pooled, sampling_ratio, (height, width),
            dtype, offset=0.5, least=None,
        )  # fmt: skip
        whole = grad[place].astype(dtype)[..., None, None]
        part = whole * rows[:, None, :, None] * columns[:, None, :]
        part = part.reshape(channel_mapping[place].size, *part.shape[3:])
        target = result[image, :, high, wide]
        np.add.at(target, channel_mapping[place].reshape(-1), part)
    return result.astype(grad.dtype, copy=False)


# --------------------------------------------------------------------------- means of bins


def _bins(
    roi: Array, scale: float, pooled: tuple[int, int], limits: tuple[int, ...], dtype: Dtype
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where the bins of a region begin and end along height and width."""
    x1, y1, x2, y2 = (rounded(float(v)) for v in roi * dtype.type(scale))
    spans = ((y1, max(y2 - y1, 1)), (x1, max(x2 - x1, 1)))
    rows, columns = (
        list(bins_along(*span, bins, limit, dtype))
        for span, bins, limit in zip(spans, pooled, limits, strict=True)
    )
    return rows, columns


@vision(
    "ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
    "SymInt pooled_width) -> (Tensor, Tensor)"
)
def ps_roi_pool(
    input: Array, rois: Array, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Array, Array]:
    pooled = pooled_height, pooled_width
    mapping = _channels(input, rois, pooled, "Tensor ")
    dtype = require_floats("ps_roi_pool_forward_kernel", input, "float16")
    result = np.zeros(mapping.shape, dtype)
    grouped = input.reshape(len(input), *mapping.shape[1:], *input.shape[2:])
    limits = tuple(length - 1 for length in input.shape[2:])  # the last row is never read
    for place, image in enumerate(image_numbers(rois, len(input))):
        rows, columns = _bins(rois[place, 1:], spatial_scale, pooled, limits, dtype)
        for i, (top, bottom) in enumerate(rows):
            for j, (left, right) in enumerate(columns):
                if top < bottom and left < right:
                    part = grouped[image, :, i, j, top:bottom, left:right]
                    result[place, :, i, j] = part.mean((1, 2), dtype)
    return result.astype(input.dtype, copy=False), mapping


@vision(
    "_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, "
    "SymInt height, SymInt width) -> Tensor"
)
def ps_roi_pool_backward(
    grad: Array,
    rois: Array,
    channel_mapping: Array,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Array:
    pooled = pooled_height, pooled_width
    _check_backward(grad, rois, channel_mapping, pooled, channels)
    dtype = require_floats("ps_roi_pool_backward_kernel", grad, "float16")
    result = np.zeros((batch_size, channels, height, width), dtype)
    for place, image in enumerate(image_numbers(rois, batch_size)):
        rows, columns = _bins(rois[place, 1:], spatial_scale, pooled, (height, width), dtype)
        for i, (top, bottom) in enumerate(rows):
            for j, (left, right) in enumerate(columns):
                if top < bottom and left < right:
                    share = grad[place, :, i, j] / dtype.type((bottom - top) * (right - left))
                    target = result[image, :, top:bottom, left:right]
                    np.add.at(target, channel_mapping[place, :, i, j], share[:, None, None])
    return result.astype(grad.dtype, copy=False)
