"""Numbers that operators are given: not a number, none, infinite, beyond what a dtype holds."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

import rushlight as torch

F = torch.nn.functional
ONE, PAIR, SQUARE = torch.ones(1), torch.ones(2), torch.eye(3)
HALF = PAIR.half()

REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: torch.empty(3).exponential_(nan), "exponential_ expects lambda > 0.0, but found"),
    (lambda: torch.empty(0).exponential_(nan), "exponential_ expects lambda > 0.0, but found"),
    (lambda: torch.empty(3).cauchy_(0, nan), "cauchy_ expects sigma > 0.0, but found sigma=nan"),
    (lambda: torch.empty(3).log_normal_(0, nan), "log_normal_ expects std > 0.0, but found"),
    (lambda: torch.empty(3).normal_(0, nan), "normal expects std >= 0.0, but found std nan"),
    (lambda: F.rrelu(PAIR, nan, 1.0, True), "rrelu: lower bound must be finite, got nan"),
    (lambda: F.rrelu(PAIR, 0.0, inf), "rrelu: upper bound must be finite, got inf"),
    (lambda: torch.cdist(SQUARE, SQUARE, nan), "cdist only supports non-negative p values"),
    (lambda: F.cosine_similarity(PAIR, PAIR, 0, -0.5), "eps must be non-negative, got: -0.5"),
    (lambda: F.cosine_similarity(PAIR, PAIR, 0, nan), "eps must be non-negative, got: nan"),
    (lambda: torch.renorm(SQUARE, 2, 0, nan), "renorm: expected maxnorm to be >= 0 but got nan"),
    (lambda: F.huber_loss(PAIR, PAIR, delta=nan), "huber_loss does not support non-positive"),
    (lambda: F.max_pool2d(torch.ones(1, 4, 4), -1), "kernel size should be greater than zero"),
    (lambda: F.interpolate(torch.ones(1, 1, 4), scale_factor=-1.0), r"\(W: 4\) and output \(W: -4"),
    (lambda: torch.linalg.tensorinv(SQUARE, 0), "positive integer for 'ind', but got 0"),
    (lambda: torch.histc(ONE, 3, nan, 10), r"torch.histc: range of \[nan, 10\]"),
    (lambda: torch.tensordot(SQUARE, SQUARE, 2.5), "dims to be int or tuple.* got dims=2.5"),
    (lambda: torch.count_nonzero(torch.tensor(1.0), 5), "Dimension out of range"),
    (lambda: F.hardshrink(HALF, 1e9), "value cannot be converted to type c10::Half"),
    (lambda: F.softshrink(HALF, 1e9), r"range \[0, 65504\] for input dtype Half, but found 1e\+09"),
    (
        lambda: torch.native_group_norm(torch.ones(2, 4, 3), None, None, 3, 4, 3, 2, 1e-5),
        r"Expected X.numel\(\) == N \* C \* HxW to be true, but got false",
    ),
]


@pytest.mark.parametrize(("call", "told"), REFUSED)
def test_what_cannot_be_is_refused_in_torchs_words(call: Callable[[], Any], told: str) -> None:
    with pytest.raises((RuntimeError, IndexError), match=told):
        call()


def test_more_decimals_than_a_float_has_make_no_number() -> None:
    x = torch.tensor([1.5, -2.0, 0.0])
    assert torch.round(x, decimals=400).isnan().all()
    assert torch.round(x.double(), decimals=-400).isnan().all()
    assert torch.round(x, decimals=39).isnan().all()
    assert repr(torch.round(x.double(), decimals=-30)) == repr(
        torch.tensor([0.0, -0.0, 0.0]).double()
    )


def test_normal_numbers_that_all_lie_in_zero_are_positive_zeros() -> None:
    torch.manual_seed(0)
    assert not torch.signbit(torch.normal(0.0, 0.0, (40,))).any()
    assert not torch.signbit(torch.empty(3, dtype=torch.float64).normal_(0, 0)).any()
