"""Functions with several declared signatures (`torch.jit._overload`): which default counts."""

# ruff: noqa: F811

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


@torch.jit._overload
def scaled(x: int, by: int = 3) -> int: ...
@torch.jit._overload
def scaled(x: float, by: float = 2.5) -> float: ...
def scaled(x: Any, by: Any) -> Any:
    return x * by


@torch.jit._overload
def shifted(x: int, by: int = 9) -> int: ...
@torch.jit._overload
def shifted(x: float, by: int = ...) -> float: ...  # type: ignore[assignment]
def shifted(x: Any, by: int = 4) -> Any:
    return x + by


@torch.jit._overload
def strict(x: int, by: int) -> int: ...
@torch.jit._overload
def strict(x: float, by: int = ...) -> float: ...  # type: ignore[assignment]
def strict(x: Any, by: Any) -> Any:
    return x - by


def all_of_them(n: int, x: float) -> tuple[int, float, int, float, int, float]:
    return scaled(n), scaled(x), shifted(n), shifted(x), strict(n, 1), strict(x, 1)


def test_a_declared_default_counts_where_the_body_has_none() -> None:
    assert torch.jit.script(all_of_them)(2, 2.0) == (6, 5.0, 6, 6.0, 1, 1.0)


def test_given_arguments_come_before_defaults() -> None:
    def given(n: int, x: float) -> tuple[int, float, int]:
        return scaled(n, 5), scaled(x, by=5.0), shifted(n, by=1)

    assert torch.jit.script(given)(2, 2.0) == (10, 10.0, 3)


def test_without_any_default_an_argument_is_missing() -> None:
    def missing_of_numbers(n: int) -> int:
        return strict(n)

    def missing_of_floats(x: float) -> float:
        return strict(x)

    for function in (missing_of_numbers, missing_of_floats):
        with pytest.raises(RuntimeError, match="by"):
            torch.jit.script(function)
