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

__all__ = ["EXPORTS", "Form", "exports"]

Form = Callable[..., Any]
F = TypeVar("F", bound=Form)

EXPORTS: Final[dict[str, Form]] = {}
"""By operator, `aten::relu`."""


def exports(*operators: str) -> Callable[[F], F]:
    """Declare the decorated function to give the ONNX form of operators."""

    def declare(form: F) -> F:
        for operator in operators:
            EXPORTS[operator] = form
        return form

    return declare
