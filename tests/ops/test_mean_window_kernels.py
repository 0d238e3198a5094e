"""Means of windows by kernels, and their gradients, beside NumPy's way and the formulas'."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.pooling import average_pool
from rushlight.ops.pooling.pool_checks import pool_geometry

pytestmark = pytest.mark.skipif(
    family("windows.mean_windows") is None, reason="no native code here"
)
F = torch.nn.functional
CASES = [((2, 3, 9, 40), (3, 3), (1, 1), (1, 1)), ((2, 3, 9, 41), (3, 2), (2, 2), (1, 1)),
         ((1, 2, 12, 60), (5, 5), (3, 3), (2, 2)), ((1, 2, 12, 90), (2, 5), (4, 4), (1, 0)),
         ((1, 2, 9, 150), (2, 5), (1, 7), (0, 2)), ((3, 8, 9, 7), (3, 3), (2, 2), (1, 1)),
         ((2, 3, 100), (5,), (2,), (2,)), ((4, 8, 6), (3,), (2,), (1,)),
         ((1, 3, 5, 6, 20), (2, 3, 3), (2, 1, 2), (1, 1, 0)),
         ((2, 1, 1), (1,), (1,), (0,))]  # fmt: skip


@pytest.mark.parametrize(("shape", "kernel", "stride", "pads"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_like_numpys_way(
    shape: Any, kernel: Any, stride: Any, pads: Any, dtype: Any, monkeypatch: Any
) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    x.reshape(-1)[5::41] = np.inf
    settings = x, len(kernel), "pool", kernel, stride, pads, [1]
    for ceil, counted, by in ((False, True, None), (True, False, None), (True, True, -3)):
        geometry = pool_geometry(*settings, ceil, averaging=True)
        made = average_pool._averages(x, geometry, counted, by, "pool")
        with monkeypatch.context() as patch:
            patch.setattr(average_pool, "family", lambda name: None)
            wanted = average_pool._averages(x, geometry, counted, by, "pool")
        assert made.dtype == dtype
        np.testing.assert_allclose(
            made, wanted, rtol=1e-3 if dtype == np.float16 else 1e-5, atol=1e-6
        )


@pytest.mark.parametrize(("shape", "kernel", "stride", "pads"), CASES)
def test_gradients_are_those_of_the_formulas(
    shape: Any, kernel: Any, stride: Any, pads: Any
) -> None:
    pool: Any = getattr(F, f"avg_pool{len(kernel)}d")
    x = torch.randn(*shape, requires_grad=True)
    for ceil, counted in ((False, True), (True, False)):
        made = pool(x, kernel, stride, pads, ceil, counted)
        weights = torch.randn_like(made)
        (wanted,) = torch.autograd.grad(made, x, weights, create_graph=True)
        for _ in range(4):
            (found,) = torch.autograd.grad(pool(x, kernel, stride, pads, ceil, counted), x, weights)
            torch.testing.assert_close(found, wanted)


def test_later_calls_and_other_layouts_give_the_same() -> None:
    x = torch.randn(2, 5, 13, 17)
    outward = x.to(memory_format=torch.channels_last)
    wanted = F.avg_pool2d(x, 3, 2, 1)
    for _ in range(40):
        assert torch.equal(F.avg_pool2d(x, 3, 2, 1), wanted)
        assert torch.equal(F.avg_pool2d(outward, 3, 2, 1), wanted)
    assert F.avg_pool2d(outward, 3, 2, 1).is_contiguous(memory_format=torch.channels_last)
