"""Boxes: which are kept, and what lies in them."""

from __future__ import annotations

from ..items import Item
from ..table import exports
from ..writer import FLOAT, INT, Writer


@exports("torchvision::nms")
def nms(w: Writer, dets: Item, scores: Item, iou_threshold: Item) -> Item:
    boxes, marks = w.tensor(dets), w.tensor(scores)
    most = w.reshape(w.tensor(w.size(boxes, 0), INT), [1])
    found = w.op(
        "NonMaxSuppression",
        w.unsqueeze(w.cast(boxes, FLOAT), 0),
        w.unsqueeze(w.unsqueeze(w.cast(marks, FLOAT), 0), 0),
        most,
        w.reshape(w.tensor(iou_threshold, FLOAT), [1]),
    )
    return w.select(found, 1, 2)  # image, class, box


@exports("torchvision::roi_align")
def roi_align(
    w: Writer,
    input: Item,
    rois: Item,
    spatial_scale: Item,
    pooled_height: Item,
    pooled_width: Item,
    sampling_ratio: Item,
    aligned: Item,
) -> Item:
    boxes = w.tensor(rois)
    return w.op(
        "RoiAlign",
        w.tensor(input),
        w.slice(boxes, 1, 1, 5),
        w.cast(w.select(boxes, 1, 0), INT),
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
        output_height=w.whole(pooled_height, "pooled_height"),
        output_width=w.whole(pooled_width, "pooled_width"),
        sampling_ratio=max(w.whole(sampling_ratio, "sampling_ratio"), 0),
        spatial_scale=w.real(spatial_scale, "spatial_scale"),
    )
