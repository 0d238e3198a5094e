"""Odd arguments of smaller operators: what they give and how they are refused, as in torch 2.13."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

import rushlight as torch

REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "whole frequencies": (
        lambda: torch.fft.rfftfreq(4, dtype=torch.int64),
        RuntimeError,
        "rfftfreq requires a floating point or complex dtype",
    ),
    "fewer frequencies than none": (
        lambda: torch.fft.fftfreq(-1),
        RuntimeError,
        "Trying to create tensor with negative dimension -1: [-1]",
    ),
    "gamma of whole numbers": (
        lambda: torch._standard_gamma(torch.tensor([1])),
        NotImplementedError,
        "\"gamma_cpu\" not implemented for 'Long'",
    ),
    "norms of whole numbers": (
        lambda: torch.norm_except_dim(torch.tensor([[1]]), 2, 0),
        RuntimeError,
        "norm(): input dtype should be either floating point or complex. Got Long instead.",
    ),
    "a table of one dimension": (
        lambda: torch.embedding_renorm_(torch.ones(3), torch.tensor([0]), 0.5, 2.0),
        RuntimeError,
        "Expected 2-dimensional tensor, but got 1-dimensional tensor for argument #1 'self'",
    ),
    "a row that a table has not": (
        lambda: torch.embedding_renorm_(torch.ones(3, 2), torch.tensor([5]), 0.5, 2.0),
        IndexError,
        "select(): index 5 out of range for tensor of size [3, 2] at dimension 0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_frequencies_of_no_spacing() -> None:
    found = torch.fft.fftfreq(4, 0.0).tolist()
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf, -math.inf]
    assert torch.fft.rfftfreq(0).isnan().all()


def test_gamma_numbers_of_odd_shapes() -> None:
    torch.manual_seed(1)
    shapes = torch.tensor([0.0, -1.0, -0.5, math.nan, math.inf, 1e30])
    least = 1.1754943508222875e-38
    found = torch._standard_gamma(shapes).tolist()
    assert found == pytest.approx([least, least, 3.3926498889923096, least, math.inf, 1e30])
    assert torch._sample_dirichlet(torch.zeros(2)).tolist() == [0.5, 0.5]


def test_a_row_counted_from_the_end_is_shortened() -> None:
    table = torch.ones(2, 2)
    torch.embedding_renorm_(table, torch.tensor([-1]), 0.5, 2.0)
    assert table.tolist() == [[1, 1], [0.3535533845424652] * 2]
