"""Numbers among the arguments, however large, do not say how long an operator takes."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.arithmetic import polynomials
from rushlight.ops.special_functions.gamma import zeta

F: Any = torch.nn.functional
LONG = 2**30


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: F.max_pool1d(x, LONG, padding=LONG // 2), [[[4.0]]]),
        (lambda x: F.max_pool1d(x, LONG, padding=LONG // 2, return_indices=True)[1], [[[3]]]),
        (lambda x: F.avg_pool1d(x, LONG, padding=LONG // 2, count_include_pad=False), [[[2.5]]]),
        (lambda x: F.avg_pool1d(x, 4 * LONG // 8, padding=LONG // 4), [[[10 / (LONG // 2)]]]),
        (lambda x: F.adaptive_max_pool1d(x, 1), [[[4.0]]]),
    ],
)
def test_windows_longer_than_the_tensor(call: Callable[[Any], Any], expected: Any) -> None:
    assert call(torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])).tolist() == expected


def test_few_long_windows_sum_as_torch_does() -> None:
    x = torch.linspace(0, 1, 1001).reshape(1, 1, -1)
    expected = [[[0.1665000170469284, 0.5, 0.8335000276565552]]]
    assert F.adaptive_avg_pool1d(x, 3).tolist() == expected


def test_the_last_nan_is_the_largest_in_a_long_window() -> None:
    x = torch.tensor([[[1.0, float("nan"), 5.0, float("nan"), 2.0]]])
    assert F.max_pool1d(x, 5, return_indices=True)[1].item() == 3


def test_windows_outside_hold_the_lowest_value_where_they_begin() -> None:
    x = torch.ones(1, 1, 2, 6)
    values, places = F.max_pool2d(x, (2, 3), (1, 4), (1, 0), (3, 3), True, True)
    assert (values.tolist(), places.tolist()) == ([[[[-np.inf]]]], [[[[12]]]])


@pytest.mark.parametrize("power", [-(2**40), 5, 2**40])
def test_powers_with_gradients_are_squarings(power: int) -> None:
    x = torch.tensor([[0.0, 1.0], [1.0, 0.0]], requires_grad=True)
    result = torch.linalg.matrix_power(x, power)
    assert torch.equal(result, torch.eye(2) if power % 2 == 0 else x)
    assert result.requires_grad


def test_mvlgamma_of_many_dimensions() -> None:
    few = torch.tensor([-2.3, 0.5, 7.0, 20.0, math.inf], dtype=torch.float64)
    terms = sum(torch.lgamma(few - j / 2) for j in range(9))
    assert torch.allclose(torch.mvlgamma(few, 9), terms + 18 * math.log(math.pi), rtol=1e-13)
    many = torch.full((100,), 6e5, dtype=torch.float64)
    begun = time.perf_counter()
    found = torch.special.multigammaln(many, 10**6)
    assert time.perf_counter() - begun < 20
    assert torch.allclose(found, torch.full_like(many, 4435737260120.81), rtol=1e-14)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        torch.special.multigammaln(many, 2**62)


def test_the_gradient_of_mvlgamma() -> None:
    x = torch.tensor([5.0, 6.5], dtype=torch.float64, requires_grad=True)
    torch.mvlgamma(x, 3).sum().backward()
    expected = sum(torch.digamma(x.detach() - j / 2) for j in range(3))
    assert torch.allclose(x.grad, expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", ["legendre_polynomial_p", "laguerre_polynomial_l"])
def test_degrees_that_are_out_of_reach(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polynomials, "_MOST", 1000)
    with pytest.raises(RuntimeError, match="degree 1000000000 is out of reach"):
        getattr(torch.special, name)(torch.tensor([0.5]), 1e9)


def test_zeta_far_below_zero_is_what_it_is_near() -> None:
    s, q = np.array([2.0, 3.0, 4.0]), -1001.25
    near = zeta(s, np.array(q + 2))
    np.testing.assert_allclose(zeta(s, np.array(q)), near + q**-s + (q + 1) ** -s, rtol=1e-12)
    assert zeta(np.array(2.0), np.array(-1e9 - 0.5)) == pytest.approx(np.pi**2, rel=1e-8)


OVERFLOW = "numel: integer multiplication overflow"
BIG = "Storage size calculation overflowed with sizes="


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: torch.empty(2**40, 2**40), BIG + "[1099511627776, 1099511627776]"),
        (lambda: torch.zeros(2**62, 2**62, 0), BIG + f"[{2**62}, {2**62}, 0]"),
        (lambda: torch.arange(0, 2**62), BIG + f"[{2**62}]"),
        (lambda: torch.randperm(2**62), BIG + f"[{2**62}]"),
        (lambda: torch.ones(3).repeat(2**40, 2**40), BIG + f"[{2**40}, {3 * 2**40}]"),
        (lambda: torch.eye(2**40), OVERFLOW),
        (lambda: torch.combinations(torch.ones(40), 20), OVERFLOW),
        (lambda: torch.ones(3).resize_(2, -3), OVERFLOW),
        (lambda: torch.empty_strided((2**40, 2**40), (0, 0)), OVERFLOW),
        (lambda: torch.zeros([1] * 70), "tensors of more than 64 dimensions are not supported"),
        (lambda: torch.ones(1).expand([1] * 70), "tensors of more than 64 dimensions"),
    ],
)
def test_absurd_sizes_are_refused_in_torchs_words(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match="^" + re.escape(message)):
        call()


def test_a_huge_view_is_printed() -> None:
    assert str(torch.ones(1).expand(2**40)) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"
