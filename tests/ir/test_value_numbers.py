"""Values without names are numbered as torch numbers them."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


def with_negative_literal(x: torch.Tensor) -> list[torch.Tensor]:
    return torch.chunk(x, 5, -1)


def past_an_overload_with_a_default(x: torch.Tensor) -> torch.Tensor:
    return torch.std(x, dim=1)


def past_too_many_arguments(x: torch.Tensor) -> torch.Tensor:
    return torch.prod(x, 0)


def with_two_negative_literals(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(-1, -2)


@torch.jit.script
def length(items: list[int], pair: tuple[list[str], float] | None = None) -> int:
    return len(items)


def with_an_empty_list() -> int:
    return length([])


def with_an_empty_list_in_a_tuple(x: torch.Tensor) -> int:
    return length([1], ([], x))


EXPECTED = {
    with_an_empty_list: "prim::CallFunction(%3, %1, %2)",
    with_an_empty_list_in_a_tuple: "prim::CallFunction(%9, %2, %8)",
    with_negative_literal: "aten::chunk(%x.1, %2, %5)",
    past_an_overload_with_a_default: "aten::std(%x.1, %4, %5, %6)",
    past_too_many_arguments: "aten::prod(%x.1, %2, %4, %5)",
    with_two_negative_literals: "aten::transpose(%x.1, %4, %7)",
}


@pytest.mark.parametrize("function", EXPECTED, ids=lambda f: f.__name__)
def test_dropped_values_take_numbers(function: Any) -> None:
    assert EXPECTED[function] in str(torch.jit.script(function).graph)
