"""L and U of larger matrices, triangular systems and products with rows of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family

pytestmark = pytest.mark.skipif(
    family("decompositions.factors") is None, reason="no native code here"
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(17, 17), (3, 20, 20), (30, 50), (50, 30), (2, 3, 33, 18)])
def test_factors_multiply_to_the_matrix(shape: Any, dtype: Any) -> None:
    a = torch.from_numpy(np.random.default_rng(1).standard_normal(shape).astype(dtype))
    nearness = {"rtol": 0, "atol": 1e-4 if dtype == np.float32 else 1e-12}
    for _ in range(3):
        order, lower, upper = torch.linalg.lu(a)
        assert lower.abs().max() <= 1  # the largest pivots
        torch.testing.assert_close(order @ lower @ upper, a, **nearness)


def test_pivots_that_are_zero_are_told_each_time() -> None:
    a = torch.randn(20, 20, dtype=torch.float64)
    zero = torch.zeros(20, 20, dtype=torch.float64)
    zero[0, 0] = 1
    for _ in range(4):
        assert torch.linalg.lu_factor_ex(a)[2].item() == 0
        assert torch.linalg.lu_factor_ex(zero)[2].item() == 2
        with pytest.raises(RuntimeError, match=r"U\[2,2\] is zero"):
            torch.linalg.lu_factor(zero)


@pytest.mark.parametrize("size", [6, 40])
def test_inverses_read_one_triangle(size: int) -> None:
    x = torch.randn(size, size, dtype=torch.float64)
    ones = torch.eye(size, dtype=torch.float64)
    whole = x @ x.mT + ones
    lower = torch.linalg.cholesky(whole)
    other = torch.full_like(lower, float("nan"))
    for _ in range(3):
        found = torch.cholesky_inverse(lower + other.triu(1))
        torch.testing.assert_close(found @ whole, ones)
        found = torch.cholesky_inverse(lower.mT + other.tril(-1), True)
        torch.testing.assert_close(found @ whole, ones)
        torch.testing.assert_close(whole @ torch.cholesky_solve(x[:, :3], lower), x[:, :3])


def test_rows_of_sparse_matrices_times_dense_ones() -> None:
    dense = torch.randn(30, 20) * (torch.rand(30, 20) < 0.2)
    dense[3] = 0
    a, b = dense.to_sparse_csr(), torch.randn(20, 37)
    recorded = a @ b
    with torch.no_grad():
        torch.testing.assert_close(a @ b, dense @ b)
        torch.testing.assert_close(a @ b[:, 0], dense @ b[:, 0])
        torch.testing.assert_close(a @ b, recorded)
