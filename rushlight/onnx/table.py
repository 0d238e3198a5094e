"""The table of ONNX forms: one function an operator, joined by its name.

    @exports("aten::relu")
    def relu(w: Writer, self: Item) -> Item:
        return w.op("Relu", w.tensor(self))

A function gets a `Writer` and the arguments of the operator in the order of its schema: Python's
values where they are known, operands elsewhere.  It stands for all overloads, and for the in-place
twin.  What it cannot express raises `Unsupported`, which becomes a diagnostic at the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..frontend.foundations.declared import Declared

__all__ = ["COMPLEX", "EXPORTS", "PARTS", "TAKING_COMPLEX", "Form", "exports", "exports_complex"]

Form = Callable[..., Any]
F = TypeVar("F", bound=Form)

EXPORTS: Final[Declared[str, Form]] = Declared()
"""By operator, `aten::relu`."""

COMPLEX: Final[Declared[str, Form]] = Declared()
"""The forms of calls in which there is a complex tensor or number."""

PARTS: Final[Declared[str, tuple[int, ...]]] = Declared()
"""Operators that do the same to real and imaginary parts, and the places of arguments that have
such."""

TAKING_COMPLEX: Final[Declared[str, bool]] = Declared()
"""Operators whose forms take complex operands as they are."""


def exports(
    *operators: str, parts: tuple[int, ...] | None = None, takes_complex: bool = False
) -> Callable[[F], F]:
    """Declare the decorated function to give the ONNX form of operators.

    Of complex tensors it is asked only if it `takes_complex`, or once for each part if `parts` says
    which arguments are numbers like them (a real one's imaginary part is zero).
    """
    if parts is not None:
        PARTS.put(operators, parts)
    if takes_complex:
        TAKING_COMPLEX.put(operators, True)
    return _joining(EXPORTS, operators)


def exports_complex(*operators: str) -> Callable[[F], F]:
    """Declare the decorated function to give the form of operators over complex numbers."""
    return _joining(COMPLEX, operators)


def _joining(table: Declared[str, Form], operators: tuple[str, ...]) -> Callable[[F], F]:
    def declare(form: F) -> F:
        table.put(operators, form)
        return form

    return declare
