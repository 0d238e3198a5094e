"""`std_mean` and `var_mean`: what is known of their calls, and numbers that are not finite."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rushlight as torch

TIMES = 60
"""Calls after which what they run is known beforehand."""
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [None, 0, 1, (0, 2), 2])
@pytest.mark.parametrize("name", ["std", "var"])
def test_both_are_those_of_single_operators(name: str, dim: Any, dtype: Any) -> None:
    torch.manual_seed(1)
    both, one = getattr(torch, f"{name}_mean"), getattr(torch, name)
    for _ in range(TIMES):
        x = torch.randn(5, 6, 7).to(dtype)
        spread, middle = both(x, dim=dim, correction=2, keepdim=True)
        assert spread.dtype is middle.dtype is dtype
    wide = x.double()
    want = one(wide, dim=dim, correction=2, keepdim=True)
    close = {"rtol": 1e-2 if dtype is torch.bfloat16 else 1e-3, "atol": 1e-3}
    assert torch.allclose(spread.double(), want, **close)
    assert torch.allclose(middle.double(), wide.mean(dim, keepdim=True), **close)
    assert torch.equal(spread, one(x, dim=dim, correction=2, keepdim=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_infinite_number_is_seen_when_finite_ones_came_often(dtype: Any) -> None:
    x = torch.arange(12, dtype=dtype).reshape(3, 4)
    for _ in range(TIMES):
        torch.std_mean(x, dim=1)
    x[0, 3] = x[1, 1] = math.inf
    spread, middle = torch.std_mean(x, dim=1)
    assert spread.isnan().tolist() == [True, True, False]
    assert middle.tolist()[0] == math.inf  # only the last one: the mean is what was added to it
    assert middle.isnan().tolist() == [False, True, False]
    assert middle[2] == 9.5


def test_one_element_without_freedom_warns_and_keeps_its_mean() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        spread, middle = torch.std_mean(torch.tensor([3.0]))
    assert spread.isnan()
    assert middle == 3


@pytest.mark.parametrize("dims", [None, (0, 2), 1])
def test_many_numbers_that_lie_otherwise(dims: Any) -> None:
    torch.manual_seed(2)
    x = torch.randn(40, 50, 60) + 3
    for view in (x.permute(2, 0, 1), x[:, ::3], x.flip(0)):
        for made, want in zip(
            torch.std_mean(view, dims), torch.std_mean(view.double(), dims), strict=True
        ):
            assert made.shape == want.shape
            assert torch.allclose(made.double(), want, rtol=1e-6, atol=1e-6)
