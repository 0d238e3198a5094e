"""Tensors that a traced function makes of data or sizes; masks without dimensions; warnings."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor

CONSTANTS = "results are registered as constants in the trace"


def traced(function: Callable[[Tensor], object]) -> tuple[Any, str, set[str]]:
    """The trace, its nodes and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = torch.jit.trace(function, torch.ones(2, 2))
    said = [str(warning.message) for warning in caught]
    makers = {text.partition(" ")[0] for text in said if CONSTANTS in text}
    return made, re.sub(" #.*", "", str(made.graph)), makers


@pytest.mark.parametrize(
    ("make", "operators", "warned"),
    [
        (lambda x: torch.FloatTensor([0]), ["aten::to"], set()),
        (lambda x: torch.LongTensor([0, 1]), ["aten::to"], set()),
        (lambda x: torch.Tensor([3.0]), ["aten::to"], {"torch.Tensor"}),
        (lambda x: x.new([1, 2]), ["aten::to"], set()),
        (lambda x: x.new_tensor([1, 2]), ["aten::to", "aten::detach"], set()),
        (lambda x: torch.tensor([1, 2]), ["aten::to", "aten::detach"], {"torch.tensor"}),
        (lambda x: torch.as_tensor([1, 2]), ["aten::to"], {"torch.as_tensor"}),
        (lambda x: torch.from_numpy(np.ones(2)), ["aten::lift_fresh"], {"torch.from_numpy"}),
        (lambda x: torch.FloatTensor(2, 2).fill_(1), ["aten::empty", "aten::fill_"], set()),
        (lambda x: torch.Tensor(2, 2).zero_(), ["aten::empty", "aten::zero_"], {"torch.Tensor"}),
        (lambda x: x.new(2).zero_(), ["aten::empty", "aten::zero_"], set()),
    ],
)
def test_what_is_made_in_a_trace_may_be_given_back(
    make: Callable[[Tensor], Tensor], operators: list[str], warned: set[str]
) -> None:
    made, shown, said = traced(lambda x: (x + 1, make(x)))
    assert re.findall(r"aten::\w+", shown)[1:] == operators
    assert said == warned
    assert made(torch.zeros(1))[1].tolist() == make(torch.ones(2, 2)).tolist()


def test_a_tensor_of_sizes_is_no_constant() -> None:
    made, shown, _ = traced(lambda x: torch.FloatTensor(2, 2).fill_(1) + x)
    assert "= aten::empty(%3, %4, %5, %6, %7, %8)" in shown
    kept = made(torch.zeros(1))
    kept.fill_(7)
    assert made(torch.zeros(1)).tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("number", [2.0, -2.0])
def test_a_mask_without_dimensions(number: float) -> None:
    def chosen(x: Tensor) -> Tensor:
        total = x.sum()
        return total[total > 0]

    def written(x: Tensor) -> Tensor:
        total = x.sum()
        total[total > 0] = 9.0
        return total

    given = torch.tensor([number])
    for function in (chosen, written):
        assert traced(function)[0](given).tolist() == function(given).tolist()


def test_a_warning_of_a_script_is_shown_in_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    @torch.jit.script  # type: ignore[untyped-decorator]
    def warns() -> None:
        for _ in range(3):
            warnings.warn("often", stacklevel=2)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *rest: print(message)  # type: ignore[assignment]
        warns()
        warns()
    assert capsys.readouterr().out == "often\noften\n"
