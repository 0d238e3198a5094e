"""Means and maxima of equal shares by kernels, beside NumPy's way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.pooling import adaptive_pool

pytestmark = pytest.mark.skipif(
    family("windows.adaptive_pools") is None, reason="no native code here"
)
F = torch.nn.functional
CASES = [((2, 3, 16, 16), (7, 5)), ((2, 3, 16, 16), (16, 5)), ((1, 2, 9, 50), (20, 60)),
         ((4, 2, 64, 64), (7, 2)), ((2, 3, 100), (3,)), ((3, 40), (7,)), ((2, 3, 10), (150,)),
         ((1, 3, 8, 8, 8), (3, 3, 3)), ((2, 1, 8, 9, 40), (3, 9, 50)), ((2, 7, 300), (1, 2)),
         ((1, 2, 3, 700), (2, 600))]  # fmt: skip


def _numbers(shape: tuple[int, ...], wild: bool) -> Any:
    random = np.random.default_rng(sum(shape))
    x = random.standard_normal(shape).astype(np.float32)
    if wild:  # many that are equal, infinities, and some that are no numbers
        x = np.round(x)
        x.reshape(-1)[::29] = np.nan
        x.reshape(-1)[5::3] = -np.inf
        x.reshape(-1)[::2] *= -1
    return x


@pytest.mark.parametrize(("shape", "output"), CASES)
@pytest.mark.parametrize("wild", [False, True])
def test_like_numpys_way(
    shape: tuple[int, ...], output: tuple[int, ...], wild: bool, monkeypatch: Any
) -> None:
    x = _numbers(shape, wild)
    with np.errstate(all="ignore"):
        means = adaptive_pool._averages(x, output, "pool")
        values, places = adaptive_pool._maxima(x, output, "pool")
        monkeypatch.setattr(adaptive_pool, "_kernels", lambda *_: None)
        np.testing.assert_allclose(
            means, adaptive_pool._averages(x, output, "pool"), rtol=1e-5, atol=1e-6
        )
        wanted = adaptive_pool._maxima(x, output, "pool")
    np.testing.assert_array_equal(values, wanted[0])
    np.testing.assert_array_equal(places, wanted[1])


@pytest.mark.parametrize(("shape", "output"), CASES)
@pytest.mark.parametrize("name", ["float64", "float16"])
def test_other_floats_like_numpys_way(
    shape: tuple[int, ...], output: tuple[int, ...], name: str, monkeypatch: Any
) -> None:
    x = np.round(_numbers(shape, False) * 8).astype(name)
    found = adaptive_pool._averages(x, output, "pool"), *adaptive_pool._maxima(x, output, "pool")
    monkeypatch.setattr(adaptive_pool, "_kernels", lambda *_: None)
    wanted = adaptive_pool._averages(x, output, "pool"), *adaptive_pool._maxima(x, output, "pool")
    for ours, theirs in zip(found, wanted, strict=True):  # all sums are exact
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_later_calls_and_other_layouts_give_the_same() -> None:
    x = torch.randn(2, 5, 13, 17)
    outward = x.to(memory_format=torch.channels_last)
    wanted = F.adaptive_avg_pool2d(x, (5, 4)), F.adaptive_max_pool2d(x, (5, 4))
    for _ in range(60):
        assert torch.equal(F.adaptive_avg_pool2d(x, (5, 4)), wanted[0])
        assert torch.equal(F.adaptive_max_pool2d(x, (5, 4)), wanted[1])
        assert torch.equal(F.adaptive_avg_pool2d(outward, (5, 4)), wanted[0])
        assert torch.equal(F.adaptive_max_pool2d(outward, (5, 4)), wanted[1])
        other = torch.randn(2, 5, 13, 17)
        parts = [F.adaptive_avg_pool2d(other[i : i + 1], (5, 4)) for i in range(2)]
        assert torch.equal(F.adaptive_avg_pool2d(other, (5, 4)), torch.cat(parts))
    assert F.adaptive_avg_pool2d(outward, (5, 4)).is_contiguous(memory_format=torch.channels_last)
