"""Products of chains of matrices, and slices scaled down to a norm, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch

CHAINS = [
    [(4, 8), (8, 4), (4, 8)],
    [(8,), (8, 4), (4,)],
    [(3,), (3, 5), (5, 2), (2, 7)],
    [(50, 2), (2, 60), (60, 3), (3, 9), (9,)],
    [(2, 0), (0, 3), (3, 2)],
]


@pytest.mark.parametrize("shapes", CHAINS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "c8"])
def test_chains(shapes: list[tuple[int, ...]], dtype: str) -> None:
    random = np.random.default_rng(1)
    arrays = [(random.standard_normal(shape) * 3).astype(dtype) for shape in shapes]
    wanted = np.linalg.multi_dot(arrays)
    found = [torch.linalg.multi_dot(list(map(torch.from_numpy, arrays))) for _ in range(30)]
    for each in (found[0], found[-1]):
        assert each.numpy().dtype == arrays[0].dtype
        np.testing.assert_allclose(each.numpy(), wanted, 1e-4, 1e-4)
    assert torch.equal(found[0], found[-1])


def _scaled(x: Any, p: float, axis: int, most: float) -> Any:
    others = tuple(d for d in range(x.ndim) if d != axis)
    sizes = np.abs(x)
    if np.isinf(p):
        norms = sizes.max(others, keepdims=True)
    else:
        norms = (sizes**p).sum(others, keepdims=True) ** (1 / p)
    return x * np.where(norms > most, most / (norms + 1e-7), 1)


@pytest.mark.parametrize("p", [0.5, 1, 2, 3, np.inf])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(5, 4), (3, 4, 6)])
def test_slices_of_a_largest_norm(shape: tuple[int, ...], dtype: str, p: float) -> None:
    x = np.random.default_rng(2).standard_normal(shape)
    x[0] /= 100
    x = x.astype(dtype)
    for axis in range(-1, x.ndim - 1):
        for most in (0, 0.3, 5, np.inf):
            wanted = _scaled(x.astype(np.float64), p, axis % x.ndim, most)
            found = [torch.renorm(torch.from_numpy(x), p, axis, most) for _ in range(25)]
            tolerance = 1e-5 if dtype == "f4" else 1e-12
            np.testing.assert_allclose(found[0].numpy(), wanted, tolerance, 1e-7)
            assert torch.equal(found[0], found[-1])


def test_norms_that_are_no_numbers() -> None:
    x = torch.tensor([[1.0, torch.nan], [2.0, 3.0]])
    assert str(torch.renorm(x, 2, 0, 1.0)[0].tolist()) == "[1.0, nan]"
    torch.testing.assert_close(torch.renorm(x, 2, 0, 1.0)[1].norm(), torch.tensor(1.0))
    assert torch.renorm(torch.zeros(0, 3), 2, 0, 1.0).shape == (0, 3)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, np.inf])
@pytest.mark.parametrize("dims", [[0], [-1], [0, 1], [1, 2], [0, 2]])
def test_norms_have_one_set_of_bits(order: float, dims: list[int]) -> None:
    """Calls that are known beforehand sum as the first one does."""
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(4)
        x = torch.randn(3, 40, 7, dtype=dtype)
        found = [torch.linalg.vector_norm(x, order, dims) for _ in range(30)]
        assert torch.equal(found[0], found[-1])
