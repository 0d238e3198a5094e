"""Modules made in script, called without a `forward`; scripted classes with a base class."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.frontend.diagnostics.diagnostics import Diagnostic


class Helper(nn.Module):
    @torch.jit.export
    def forwrad(self, x: int) -> int:
        return x


class Caller(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.helper = Helper()

    def forward(self, x: int) -> int:
        return self.helper(x)


class Maker(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.Linear(2, 2)(x)


class Base:
    def __init__(self) -> None:
        self.x = 1


class Derived(Base):
    def f(self) -> int:
        return self.x


def refused(target: object) -> Diagnostic:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the diagnostic says which
        torch.jit.script(target)
    (diagnostic,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert isinstance(diagnostic, Diagnostic)
    return diagnostic


def test_each_has_its_code() -> None:
    assert refused(Maker()).code == "module-constructed-inside"
    assert refused(Derived).code == "class-base"
    found = refused(Caller())
    assert (found.code, found.helps[0].text) == (
        "missing-forward",
        "did you mean its method `forwrad`?",
    )


class Plus(nn.Module):
    def plus(self, x: int) -> int:
        return x + 1

    def forward(self, x: int) -> int:
        return Plus.plus(self, x)


class Twice(nn.Module):
    @staticmethod
    def twice(x: int) -> int:
        return x * 2

    def forward(self, x: int) -> int:
        return Twice.twice(x)


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.ReLU(), nn.ReLU()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.parts[1:][0](x)


def test_static_methods_alone_are_read_of_a_class_of_modules() -> None:
    told = "attribute lookup is not defined on python value of type 'type'"
    assert told in refused(Plus()).torch_message
    assert torch.jit.script(Twice())(4) == 8


def test_modules_out_of_a_slice_are_not_called() -> None:
    assert "has no attribute or method '__call__'" in refused(Parts()).torch_message
