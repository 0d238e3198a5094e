"""Images at the places of a grid: native code against NumPy's steps, which give the same bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.resizing import grid_sample

native = pytest.mark.skipif(
    kernels.family("windows.grid_samples") is None, reason="no native code here"
)
SHAPES = [((1, 3, 16, 16), (16, 16)), ((2, 1, 1, 1), (3, 1)), ((2, 5, 7, 3), (1, 37)),
          ((1, 2, 1, 9), (4, 15)), ((3, 2, 40, 33), (20, 50)), ((2, 3, 4, 5, 6), (3, 4, 19)),
          ((1, 1, 1, 1, 3), (2, 1, 5))]  # fmt: skip


@native
@pytest.mark.parametrize(("shape", "places"), SHAPES)
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_bits_are_those_of_numpys_steps(
    shape: tuple[int, ...], places: tuple[int, ...], padding: int, monkeypatch: Any
) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal(shape).astype(np.float32)
    grid = random.uniform(-1.6, 1.6, (shape[0], *places, len(places))).astype(np.float32)
    flat = grid.reshape(-1)
    flat[: min(9, flat.size)] = [-1, 1, 0, math.nan, math.inf, -math.inf, 1e30, 5, -7][: flat.size]
    calls = [(mode, align) for mode in range(5 - len(places)) for align in (False, True)]
    with np.errstate(all="ignore"):
        made = [grid_sample.grid_sampler(x, grid, mode, padding, align) for mode, align in calls]
        monkeypatch.setattr(grid_sample, "_natively", lambda *_: None)
        want = [grid_sample.grid_sampler(x, grid, mode, padding, align) for mode, align in calls]
    for one, other in zip(made, want, strict=True):
        assert one.shape == other.shape
        assert np.array_equal(one, other, equal_nan=True)


def test_later_calls_and_other_layouts_give_the_same() -> None:
    x, grid = torch.randn(2, 3, 8, 9), torch.rand(2, 5, 6, 2) * 2 - 1
    sample = torch.nn.functional.grid_sample
    want = sample(x, grid, align_corners=False)
    for _ in range(60):
        assert torch.equal(sample(x, grid, align_corners=False), want)
    turned = grid.permute(3, 0, 1, 2).contiguous().permute(1, 2, 3, 0)
    assert torch.equal(sample(x, turned, align_corners=False), want)
    outward = x.to(memory_format=torch.channels_last)
    assert torch.allclose(sample(outward, grid, align_corners=False), want)
    assert sample(x[:0], grid[:0], align_corners=False).shape == (0, 3, 5, 6)
    double = sample(x.double(), grid.double(), align_corners=False)
    assert torch.allclose(double.float(), want, atol=1e-5)


def _slopes(x: Any, grid: Any, factor: Any, padding: str, align: bool) -> tuple[Any, ...]:
    made = torch.nn.functional.grid_sample(x, grid, "bilinear", padding, align)
    found: tuple[Any, ...] = torch.autograd.grad((made * factor).sum(), (x, grid))
    return found


@pytest.mark.parametrize(("shape", "places"), SHAPES)
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_gradients_are_those_of_operators_on_doubles(
    shape: tuple[int, ...], places: tuple[int, ...], padding: str
) -> None:
    torch.manual_seed(3)
    x = torch.randn(*shape)
    grid = torch.rand(shape[0], *places, len(places)) * 3 - 1.5
    factor = torch.randn(*shape[:2], *places)
    for align in (False, True):
        given = [each.clone().requires_grad_() for each in (x, grid)]
        wide = [each.double().requires_grad_() for each in (x, grid)]
        wanted = _slopes(*wide, factor.double(), padding, align)
        for _ in range(3):
            found = _slopes(*given, factor, padding, align)
            for one, other in zip(found, wanted, strict=True):
                assert one.shape == other.shape
                torch.testing.assert_close(one, other.float(), rtol=1e-3, atol=1e-4)


def test_gradients_of_other_layouts_of_one_alone_and_of_places_that_are_none() -> None:
    torch.manual_seed(4)
    x, grid = torch.randn(2, 3, 8, 9), torch.rand(2, 5, 21, 2) * 2.4 - 1.2
    factor = torch.randn(2, 3, 5, 21)
    sample = torch.nn.functional.grid_sample
    both = [x.clone().requires_grad_(), grid.clone().requires_grad_()]
    of_x, of_grid = _slopes(*both, factor, "zeros", False)
    one = x.clone().requires_grad_()
    (sample(one, grid, align_corners=False) * factor).sum().backward()
    assert torch.equal(one.grad, of_x)
    other = grid.clone().requires_grad_()
    (sample(x, other, align_corners=False) * factor).sum().backward()
    assert torch.equal(other.grad, of_grid)
    last = x.to(memory_format=torch.channels_last).requires_grad_()
    turned = factor.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    assert torch.equal(_slopes(last, both[1], turned, "zeros", False)[0], of_x)
    with torch.no_grad():
        both[1][0, 0, 0] = math.nan
        both[1][1, 2, 3] = math.inf
    assert _slopes(*both, factor, "zeros", False)[0].isfinite().all()
    assert _slopes(*both, factor, "border", False)[0].isfinite().all()
    sample(*both, align_corners=False)[:0].sum().backward()
    assert not both[0].grad.any()
