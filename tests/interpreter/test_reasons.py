"""What run-time diagnostics say beyond the failing expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.frontend.diagnostics.diagnostics import Diagnostic


class Half(nn.Module):
    def __init__(self, n: int, m: int):
        super().__init__()
        self.proj = nn.Linear(n, m)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.proj(x)


class Both(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = Half(4, 8)
        self.two = Half(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        middle = self.one(x)
        return self.two(middle)


def choose(x: torch.Tensor) -> torch.Tensor:
    if x > 0:
        return x
    return -x


def last(xs: list[int]) -> int:
    place = len(xs)
    return xs[place]


def asks(x: torch.Tensor) -> bool:
    return x.is_nonzero()


def shaped(x: torch.Tensor) -> torch.Tensor:
    return x.view(3, 5)


def failure(call: Callable[[], Any]) -> Diagnostic:
    with pytest.raises(RuntimeError) as caught:
        call()
    (diagnostic,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert isinstance(diagnostic, Diagnostic)
    return diagnostic


@pytest.mark.parametrize("plans", ["now", "off"])
def test_layer_and_origin(plans: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_PLAN", plans)
    scripted = torch.jit.script(Both())
    found = failure(lambda: scripted(torch.ones(3, 4)))
    assert found.message == "`two.proj` takes inputs with 6 features, but got 8"
    assert [(v.expression, v.value) for v in found.values] == [
        ("x", f"float32[3, 8], from `middle = self.one(x)` (line {_line('middle =')})"),
        ("self.proj.weight", "float32[2, 6], needs an input of shape [*, 6]"),
    ]
    (built,) = found.secondary
    assert (built.text, built.span.text) == ("`two.proj` was built here", "nn.Linear(n, m)")


def _line(text: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.strip().startswith(text))


def test_variables_of_a_condition_and_advice() -> None:
    scripted = torch.jit.script(choose)
    found = failure(lambda: scripted(torch.tensor([1.0, -1.0])))
    assert [v.expression for v in found.values] == ["x", "x > 0"]
    assert [h.text for h in found.helps] == [
        "to choose element by element, use `torch.where(x > 0, ..., ...)`",
        "to test the whole tensor, write `(x > 0).all()` or `(x > 0).any()`",
    ]


def test_where_an_index_was_computed() -> None:
    scripted = torch.jit.script(last)
    with pytest.raises(RuntimeError) as caught:
        scripted([1, 2, 3])
    (found,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert [(label.span.text, label.text) for label in found.secondary] == [
        ("len(xs)", "`place` is 3")
    ]


def shifted(x: torch.Tensor, by=None) -> torch.Tensor:  # type: ignore[no-untyped-def]
    return x if by is None else x + by


@pytest.mark.parametrize("plans", ["now", "off"])
def test_a_parameter_that_may_be_none_without_saying_so(
    plans: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHLIGHT_PLAN", plans)
    scripted = torch.jit.script(shifted)
    assert scripted(torch.ones(1), torch.ones(1)).item() == 2
    found = failure(lambda: scripted(torch.ones(1)))
    assert found.code == "none-value"
    ((edit,),) = (help.edits for help in found.helps)
    assert (edit.span.text, edit.text) == ("=", ": torch.Tensor | None = ")


def declared(x: torch.Tensor, by: torch.Tensor = None) -> torch.Tensor:  # type: ignore[assignment]
    return x + by


def test_a_declared_tensor_is_not_declared_anew() -> None:
    assert failure(lambda: torch.jit.script(declared)(torch.ones(1))).helps == ()


def at(xs: list[int], place: int) -> int:
    return xs[place]


def test_an_argument_that_is_an_index_was_not_computed() -> None:
    assert failure(lambda: torch.jit.script(at)([1, 2], 7)).secondary == ()


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Half(4, 2)

    def forward(self, flag: int, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


def test_an_argument_of_the_call_is_told_by_its_place() -> None:
    found = failure(lambda: torch.jit.script(Outer())(1, torch.ones(30, 5)))
    told = {v.expression: v.value for v in found.values}
    assert told["x"] == "float32[30, 5], the second argument of the call"


def long_winded(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    return torch.mm(first.transpose(0, 1).contiguous().transpose(0, 1).contiguous().abs(), second)


def test_long_expressions_are_not_repeated() -> None:
    found = failure(lambda: torch.jit.script(long_winded)(torch.ones(2, 3), torch.ones(2, 3)))
    assert [v.expression for v in found.values] == ["second"]


def test_advice_names_the_argument_by_the_operators_own_name() -> None:
    found = failure(lambda: torch.jit.script(asks)(torch.ones(3)))
    assert found.code == "ambiguous-condition"
    assert [h.text for h in found.helps] == [
        "to choose element by element, use `torch.where(x, ..., ...)`",
        "to test the whole tensor, write `x.all()` or `x.any()`",
    ]


def test_large_values_without_an_array_are_told_by_their_shape() -> None:
    x = torch.ones(1, dtype=torch.complex64).conj().expand(10**13)
    found = failure(lambda: torch.jit.script(shaped)(x))
    assert [v.value for v in found.values if v.expression == "x"] == ["complex64[10000000000000]"]
