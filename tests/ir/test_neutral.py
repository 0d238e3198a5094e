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


SUMS = [
    *("(n {a} 3) {b} 2", "(n {a} 2) {b} 2", "(3 {a} n) {b} 2", "2 {b} (n {a} 3)"),
    *("(n {a} 0) {b} 1", "(n {a} 1) {b} 0"),
]


@pytest.mark.parametrize("text", SUMS)
@pytest.mark.parametrize("a", "+-*")
@pytest.mark.parametrize("b", ["+", "-", "*", "//", "%"])
def test_numbers_that_follow_each_other_are_put_together_as_python_does(
    text: str, a: str, b: str
) -> None:
    written = text.format(a=a, b=b)
    if b in "//%" and written.endswith("0"):
        return
    unit = torch.jit.CompilationUnit(f"def f(n: int) -> int:\n    return {written}\n")
    for n in (-7, -4, 4, 10):
        assert unit.f(n) == eval(written, {"n": n}), (written, n)
