"""Products and sums with one rounding, by an instruction and without."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.arithmetic.fused import fused_float

F = np.float32


def test_the_instruction_gives_the_bits_of_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(20_000).astype(F) for _ in range(2))
    a[:3] = math.inf, math.nan, 1e-45
    near = -(a.astype(np.float64) * b).astype(F)  # of which next to nothing is left
    with np.errstate(all="ignore"):
        made = [fused_float(a, b, c) for c in (near, b, F(1.5))]
        monkeypatch.setitem(kernels._FAMILIES, "language.target", None)
        want = [fused_float(a, b, c) for c in (near, b, F(1.5))]
    for one, other in zip(made, want, strict=True):
        assert np.array_equal(one, other, equal_nan=True)
        is_number = ~np.isnan(one)
        assert np.array_equal(np.signbit(one)[is_number], np.signbit(other)[is_number])


def test_rows_are_normalised_by_the_statistics_of_their_columns() -> None:
    x = torch.randn(300, 40) * 3 + 50
    weight, bias = torch.randn(40), torch.randn(40)
    made = torch.nn.functional.batch_norm(x, None, None, weight, bias, True)
    wide = x.numpy().astype(np.float64)
    want = (wide - wide.mean(0)) / np.sqrt(wide.var(0) + 1e-5) * weight.numpy() + bias.numpy()
    assert np.allclose(made.numpy(), want, atol=2e-5)
    mean, variance = torch.zeros(40), torch.ones(40)
    torch.nn.functional.batch_norm(x, mean, variance, weight, bias, True, 1.0)
    assert np.allclose(mean.numpy(), wide.mean(0), rtol=1e-6)
    assert np.allclose(variance.numpy(), wide.var(0, ddof=1), rtol=1e-5)
