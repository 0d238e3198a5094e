"""Distances by kernels, beside NumPy's way."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.linear_algebra import distance

pytestmark = pytest.mark.skipif(family("rows.distances") is None, reason="no native code here")
F = torch.nn.functional
NORMS = [0.0, 1.0, 2.0, inf]
SHAPES = [
    ((5, 3), (7, 3)),
    ((1, 1), (40, 1)),
    ((2, 3, 33, 17), (2, 3, 19, 17)),
    ((70, 40), (70, 40)),
]


def _pair(shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: str) -> list[Any]:
    random = np.random.default_rng(1)
    made = [np.round(random.standard_normal(shape), 1).astype(dtype) for shape in shapes]
    made[0].reshape(-1)[3::50] = np.inf
    made[1].reshape(-1)[5::70] = np.nan
    return made


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_like_numpys_way(shapes: Any, p: float, dtype: str, monkeypatch: Any) -> None:
    one, other = _pair(shapes, dtype)
    assert distance._kernels(one, other, p) is not None
    calls = [lambda: distance.cdist(one, other, p, 2)]
    if one.shape == other.shape:
        calls.append(lambda: distance.pairwise_distance(one, other, p, 1e-6, False))
        calls.append(lambda: distance.pairwise_distance(one, other, p, 1e-6, True))
    if one.ndim == 2:
        calls.append(lambda: distance.pdist(one, p))
    with np.errstate(all="ignore"):
        made = [call() for call in calls]
        monkeypatch.setattr(distance, "_kernels", lambda *_: None)
        for found, call in zip(made, calls, strict=True):
            wanted = call()
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
            tolerance = 1e-5 if dtype == "f4" else 1e-13
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance / 10)


def test_later_calls_and_other_layouts_give_the_same() -> None:
    x, y = torch.randn(30, 9), torch.randn(20, 9)
    wanted = torch.cdist(x, y, p=1.0), F.pdist(x), F.pairwise_distance(x[:20], y)
    turned = x.t().contiguous().t()
    for _ in range(60):
        for given in (x, turned):
            found = torch.cdist(given, y, p=1.0), F.pdist(given), F.pairwise_distance(given[:20], y)
            assert all(map(torch.equal, found, wanted))
        other = torch.randn(30, 9)
        rows = [torch.cdist(other[i : i + 1], y, p=1.0) for i in range(30)]
        assert torch.equal(torch.cdist(other, y, p=1.0), torch.cat(rows))
    assert torch.cdist(x[:0], y).shape == (0, 20)
    assert F.pdist(x[:1]).shape == (0,)
    assert torch.equal(torch.cdist(x[:, :0], y[:, :0], p=1.0), torch.zeros(30, 20))


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sizes", [(5, 3), (2, 7, 20), (30, 40)])
def test_slopes_of_pairs(sizes: tuple[int, ...], dtype: torch.dtype, p: float) -> None:
    """What needs no gradients itself is a kernel's, to the same numbers."""
    torch.manual_seed(3)
    x, y = (torch.randn(*sizes, dtype=dtype) for _ in range(2))
    y[..., 0, :] = x[..., 0, :]  # where there is no distance there is no slope
    x, y = x.requires_grad_(), torch.cat([y, y + 1], -2).requires_grad_()
    calls = [(torch.cdist(x, y, p, "donot_use_mm_for_euclid_dist"), [x, y])]
    if len(sizes) == 2:
        calls.append((F.pdist(x, p), [x]))
    for made, given in calls:
        total = (made * torch.randn_like(made)).sum()
        direct = torch.autograd.grad(total, given, retain_graph=True)
        composed = torch.autograd.grad(total, given, create_graph=True)
        tolerance = 1e-4 if dtype is torch.float32 else 1e-10
        for one, other in zip(direct, composed, strict=True):
            torch.testing.assert_close(one, other.detach(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", [0, 1])
def test_few_distances_are_no_matrix_product(mode: int, monkeypatch: Any) -> None:
    x = np.random.default_rng(2).standard_normal((40, 3)).astype(np.float32)
    near = x + np.float32(1e-4)
    wanted = distance.cdist(x, near, 2.0, 2)
    monkeypatch.setattr(distance, "_by_products", None)
    assert np.array_equal(distance.cdist(x, near, 2.0, mode), wanted)
