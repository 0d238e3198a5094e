"""`torch.fx.experimental.symbolic_shapes`: what asks about sizes gets answers for numbers."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import rushlight as torch
from rushlight.fx.experimental import symbolic_shapes as shapes


@pytest.mark.parametrize(
    ("ask", "value", "answer"),
    [
        (shapes.guard_or_false, 2 > 1, True),
        (shapes.guard_or_true, 2 < 1, False),
        (shapes.statically_known_true, True, True),
        (shapes.statically_known_false, True, False),
        (shapes.guard_int, 3, 3),
        (shapes.guard_scalar, 2.5, 2.5),
        (shapes.optimization_hint, 3, 3),
        (shapes.is_concrete_int, 3, True),
        (shapes.is_concrete_float, 3.0, True),
        (shapes.has_static_value, False, True),
        (shapes.is_symbolic, 3, False),
        (shapes.is_nested_int, 3, False),
        (shapes.has_free_symbols, (3, 4), False),
        (shapes.has_symbolic_sizes_strides, torch.ones(2), False),
    ],
)
def test_numbers_are_known(ask: Callable[[Any], object], value: object, answer: object) -> None:
    assert ask(value) == answer
    assert type(ask(value)) is type(answer)


@pytest.mark.parametrize(
    ("ask", "value", "said"),
    [
        (shapes.guard_or_false, 3, "Expected bool, got <class 'int'>"),
        (shapes.guard_bool, 3, "Expected bool, got 3"),
        (shapes.is_concrete_int, 2.5, "Expected SymInt or int, got <class 'float'>"),
        (shapes.guard_scalar, "a", "unrecognized scalar a"),
    ],
)
def test_what_is_no_number_is_not(ask: Callable[[Any], object], value: object, said: str) -> None:
    with pytest.raises(AssertionError, match=f"^{said}$"):
        ask(value)


def test_nothing_is_left_open() -> None:
    assert list(shapes.free_symbols(torch.ones(2))) == []
    assert list(shapes.free_unbacked_symbols([3, 4])) == []


def test_sizes_are_compared() -> None:
    assert shapes.sym_eq((2, 3), torch.ones(2, 3).shape) is True
    assert shapes.sym_eq([2], (2, 3)) is False
    assert shapes.sym_and(True, True, False) is False
    assert shapes.sym_or(False, True) is True


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("fx.experimental.symbolic_shapes", "ShapeEnv"),
        ("utils._sympy.numbers", "IntInfinity"),
        ("utils._sympy.value_ranges", "ValueRanges"),
    ],
)
def test_symbols_are_refused_by_name(module: str, name: str) -> None:
    with torch.as_torch():
        found = getattr(import_module(f"torch.{module}"), name)
    with pytest.raises(NotImplementedError, match=rf"{name}: belongs to torch's own tracing"):
        found()
