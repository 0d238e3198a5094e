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


SPREAD = [
    ((5, 1, 8), (1, 6, 8), -1),
    ((5, 1, 8), (6, 8), 2),
    ((5, 1, 8), (5, 6, 1), 2),
    ((8,), (4, 8), 1),
]


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
@pytest.mark.parametrize(("one", "other", "dim"), SPREAD)
def test_cosines_of_vectors_that_are_repeated(
    one: tuple[int, ...], other: tuple[int, ...], dim: int, name: str
) -> None:
    """Lengths are taken before dimensions are repeated: to the same numbers and slopes."""
    torch.manual_seed(0)
    dtype = getattr(torch, name)
    pair = [(torch.rand(*sizes) + 0.5).to(dtype).requires_grad_() for sizes in (one, other)]
    wide = [each.detach().double().requires_grad_() for each in pair]
    exact = F.cosine_similarity(*torch.broadcast_tensors(*wide), dim)
    found, near = F.cosine_similarity(*pair, dim), 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(found.double(), exact, rtol=near, atol=near)
    exact.sum().backward()
    found.sum().backward()
    for each, beside in zip(pair, wide, strict=True):
        torch.testing.assert_close(each.grad.double(), beside.grad, rtol=near, atol=8 * near)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((4, 5), (5,)),
        ((3, 1, 5), (1, 4, 5)),
        ((2, 1, 3, 1, 4, 1, 5), (1, 2, 1, 3, 1, 4, 5)),
        ((2, 1, 3, 1, 2, 1, 2, 1, 5), (1, 2, 1, 3, 1, 2, 1, 2, 5)),
    ],
)
def test_distances_of_pairs_of_halves_that_are_repeated(
    one: tuple[int, ...], other: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(*one).bfloat16(), torch.randn(*other).bfloat16()
    exact = F.pairwise_distance(*torch.broadcast_tensors(x.double(), y.double()))
    turned = x.transpose(0, -1).contiguous().transpose(0, -1)
    for given in (x, turned):
        found = F.pairwise_distance(given, y)
        torch.testing.assert_close(found.double(), exact, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize(("sizes", "dim"), [((20_000,), 0), ((3, 9_000), 1), ((9_000, 3), 0)])
def test_many_of_long_rows_of_halves(sizes: tuple[int, ...], dim: int, name: str) -> None:
    x = torch.randn(*sizes).to(getattr(torch, name))
    for largest in (True, False):
        values, places = x.topk(300, dim, largest)
        assert torch.equal(values, x.sort(dim, largest)[0].narrow(dim, 0, 300))
        assert torch.equal(x.gather(dim, places), values)
