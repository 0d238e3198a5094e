"""What kernels do for arrays in one piece they do for others, and for floats of other sizes."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight.nn import functional as F


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_images_of_any_layout_are_read_at_places(mode: str) -> None:
    torch.manual_seed(0)
    image, grid = torch.randn(2, 5, 9, 7), torch.rand(2, 4, 6, 2) * 2.4 - 1.2
    expected = F.grid_sample(image, grid, mode, align_corners=False)
    last = image.contiguous(memory_format=torch.channels_last)
    turned = image.transpose(2, 3).contiguous().transpose(2, 3)
    for given in (last, turned, image.repeat(1, 2, 1, 1)[:, :5]):
        for _ in range(4):
            assert torch.equal(F.grid_sample(given, grid, mode, align_corners=False), expected)


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("sizes", [(40, 30), (3, 7, 9), (5,), (4, 1)])
def test_cosines(sizes: tuple[int, ...], name: str) -> None:
    torch.manual_seed(0)
    dtype = getattr(torch, name)
    x, y = torch.randn(sizes).to(dtype), torch.randn(sizes).to(dtype)
    near = 2 * torch.finfo(dtype).eps
    for dim in range(-1, len(sizes) - 1):
        exact = F.cosine_similarity(x.double(), y.double(), dim)
        for a in (x, x.transpose(0, -1).contiguous().transpose(0, -1)):
            for _ in range(3):
                found = F.cosine_similarity(a, y, dim)
            assert found.dtype is dtype
            torch.testing.assert_close(found.double(), exact, rtol=near, atol=near)
