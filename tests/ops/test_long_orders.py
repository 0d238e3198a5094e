"""Long rows in order by their digits, those of 16-bit floats and int32 as wider numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels

NAMES = "bfloat16 float16 float32 float64 int64 int32 int16 uint8".split()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("size", [1, 5, 100, 9000, 70_000])
def test_orders_are_stable(name: str, descending: bool, size: int) -> None:
    dtype = getattr(torch, name)
    x = torch.from_numpy(np.random.default_rng(size).standard_normal(size) * 40).to(dtype)
    if dtype.is_floating_point and size > 8:
        x[3:8] = torch.tensor([math.nan, -0.0, 0.0, math.inf, -math.inf]).to(dtype)
    wide = x.double().numpy()
    key = -wide if descending else wide
    is_number = ~np.isnan(wide)
    last = is_number if descending else ~is_number
    wanted = np.lexsort((np.arange(size), np.where(is_number, key, 0.0), last))
    values, places = torch.sort(x, 0, descending)
    assert values.dtype == dtype
    np.testing.assert_array_equal(places.numpy(), wanted)
    made, right = values.double().numpy(), wide[wanted]
    np.testing.assert_array_equal(made, right)
    numbers = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(made[numbers]), np.signbit(right[numbers]))
    np.testing.assert_array_equal(torch.argsort(x, 0, descending).numpy(), wanted)
    if not descending:
        np.testing.assert_array_equal(torch.msort(x).double().numpy(), right)


def test_long_rows_are_ordered_by_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    digits, taken = kernels.family("ordering.digit_orders"), list[int]()
    own = digits.in_order

    def in_order(x: np.ndarray, *rest: int, descending: bool) -> object:
        taken.append(x.size)
        return own(x, *rest, descending=descending)

    monkeypatch.setattr(digits, "in_order", in_order)
    torch.randn(20_011).half().sort()
    torch.randint(9, (20_012,)).sort()
    assert {20_011, 20_012} <= {*taken}
