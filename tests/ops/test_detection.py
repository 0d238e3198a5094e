"""The operators of torchvision, against slow statements of what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor

RNG = np.random.default_rng(7)
VISION = torch.ops.torchvision


def tensor(array: Any, **options: Any) -> Tensor:
    return torch.tensor(np.asarray(array), **options)


def some_boxes(count: int) -> Any:
    corner = RNG.uniform(0, 20, (count, 2))
    return np.concatenate([corner, corner + RNG.uniform(1, 15, (count, 2))], 1)


# ------------------------------------------------------------------------------------------ boxes


def overlap(a: Any, b: Any) -> float:
    width = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    height = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return float(width * height / (sum(areas) - width * height))


@pytest.mark.parametrize("threshold", [0.2, 0.5, 1.0])
def test_nms_keeps_boxes_that_overlap_no_better_one(threshold: float) -> None:
    boxes, scores = some_boxes(40), RNG.uniform(0, 1, 40)
    kept: list[int] = []
    for place in sorted(range(40), key=lambda i: -scores[i]):
        if all(overlap(boxes[place], boxes[k]) <= threshold for k in kept):
            kept.append(place)
    assert VISION.nms(tensor(boxes), tensor(scores), threshold).tolist() == kept


def test_nms_at_its_edges() -> None:
    half = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.0]])  # they overlap by exactly 0.5
    assert VISION.nms(half, torch.tensor([0.9, 0.8]), 0.5).tolist() == [0, 1]
    assert VISION.nms(half, torch.tensor([0.9, 0.8]), 0.49).tolist() == [0]
    two = torch.zeros(2, 4)
    assert VISION.nms(two, torch.ones(2), 0.5).tolist() == [0, 1]  # no union: NaN is no overlap
    assert VISION.nms(two[:0], torch.ones(0), 0.5).tolist() == []
    for arguments, words in (
        ((two[0], torch.ones(2)), "boxes should be a 2d tensor, got 1D"),
        ((two[:, :3], torch.ones(2)), "boxes should have 4 elements in dimension 1, got 3"),
        ((two, torch.ones(2, 1)), "scores should be a 1d tensor, got 2D"),
        ((two, torch.ones(3)), "same number of elements in dimension 0, got 2 and 3"),
        ((two, torch.ones(2).double()), "dets should have the same type as scores"),
        ((two.half(), torch.ones(2).half()), "not implemented for 'Half'"),
    ):
        with pytest.raises(RuntimeError, match=words):
            VISION.nms(*arguments, 0.5)


def test_turned_boxes() -> None:
    square = [0.0, 0, 2, 2]
    given = tensor([[*square, 0], [*square, 45], [5.0, 5, 1, 1, 0], [*square, 90]])
    found = VISION.box_iou_rotated(given[:1], given)
    shared = 8 * (math.sqrt(2) - 1)  # an octagon
    np.testing.assert_allclose(found.numpy(), [[1, shared / (8 - shared), 0, 1]], rtol=1e-6)


# ---------------------------------------------------------------------------------------- regions


def bilinear(plane: Any, y: float, x: float) -> float:
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    i, j = int(y), int(x)
    k, m = min(i + 1, height - 1), min(j + 1, width - 1)
    y, x = y - i, x - j
    top = plane[i, j] * (1 - x) + plane[i, m] * x
    return float(top * (1 - y) + (plane[k, j] * (1 - x) + plane[k, m] * x) * y)


def aligned_bin(
    plane: Any, roi: Any, scale: float, bins: Any, at: Any, ratio: int, offset: float, least: float
) -> float:
    """The mean of the points of one bin."""
    x1, y1, x2, y2 = (v * scale - offset for v in roi)
    size = [max(y2 - y1, least) / bins[0], max(x2 - x1, least) / bins[1]]
    counts = [ratio if ratio > 0 else math.ceil(each) for each in size]
    points = [
        bilinear(
            plane,
            y1 + at[0] * size[0] + (i + 0.5) * size[0] / counts[0],
            x1 + at[1] * size[1] + (j + 0.5) * size[1] / counts[1],
        )
        for i in range(counts[0])
        for j in range(counts[1])
    ]
    return sum(points) / max(len(points), 1)


IMAGES = RNG.standard_normal((2, 12, 9, 7))
ROIS = np.concatenate([[[0.0], [1.0], [1.0]], some_boxes(3) - 4], 1)


@pytest.mark.parametrize(("ratio", "aligned"), [(2, True), (-1, False), (0, False)])
def test_roi_align_is_the_mean_of_points(ratio: int, aligned: bool) -> None:
    offset, least = (0.5, -math.inf) if aligned else (0.0, 1.0)
    found = VISION.roi_align(tensor(IMAGES), tensor(ROIS), 0.5, 3, 2, ratio, aligned)
    expected = [
        [[[aligned_bin(plane, roi[1:], 0.5, (3, 2), (i, j), ratio, offset, least)
           for j in range(2)] for i in range(3)] for plane in IMAGES[int(roi[0])]]
        for roi in ROIS
    ]  # fmt: skip
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)
    images, rois = tensor(IMAGES).float(), tensor(ROIS).float()
    single = VISION.roi_align(images, rois, 0.5, 3, 2, ratio, aligned)
    np.testing.assert_allclose(single.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_position_sensitive_bins_read_channels_of_their_own() -> None:
    found, channels = VISION.ps_roi_align(tensor(IMAGES), tensor(ROIS), 0.5, 3, 2, 2)
    assert channels.dtype is torch.int32
    assert channels[0].reshape(-1).tolist() == list(range(12))
    for k, roi in enumerate(ROIS):
        for c, i, j in np.ndindex(2, 3, 2):
            plane = IMAGES[int(roi[0]), (c * 3 + i) * 2 + j]
            expected = aligned_bin(plane, roi[1:], 0.5, (3, 2), (i, j), 2, 0.5, -math.inf)
            np.testing.assert_allclose(found[k, c, i, j].item(), expected, rtol=1e-9)


def spans(start: int, size: int, bins: int, limit: int) -> list[slice]:
    step = size / bins
    edges = [(math.floor(i * step), math.ceil((i + 1) * step)) for i in range(bins)]
    return [slice(min(max(a + start, 0), limit), min(max(b + start, 0), limit)) for a, b in edges]


def test_roi_pool_gives_the_largest_element_of_each_bin_and_its_place() -> None:
    found, places = VISION.roi_pool(tensor(IMAGES), tensor(ROIS), 0.5, 3, 2)
    averages, _ = VISION.ps_roi_pool(tensor(IMAGES), tensor(ROIS), 0.5, 3, 2)
    for k, roi in enumerate(ROIS):
        x1, y1, x2, y2 = (math.floor(abs(v * 0.5) + 0.5) * math.copysign(1, v) for v in roi[1:])
        image = IMAGES[int(roi[0])]
        rows = spans(int(y1), int(max(y2 - y1 + 1, 1)), 3, 9)
        columns = spans(int(x1), int(max(x2 - x1 + 1, 1)), 2, 7)
        for c, i, j in np.ndindex(12, 3, 2):
            part = image[c, rows[i], columns[j]]
            assert found[k, c, i, j].item() == (part.max() if part.size else 0)
            place = places[k, c, i, j].item()
            assert image[c].reshape(-1)[place] == part.max() if part.size else place == -1
        rows = spans(int(y1), int(max(y2 - y1, 1)), 3, 8)
        columns = spans(int(x1), int(max(x2 - x1, 1)), 2, 6)
        for c, i, j in np.ndindex(2, 3, 2):
            part = image[(c * 3 + i) * 2 + j, rows[i], columns[j]]
            expected = part.mean() if part.size else 0
            np.testing.assert_allclose(averages[k, c, i, j].item(), expected, rtol=1e-9)


def test_what_regions_refuse() -> None:
    images, rois = tensor(IMAGES), tensor(ROIS)
    for name, more in (("roi_align", (2, True)), ("roi_pool", ()), ("ps_roi_align", (2,))):
        call = getattr(VISION, name)
        for given, words in (
            ((images, rois[:, :4], 1.0, 2, 2), r"have shape as Tensor\[K, 5\]"),
            ((images, rois.float(), 1.0, 2, 2), "input should have the same type as rois"),
            ((images, rois + 1, 1.0, 2, 2), r"rois batch index must be in \[0, batch_size\)"),
            ((images, rois, 1.0, 0, 2), "pooled sizes must be positive"),
        ):
            with pytest.raises(RuntimeError, match=words):
                call(*given, *more)
    with pytest.raises(RuntimeError, match="must be a multiple of pooling height"):
        VISION.ps_roi_pool(images, rois, 1.0, 5, 1)
    full = torch.full((3, 12, 2, 2), 999, dtype=torch.int32)
    with pytest.raises(RuntimeError, match=r"argmax values must be in \[-1, height \* width\)"):
        VISION._roi_pool_backward(full.double(), rois, full, 1.0, 2, 2, 2, 12, 9, 7)


# ------------------------------------------------------------------------- deformable convolution


def zero_outside(plane: Any, y: float, x: float) -> float:
    i, j = math.floor(y), math.floor(x)
    total = 0.0
    for a, b in ((i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1)):
        if 0 <= a < plane.shape[0] and 0 <= b < plane.shape[1]:
            total += plane[a, b] * (1 - abs(y - a)) * (1 - abs(x - b))
    return total


def test_deform_conv2d_reads_where_offsets_say() -> None:
    image, weight = RNG.standard_normal((1, 4, 6, 5)), RNG.standard_normal((2, 2, 2, 3))
    offset = RNG.standard_normal((1, 2 * 2 * 6, 4, 3)) * 2
    mask, bias = RNG.uniform(0, 1, (1, 2 * 6, 4, 3)), RNG.standard_normal(2)
    given = (image, weight, offset, mask, bias)
    numbers = (3, 1, 1, 0, 1, 1, 2, 2)  # strides, padding, dilation, groups
    with pytest.raises(RuntimeError, match="offset output dims"):
        VISION.deform_conv2d(*map(tensor, given), *numbers, True)
    numbers = (1, 1, 0, 0, 2, 1, 2, 2)
    for use_mask in (True, False):
        found = VISION.deform_conv2d(*map(tensor, given), *numbers, use_mask)
        for o, y, x in np.ndindex(2, 4, 3):
            expected = bias[o]
            for c, i, j in np.ndindex(2, 2, 3):
                channel = o * 2 + c  # of group o, which is also the group of offsets
                k = o * 6 + i * 3 + j
                place = y + i * 2 + offset[0, 2 * k, y, x], x + j + offset[0, 2 * k + 1, y, x]
                factor = mask[0, k, y, x] if use_mask else 1
                expected += weight[o, c, i, j] * zero_outside(image[0, channel], *place) * factor
            np.testing.assert_allclose(found[0, o, y, x].item(), expected, rtol=1e-9)


def test_gradients() -> None:
    images, rois = tensor(IMAGES[:, :, :5, :4], requires_grad=True), tensor(ROIS)
    inside = tensor([[0.0, 1, 1, 4, 6]])  # the last row and column are read by gradients alone
    calls: list[Callable[..., Any]] = [
        lambda x: VISION.roi_align(x, rois, 0.5, 2, 2, 2, True),
        lambda x: VISION.roi_pool(x, rois, 0.5, 2, 2)[0],
        lambda x: VISION.ps_roi_align(x, rois, 0.5, 2, 2, 1)[0],
        lambda x: VISION.ps_roi_pool(x, inside, 0.5, 2, 2)[0],
    ]
    for call in calls:
        assert torch.autograd.gradcheck(call, (images,), fast_mode=True)
        y = call(images)
        (g,) = torch.autograd.grad(y.pow(2).sum(), images, create_graph=True)
        with pytest.raises(RuntimeError, match=r"double backwards on \w+ not supported"):
            g.sum().backward()
    sizes = ((1, 4, 5, 4), (2, 2, 2, 2), (1, 16, 4, 3), (1, 8, 4, 3), (2,))
    given = [tensor(RNG.uniform(-1.3, 1.3, size), requires_grad=True) for size in sizes]
    assert torch.autograd.gradcheck(
        lambda *x: VISION.deform_conv2d(*x, 1, 1, 0, 0, 1, 1, 2, 2, True), given, fast_mode=True
    )


def _detect(x: Tensor, rois: Tensor) -> Tensor:
    return torch.ops.torchvision.roi_align(x, rois, 0.5, 2, 2, 2, True)


def test_scripts_call_them_with_gradients() -> None:
    scripted = torch.jit.script(_detect)
    gradients = []
    for call in (_detect, scripted, scripted):
        x = tensor(IMAGES, requires_grad=True)
        call(x, tensor(ROIS)).sum().backward()
        gradients.append(x.grad)
    assert torch.equal(gradients[0], gradients[1])
    assert torch.equal(gradients[0], gradients[2])


def test_only_libraries_whose_operators_are_here_load(tmp_path: Path) -> None:
    folder = tmp_path / "torchvision"
    folder.mkdir()
    (folder / "_C_stable.so").write_bytes(b"")
    (folder / "image_stable.so").write_bytes(b"")
    torch.ops.load_library(folder / "_C_stable.so")
    assert str(folder / "_C_stable.so") in torch.ops.loaded_libraries
    for name in ("image_stable.so", "_C.so"):
        with pytest.raises(OSError, match="Could not load this library"):
            torch.ops.load_library(folder / name)
    assert VISION._cuda_version() == -1
