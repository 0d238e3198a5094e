"""Exponentials of matrices, beside the series in a longer precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch

DTYPES = ["float32", "float64", "complex64", "complex128"]


def _truth(a: Any) -> Any:
    """Taylor's series of A / 2^s with s so large that few terms count, in long doubles."""
    wide = a.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble)
    term = np.broadcast_to(np.eye(a.shape[-1], dtype=wide.dtype), a.shape)
    total = term.copy()
    for k in range(1, 26):
        term = np.matmul(term, wide * np.longdouble(2.0) ** -8) / k
        total = total + term
    for _ in range(8):
        total = np.matmul(total, total)
    return total


def _drawn(dtype: str, *shape: int) -> Any:
    random = np.random.default_rng(len(shape))
    made = random.standard_normal(shape)
    if dtype.startswith("complex"):
        made = made + 1j * random.standard_normal(shape)
    return made / np.abs(made).sum(-2).max(-1)[..., None, None]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("norm", [0.0, 0.3, 0.8, 2.5, 12.0])
def test_near_the_truth(dtype: str, norm: float) -> None:
    a = (_drawn(dtype, 3, 4, 5, 5) * norm).astype(dtype)
    a[1] /= 100  # matrices of one batch are scaled by different powers
    found, wanted = torch.linalg.matrix_exp(torch.from_numpy(a)).numpy(), _truth(a)
    assert found.dtype == a.dtype
    sizes = np.abs(wanted).max((-1, -2), keepdims=True)
    assert (np.abs(found - wanted) / sizes).max() < 4 * max(1, norm) * np.finfo(dtype).eps


def test_layouts_and_what_is_no_number() -> None:
    a = torch.from_numpy(_drawn("float64", 70, 70))
    assert torch.equal(a.mT.matrix_exp(), a.mT.contiguous().matrix_exp())
    torch.testing.assert_close(a.matrix_exp() @ (-a).matrix_exp(), torch.eye(70, dtype=a.dtype))
    assert torch.matrix_exp(torch.zeros(2, 0, 0)).shape == (2, 0, 0)
    nans = torch.stack([torch.eye(2), torch.full((2, 2), float("nan"))]).matrix_exp()
    torch.testing.assert_close(nans[0], torch.eye(2) * torch.e)
    assert nans[1].isnan().all()
    assert not torch.matrix_exp(torch.full((2, 2), 1e30)).isfinite().any()
