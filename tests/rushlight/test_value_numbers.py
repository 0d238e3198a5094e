"""Values without names are numbered as torch numbers them."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


def with_negative_literal(x: torch.Tensor) -> Any:
    return torch.chunk(x, 5, -1)


def past_an_overload_with_a_default(x: torch.Tensor) -> Any:
    return torch.std(x, dim=1)


def past_too_many_arguments(x: torch.Tensor) -> Any:
    return torch.prod(x, 0)


def with_two_negative_literals(x: torch.Tensor) -> Any:
    return x.transpose(-1, -2)


EXPECTED = {
    with_negative_literal: ("%2", "%5", "%6"),
    past_an_overload_with_a_default: ("%x.1", "%4", "%5", "%6", "%7"),
    past_too_many_arguments: ("%2", "%4", "%5", "%6"),
    with_two_negative_literals: ("%4", "%7", "%8"),
}


@pytest.mark.parametrize("function", EXPECTED, ids=lambda f: f.__name__)
def test_dropped_values_take_numbers(function: Any) -> None:
    text = str(torch.jit.script(function).graph)
    for name in EXPECTED[function]:
        assert name in text.replace(",", " ").replace(")", " ").split() or f"({name}" in text
    last = EXPECTED[function][-1]
    assert f"return ({last})" in text
