"""Machine values of NamedTuple types, which keep their names where their type is not said."""

from __future__ import annotations

from collections.abc import Iterable

from ...typecheck.types.types import TupleType

__all__ = ["NamedValues", "make_named"]


class NamedValues(tuple[object, ...]):
    """A tuple that knows the NamedTuple type it was made for."""

    type: TupleType


def make_named(type: TupleType, values: Iterable[object]) -> NamedValues:
    """The machine's value of a NamedTuple type."""
    made = NamedValues(values)
    made.type = type
    return made
