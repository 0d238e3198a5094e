"""Boxes: which of many to keep, and how much turned ones overlap."""

from __future__ import annotations

import math

import numpy as np

from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..selection.ranking import sort_stable
from .declaring import check_same_dtype, require_floats, vision

__all__ = ["kept_boxes", "overlap_of_turned"]


@vision("_cuda_version() -> int")
def cuda_version() -> int:
    return -1


@vision("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
def nms(dets: Array, scores: Array, iou_threshold: float) -> Array:
    _check_boxes(dets, scores)
    require_floats("nms_kernel", dets)
    return kept_boxes(dets, scores, iou_threshold)


@vision("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
def quantized_nms(dets: Array, scores: Array, iou_threshold: float) -> Array:
    """Of boxes in whole numbers, all with one scale: which does not matter for their overlap."""
    _check_boxes(dets, scores)
    return kept_boxes(dets.astype(np.float32), scores, iou_threshold)


def _check_boxes(dets: Array, scores: Array) -> None:
    if dets.ndim != 2:
        raise OperatorError(f"boxes should be a 2d tensor, got {dets.ndim}D")
    if dets.shape[1] != 4:
        raise OperatorError(f"boxes should have 4 elements in dimension 1, got {dets.shape[1]}")
    if scores.ndim != 1:
        raise OperatorError(f"scores should be a 1d tensor, got {scores.ndim}D")
    if len(dets) != len(scores):
        raise OperatorError(
            "boxes and scores should have same number of elements in dimension 0, got "
            f"{len(dets)} and {len(scores)}"
        )
    check_same_dtype(dets, scores, "dets should have the same type as scores")


def kept_boxes(dets: Array, scores: Array, threshold: float) -> Array:
    """Greedy non-maximum suppression: the numbers of the boxes kept, the best scores first.

    A box is dropped that overlaps a better one that is kept by more than `threshold` of their
    union.  `dets` is `(N, 4)`: two corners.
    """
    order = sort_stable(scores, True, 0, True)[1]
    x1, y1, x2, y2 = np.ascontiguousarray(dets[order].T)
    areas = (x2 - x1) * (y2 - y1)
    left = np.arange(len(order))
    bound = np.float64(threshold)  # compared in double precision
    kept: list[int] = []
    while left.size:
        best, left = left[0], left[1:]
        kept.append(int(best))
        width = np.minimum(x2[best], x2[left]) - np.maximum(x1[best], x1[left])
        height = np.minimum(y2[best], y2[left]) - np.maximum(y1[best], y1[left])
        shared = np.maximum(width, 0) * np.maximum(height, 0)
        overlap = shared / (areas[best] + areas[left] - shared)
        left = left[~(overlap > bound)]
    return order[np.asarray(kept, np.int64)]


# --------------------------------------------------------------------------- turned boxes


Point = tuple[float, float]


@vision("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor")
def box_iou_rotated(boxes1: Array, boxes2: Array) -> Array:
    for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
        if boxes.ndim != 2:
            raise OperatorError(f"{name} should be a 2d tensor, got {boxes.ndim}D")
        if boxes.shape[1] != 5:
            found = boxes.shape[1]
            raise OperatorError(f"{name} should have 5 elements in dimension 1, got {found}")
    check_same_dtype(boxes1, boxes2, "boxes1 and boxes2 must have the same dtype")
    require_floats("box_iou_rotated", boxes1)
    first, second = boxes1.astype(np.float64).tolist(), boxes2.astype(np.float64).tolist()
    overlaps = [[overlap_of_turned(a, b) for b in second] for a in first]
    return np.asarray(overlaps, np.float32).reshape(len(first), len(second))


def overlap_of_turned(first: list[float], second: list[float]) -> float:
    """Intersection over union of two boxes: centre, width, height and angle in degrees.

    The intersection is one box cut by the sides of the other (I. Sutherland and G. Hodgman,
    "Reentrant polygon clipping", 1974).
    """
    areas = [box[2] * box[3] for box in (first, second)]
    if min(areas) < 1e-14:
        return 0.0
    x, y = first[0], first[1]
    shape, sides = _corners(first, x, y), _corners(second, x, y)
    for start, end in zip(sides, sides[1:] + sides[:1], strict=True):
        shape = _cut(shape, start, end)
    shared = _area(shape)
    return shared / (areas[0] + areas[1] - shared)


def _corners(box: list[float], x: float, y: float) -> list[Point]:
    """The corners, counter-clockwise, about a point: near numbers are exact ones."""
    angle = math.radians(box[4])
    cos, sin = math.cos(angle) / 2, math.sin(angle) / 2
    across, up = (box[2] * cos, -box[2] * sin), (box[3] * sin, box[3] * cos)
    turns = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return [
        (box[0] - x + i * across[0] + j * up[0], box[1] - y + i * across[1] + j * up[1])
        for i, j in turns
    ]


def _cut(shape: list[Point], start: Point, end: Point) -> list[Point]:
    """What of a polygon lies to the left of a line."""
    heights = [
        (end[0] - start[0]) * (p[1] - start[1]) - (end[1] - start[1]) * (p[0] - start[0])
        for p in shape
    ]
    made: list[Point] = []
    for place, point in enumerate(shape):
        before, here, height = shape[place - 1], heights[place - 1], heights[place]
        if (here < 0) != (height < 0):
            part = here / (here - height)
            made.append((
                before[0] + part * (point[0] - before[0]),
                before[1] + part * (point[1] - before[1]),
            ))  # fmt: skip
        if height >= 0:
            made.append(point)
    return made


def _area(shape: list[Point]) -> float:
    turned = shape[1:] + shape[:1]
    return abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(shape, turned, strict=True))) / 2
