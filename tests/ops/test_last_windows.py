"""Pools of planes that lie with channels last have the bits of those with channels first."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight import Tensor
from rushlight.ops import kernels

POOLS: dict[str, Callable[[Tensor], Tensor | tuple[Tensor, ...]]] = {
    "max": lambda x: F.max_pool2d(x, 2),
    "max, padded": lambda x: F.max_pool2d(x, 3, 2, 1),
    "max, to the end": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "max, dilated": lambda x: F.max_pool2d(x, 3, 1, 1, 2),
    "places": lambda x: F.max_pool2d(x, (2, 3), return_indices=True),
    "places, padded": lambda x: F.max_pool2d(x, 3, 2, 1, 1, return_indices=True),
    "mean": lambda x: F.avg_pool2d(x, 2),
    "mean, padded": lambda x: F.avg_pool2d(x, 3, 1, 1),
    "mean of what is inside": lambda x: F.avg_pool2d(x, 3, 2, 1, True, False),
    "mean by a number": lambda x: F.avg_pool2d(x, 2, divisor_override=3),
    "shares": lambda x: F.adaptive_avg_pool2d(x, (4, 3)),
    "shares of all columns": lambda x: F.adaptive_avg_pool2d(x, (2, 1)),
    "shares of few": lambda x: F.adaptive_avg_pool2d(x, (9, 9)),
    "places of shares": lambda x: F.adaptive_max_pool2d(x, (4, 3), return_indices=True),
}


@pytest.mark.parametrize("name", POOLS)
def test_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = list[str]()
    kernel = kernels.family("windows.last_windows")
    for each in ("maxima", "means"):
        own = getattr(kernel, each)
        monkeypatch.setattr(
            kernel, each, lambda *a, own=own, **k: (taken.append("here"), own(*a, **k))[1]
        )
    for shape in ((2, 64, 28, 28), (1, 8, 7, 9), (3, 19, 12, 5)):
        x = torch.randn(shape)
        x[0, 3, 2, 2], x[0, 4], x[0, 5, 1:3] = math.nan, -math.inf, 1.0
        for _ in range(3):
            made = POOLS[name](x.to(memory_format=torch.channels_last))
            wanted = POOLS[name](x)
            pairs = [(made, wanted)] if isinstance(made, Tensor) else zip(made, wanted, strict=True)
            for one, other in pairs:
                assert one.is_contiguous(memory_format=torch.channels_last)
                np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert taken


def test_few_channels_are_pooled_as_ever() -> None:
    x = torch.randn(2, 3, 9, 9)
    y = x.to(memory_format=torch.channels_last)
    assert torch.equal(F.max_pool2d(x, 2), F.max_pool2d(y, 2))
    assert torch.equal(F.max_pool2d(x[:, :, ::2], 2), F.max_pool2d(y[:, :, ::2], 2))
