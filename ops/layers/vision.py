"""Operators of torchvision that archives of detection models use."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..selection.ranking import sorted_positions
from ..shapes.windows import wide_dtype
from ..table.table import operator

__all__: list[str] = []

_INT64: Final = np.dtype(np.int64)


def _check_boxes(dets: Array, scores: Array) -> None:
    if dets.ndim != 2:
        raise OperatorError(f"boxes should be a 2d tensor, got {dets.ndim}D", code="shape-mismatch")
    if dets.shape[1] != 4:
        raise OperatorError(
            f"boxes should have 4 elements in dimension 1, got {dets.shape[1]}",
            code="shape-mismatch",
        )
    if scores.ndim != 1:
        raise OperatorError(
            f"scores should be a 1d tensor, got {scores.ndim}D", code="shape-mismatch"
        )
    if dets.shape[0] != scores.shape[0]:
        raise OperatorError(
            "boxes and scores should have same number of elements in dimension 0, got "
            f"{dets.shape[0]} and {scores.shape[0]}",
            code="shape-mismatch",
        )
    if dets.dtype != scores.dtype:
        raise OperatorError("dets should have the same type as scores", code="dtype-mismatch")


@operator("torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
def nms(dets: Array, scores: Array, iou_threshold: float) -> Array:
    """The boxes (x1, y1, x2, y2) to keep, best first: none overlaps a better one too much."""
    _check_boxes(dets, scores)
    order = sorted_positions(scores, 0, True)
    boxes = dets.astype(wide_dtype(dets.dtype), copy=False)[order]
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    left = np.ones(len(order), bool)
    kept: list[int] = []
    place = 0
    while place < len(order):  # as many rounds as boxes are kept
        kept.append(place)
        rest = slice(place + 1, None)
        corner = np.maximum(boxes[place, :2], boxes[rest, :2])
        sides = np.maximum(np.minimum(boxes[place, 2:], boxes[rest, 2:]) - corner, 0)
        common = sides[:, 0] * sides[:, 1]
        left[rest] &= ~(common / (areas[place] + areas[rest] - common) > iou_threshold)
        following = np.flatnonzero(left[rest])
        place = place + 1 + int(following[0]) if following.size else len(order)
    return order[kept].astype(_INT64, copy=False)


def _samples(start: Array, size: Array, bins: int, count: int) -> Array:
    """Where each of `bins` bins is sampled, `count` times: (rois, bins * count)."""
    at = np.arange(bins)[:, None] + (np.arange(count) + 0.5) / count
    width = (size / bins)[:, None]
    return np.asarray(start[:, None] + at.reshape(-1).astype(start.dtype) * width)


def _neighbours(at: Array, size: int) -> tuple[Array, Array, Array, Array]:
    """Two neighbours of each place and the share of the second; outside of the image nothing."""
    inside = (at >= -1) & (at <= size)
    held = np.maximum(at, 0)
    low = np.minimum(held.astype(_INT64), size - 1)
    high = np.minimum(low + 1, size - 1)
    share = np.where(held.astype(_INT64) >= size - 1, 0, held - low).astype(at.dtype)
    return low, high, share, inside


def _pooled(images: Array, y: Array, x: Array, bins: tuple[int, int]) -> Array:
    """The means of bilinear samples of (rois, channels, height, width) images by bin."""
    height, width = images.shape[2:]
    rois = np.arange(len(images))[:, None, None]
    low_y, high_y, part_y, in_y = _neighbours(y, height)
    low_x, high_x, part_x, in_x = _neighbours(x, width)
    total = np.zeros((len(images), y.shape[1], x.shape[1], images.shape[1]), images.dtype)
    for row, heavy_y in ((low_y, 1 - part_y), (high_y, part_y)):
        for column, heavy_x in ((low_x, 1 - part_x), (high_x, part_x)):
            weight = heavy_y[:, :, None] * heavy_x[:, None, :]
            total += images[rois, :, row[:, :, None], column[:, None, :]] * weight[..., None]
    total *= (in_y[:, :, None] & in_x[:, None, :])[..., None]
    split = total.reshape(len(images), bins[0], -1, bins[1], x.shape[1] // bins[1], total.shape[3])
    return np.asarray(split.mean((2, 4))).transpose(0, 3, 1, 2)


@operator(
    "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
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
    """Regions (image, x1, y1, x2, y2) of images, each made one grid of bins."""
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise OperatorError("rois must have shape as Tensor[K, 5]", code="shape-mismatch")
    if input.dtype != rois.dtype:
        raise OperatorError(
            f"Expected tensor for argument #1 'input' to have the same type as tensor for argument "
            f"#2 'rois'; but type {dtype_of(input)} does not equal {dtype_of(rois)}",
            code="dtype-mismatch",
        )
    wide = wide_dtype(input.dtype)
    boxes = rois.astype(wide, copy=False)
    corners = boxes[:, 1:] * wide.type(spatial_scale) - wide.type(0.5 if aligned else 0)
    start, size = corners[:, :2], corners[:, 2:] - corners[:, :2]
    size = size if aligned else np.maximum(size, 1)
    bins = (pooled_height, pooled_width)
    counts = np.full((len(rois), 2), sampling_ratio)
    if sampling_ratio <= 0:
        counts = np.ceil(size[:, ::-1] / np.array(bins, wide)).astype(_INT64)
    result = np.zeros((len(rois), input.shape[1], *bins), wide)
    images = input.astype(wide, copy=False)
    for rows, columns in np.unique(np.maximum(counts, 0), axis=0):  # regions sampled alike at once
        if not rows or not columns:
            continue
        same = (counts == (rows, columns)).all(1)
        y = _samples(start[same, 1], size[same, 1], bins[0], rows)
        x = _samples(start[same, 0], size[same, 0], bins[1], columns)
        result[same] = _pooled(images[boxes[same, 0].astype(_INT64)], y, x, bins)
    return result.astype(input.dtype, copy=False)
