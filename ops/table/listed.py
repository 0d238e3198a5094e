"""Operators that take a list of tensors, as functions of its elements one by one.

Calls that are known beforehand are told of arrays and numbers, not of lists of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...typecheck.types import TENSOR
from .record import Operator

__all__ = ["Listed", "listed"]

Function = Callable[..., Any]


class Listed:
    """An operator with one list of tensors: the other arguments come first, then the elements."""

    __slots__ = ("_at", "_others")

    def __init__(self, at: int, others: int) -> None:
        self._at = at
        self._others = others

    def arguments(self, values: Sequence[Any]) -> list[Any]:
        """The operator's arguments of these."""
        at, others = self._at, self._others
        return [*values[:at], list(values[others:]), *values[at:others]]

    def taken_apart(self, function: Function) -> Function:
        """A function of the operator's arguments as one of these."""
        return lambda *values: function(*self.arguments(values))

    def put_together(self, function: Function) -> Function:
        """A function of these as one of the operator's arguments."""
        at = self._at
        if not at:
            return lambda tensors, *others: function(*others, *tensors)
        if at == 1 == self._others:
            return lambda first, tensors: function(first, *tensors)
        return lambda *values: function(*values[:at], *values[at + 1 :], *values[at])

    def written(self, operands: Sequence[str]) -> str:
        """The same in the text of a call: the operator's operands as one of these."""
        at = self._at
        return ", ".join([*operands[:at], *operands[at + 1 :], f"*{operands[at]}"])


def listed(entry: Operator) -> Listed | None:
    """How an operator takes its list of tensors; None if it has none, or several."""
    types = [argument.type for argument in entry.signature.arguments]
    found = [place for place, type in enumerate(types) if _is_list_of_tensors(type)]
    return Listed(found[0], len(types) - 1) if len(found) == 1 else None


def _is_list_of_tensors(type: Any) -> bool:
    element = type.list_of
    return element is not None and (element == TENSOR or element.optional_of == TENSOR)
