"""What is left out because it changes nothing, and what only looks like it."""

from __future__ import annotations

import pytest

import rushlight as torch


def compared(x: torch.Tensor) -> torch.Tensor:
    above = x > 1
    below = x < 2
    return above & below


def by_one(x: torch.Tensor) -> torch.Tensor:
    a = torch.remainder(x, 1)
    b = torch.floor_divide(x, 1)
    c = torch.fmod(x, 1)
    d = torch.eq(x, 1)
    e = torch.ge(x, 1)
    return a + b + c + d + e


def neutral(x: torch.Tensor) -> torch.Tensor:
    a = x + 0
    b = a * 1
    c = b - 0
    return c * 2


@pytest.mark.parametrize("function", [compared, by_one, neutral])
def test_scripted_is_eager(function: object) -> None:
    assert callable(function)
    x = torch.tensor([-1.5, 0.5, 1.0, 1.5, 2.5])
    scripted = torch.jit.script(function)
    for _ in range(3):
        assert scripted(x).tolist() == function(x).tolist()


def test_neutral_arithmetic_is_left_out() -> None:
    kinds = [node.kind() for node in torch.jit.script(neutral).graph.nodes()]
    assert kinds.count("aten::mul") <= 2
