"""Numbers before tensors, in calls that come often: they are as the first ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.kernels import TRIALS

OFTEN = 3 * TRIALS
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8]
CALLS: list[Callable[[Any, Any], Any]] = [
    torch.add,
    torch.sub,
    torch.mul,
    torch.div,
    torch.true_divide,
    torch.floor_divide,
    torch.remainder,
    lambda a, b: a // b,
    lambda a, b: a % b,
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS)
def test_results_are_those_of_the_first_call(call: Callable[[Any, Any], Any], dtype: Any) -> None:
    x = torch.arange(1, 8).to(dtype)
    for number in (7, 2.3, 0, -3):
        first = call(number, x)
        for _ in range(OFTEN):
            made = call(number, x)
            assert made.dtype is first.dtype
            assert torch.equal(made, first)


def test_other_numbers_dtypes_and_sizes_are_other_calls() -> None:
    x = torch.arange(1.0, 8.0)
    for number in range(OFTEN):
        assert torch.equal(torch.add(number, x), x + number)
        assert torch.equal(torch.mul(number / 3, x), x * (number / 3))
        wide = torch.arange(1, 8 + number % 3)
        assert torch.equal(torch.sub(number, wide), number - wide)
        assert torch.sub(number, wide).dtype is torch.int64
        single = torch.tensor(2)
        assert torch.add(0.5, single).item() == 2.5


def test_gradients_are_recorded() -> None:
    x = torch.arange(1.0, 8.0).requires_grad_()
    for _ in range(OFTEN):
        x.grad = None
        torch.sub(3, x).sum().backward()
        torch.div(2.0, x).sum().backward()
        torch.testing.assert_close(x.grad, -1 - 2 / x.detach() ** 2)


def test_tensors_are_not_slower_for_numbers_before_them() -> None:
    x, y = torch.arange(1.0, 8.0), torch.arange(2.0, 9.0)
    for _ in range(OFTEN):
        torch.floor_divide(x, y)
    kept = torch.floor_divide.shortcuts.get((torch.Tensor, torch.Tensor))
    torch.floor_divide(9, y)
    assert torch.floor_divide.shortcuts.get((torch.Tensor, torch.Tensor)) is kept


def test_arguments_that_do_not_fit_are_told_of_then_as_well() -> None:
    x = torch.arange(1.0, 8.0)
    for _ in range(OFTEN):
        torch.add(1, x)
    with pytest.raises(TypeError):
        torch.add("1", x)
    for _ in range(OFTEN):
        with pytest.raises(RuntimeError, match="Subtraction, the `-` operator, with a bool"):
            torch.sub(1, x > 2)
