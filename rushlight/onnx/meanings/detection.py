"""Boxes: which are kept, and what lies in them."""

from __future__ import annotations

from ...ops.tensors.tensor import Tensor
from .table import means, torch


@means("NonMaxSuppression")
def kept_boxes(
    boxes: Tensor,
    scores: Tensor,
    most: Tensor | None = None,
    iou_threshold: Tensor | None = None,
    score_threshold: Tensor | None = None,
    center_point_box: int = 0,
) -> Tensor:
    if center_point_box:
        middle, size = boxes[..., :2], boxes[..., 2:]
        corners = torch.cat([middle - size / 2, middle + size / 2], -1)
    else:  # either diagonal
        one, other = boxes[..., :2], boxes[..., 2:]
        corners = torch.cat([torch.minimum(one, other), torch.maximum(one, other)], -1)
    limit = 0 if most is None else int(most)
    overlap = 0.0 if iou_threshold is None else float(iou_threshold)
    found = []
    for image in range(scores.shape[0]):
        for kind in range(scores.shape[1]):
            marks, places = scores[image, kind], torch.arange(boxes.shape[1])
            if score_threshold is not None:
                places = places[marks > float(score_threshold)]
            kept = torch.ops.torchvision.nms(corners[image][places], marks[places], overlap)
            kept = places[kept[:limit]]
            sides = [torch.full_like(kept, image), torch.full_like(kept, kind)]
            found.append(torch.stack([*sides, kept], 1))
    return torch.cat(found)


@means("RoiAlign")
def aligned_boxes(
    x: Tensor,
    rois: Tensor,
    images: Tensor,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    if mode != "avg":
        raise NotImplementedError(f"RoiAlign: the mode {mode!r} has no meaning here")
    found: Tensor = torch.ops.torchvision.roi_align(
        *(x, torch.cat([images[:, None].to(rois.dtype), rois], 1), spatial_scale),
        *(output_height, output_width, sampling_ratio or -1),
        coordinate_transformation_mode == "half_pixel",
    )
    return found
