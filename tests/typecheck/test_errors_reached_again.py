"""What uses something that failed: one report of the cause, and no failure of the compiler."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn

no_value: Any = object()


def bad(x):  # type: ignore[no-untyped-def]
    return no_value(x)


def pairs(x):  # type: ignore[no-untyped-def]
    return dict(zip(bad(x), bad(x)))  # noqa: B905


def twice(x):  # type: ignore[no-untyped-def]
    a = bad(x)
    return a, pairs(x)


class Unmade:
    def __init__(self, x: int):
        self.q = no_value

    def get(self, x: int):  # type: ignore[no-untyped-def]
        return dict(zip(self.q, self.q))  # noqa: B905


def makes_one(x: int):  # type: ignore[no-untyped-def]
    return Unmade(x).get(x)


class Inner(nn.Module):
    def __init__(self, kind: object):
        super().__init__()
        self.kind = kind

    def helped(self, x):  # type: ignore[no-untyped-def]
        return dict(zip(no_value, no_value))  # noqa: B905

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.helped(x)


class Both(nn.Module):
    """Its parts are of two types, so the same source is compiled twice."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = Inner(1), Inner("x")

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.one(x), self.other(x)


@pytest.mark.parametrize("program", [twice, makes_one, Both])
def test_the_cause_alone_is_reported(program: Any) -> None:
    with pytest.raises(RuntimeError, match="'object' cannot be used as a") as caught:
        torch.jit.script(program() if isinstance(program, type) else program)
    (diagnostic,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert diagnostic.code == "global-value"


class Odd:
    """No script class: its method cannot be compiled."""

    def __init__(self, n: int):
        self.n = n

    def f(self, x: int) -> int:
        import os

        return x + len(os.sep)


class Holds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.odd = Odd(1)
        self.k = 3

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.k


class Reads(Holds):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.odd.n


def test_attributes_whose_classes_fail_are_none() -> None:
    for _ in range(2):
        assert torch.jit.script(Holds())(torch.ones(1)).item() == 4
    missing = "Module 'Reads' has no attribute 'odd' .*we failed to convert Python type: "
    for _ in range(2):
        with pytest.raises(RuntimeError, match=missing):
            torch.jit.script(Reads())
