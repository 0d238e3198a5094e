"""What is left of divisions of float32, by kernels: exact, as C's `fmod` gives it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family

COUNT = 20_000
ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38, 1.5, -2.0, 1e-38, 0.25]


def pairs(kind: str) -> Any:
    random = np.random.default_rng(3)
    if kind == "odd":
        x, y = (np.tile(each.ravel(), 60) for each in np.meshgrid(ODD, ODD))
    elif kind == "bits":
        x, y = random.integers(0, 1 << 32, (2, COUNT), np.uint32).view(np.float32)
    elif kind == "multiples":
        y = random.integers(1, 50, COUNT) * 0.125
        x = y * random.integers(-1_000_000, 1_000_000, COUNT)
    else:
        x, y = random.normal(size=COUNT) * 1e5, random.normal(size=COUNT)
    return np.float32(x), np.float32(y)


@pytest.mark.skipif(family("elementwise.arrays") is None, reason="no native code here")
@pytest.mark.parametrize("kind", ["odd", "bits", "multiples", "near"])
def test_what_is_left_of_a_division_is_exact(kind: str) -> None:
    x, y = pairs(kind)
    with np.errstate(all="ignore"):
        rest = np.fmod(x, y)
        wanted = np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
    for name, right in (("fmod", rest), ("remainder", wanted)):
        made = getattr(torch, name)(torch.from_numpy(x), torch.from_numpy(y)).numpy()
        same = (made.view(np.int32) == right.view(np.int32)) | (np.isnan(made) & np.isnan(right))
        assert same.all()


def test_whole_numbers_divide_as_ever_once_it_is_learned_and_zeros_are_told() -> None:
    random = np.random.default_rng(8)
    for dtype in (np.int64, np.int32):
        for _ in range(120):
            a = random.integers(-50, 50, 40).astype(dtype)
            b = random.integers(1, 9, 40).astype(dtype) * random.choice([-1, 1], 40).astype(dtype)
            x, y = torch.from_numpy(a), torch.from_numpy(b)
            assert np.array_equal((x // y).numpy(), a // b)
            assert np.array_equal((x % y).numpy(), a % b)
            cut = torch.div(x, y, rounding_mode="trunc").numpy()
            assert np.array_equal(cut, np.trunc(a / b).astype(dtype))
        y[39] = 0
        for divide in (torch.floor_divide, torch.remainder, torch.fmod):
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                divide(x, y)
