"""Operators that take lists of tensors, as functions of their elements one by one.

Calls that are known beforehand are told of arrays and numbers, not of lists of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...typecheck.types.types import TENSOR, Type
from .record import Operator

__all__ = ["Listed", "by_elements", "listed"]

Function = Callable[..., Any]


class Listed:
    """An operator with lists of tensors: the other arguments come first, then how many elements
    all lists but the last have, then the elements."""

    __slots__ = ("_count", "_lists", "_others")

    def __init__(self, lists: Sequence[int], count: int) -> None:
        self._lists = tuple(lists)
        self._count = count
        self._others = [each for each in range(count) if each not in lists]

    @property
    def lists(self) -> tuple[int, ...]:
        """Which of the operator's arguments they are."""
        return self._lists

    def arguments(self, values: Sequence[Any]) -> list[object]:
        """The operator's arguments of these."""
        found: list[object] = [None] * self._count
        for place, value in zip(self._others, values, strict=False):
            found[place] = value
        begin = len(self._others) + len(self._lists) - 1
        lengths = values[len(self._others) : begin]
        for place, length in zip(self._lists, lengths, strict=False):
            found[place] = list(values[begin : begin + length])
            begin += length
        found[self._lists[-1]] = list(values[begin:])
        return found

    def apart(self, arguments: Sequence[Any]) -> list[object]:
        """These of the operator's arguments."""
        return [
            *(arguments[each] for each in self._others),
            *(len(arguments[each]) for each in self._lists[:-1]),
            *(one for each in self._lists for one in arguments[each]),
        ]

    def taken_apart(self, function: Function) -> Function:
        """A function of the operator's arguments as one of these."""
        at, others = self._lists[0], len(self._others)
        if len(self._lists) == 1:
            return lambda *values: function(*values[:at], list(values[others:]), *values[at:others])
        return lambda *values: function(*self.arguments(values))

    def put_together(self, function: Function) -> Function:
        """A function of these as one of the operator's arguments."""
        at, others, lists = self._lists[0], self._others, self._lists
        if len(lists) > 1:
            return lambda *values: function(*self.apart(values))
        if not at:
            return lambda tensors, *others: function(*others, *tensors)
        if at == 1 == len(others):
            return lambda first, tensors: function(first, *tensors)
        return lambda *values: function(*values[:at], *values[at + 1 :], *values[at])

    def written(self, operands: Sequence[str]) -> str:
        """The same in the text of a call: the operator's operands as one of these."""
        parts = [operands[each] for each in self._others]
        parts += [f"len({operands[each]})" for each in self._lists[:-1]]
        return ", ".join([*parts, *(f"*{operands[each]}" for each in self._lists)])


def listed(entry: Operator) -> Listed | None:
    """How an operator takes its lists of tensors; None if it has none."""
    types = [argument.type for argument in entry.signature.arguments]
    found = [place for place, type in enumerate(types) if _is_list_of_tensors(type)]
    return Listed(found, len(types)) if found else None


def _is_list_of_tensors(type: Type) -> bool:
    element = type.list_of
    return element is not None and (element == TENSOR or element.optional_of == TENSOR)


def by_elements(entry: Operator) -> Function:
    """An operator's forward, as a function of elements where it takes lists of tensors."""
    form = listed(entry)
    return entry.forward if form is None else form.taken_apart(entry.forward)
