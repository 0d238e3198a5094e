"""Columns of short rows that lie behind each other, a vector of rows at a time."""

from __future__ import annotations

from collections.abc import Sequence

from .text import INT32, Code, Kind, Value

__all__ = ["are_below", "columns", "of_parts"]

_BY_VECTORS = 4
"""Columns of which the rows are taken whole, not one element at a time."""


def columns(code: Code, kind: Kind, address: Value, size: int) -> list[Value]:
    """The columns of as many rows of a size as a vector of a kind has elements."""
    element, every = kind.of_lanes(0), range(0, size * kind.lanes, size)
    if size > _BY_VECTORS:
        return [
            _picked(code, kind, address, [place + column for place in every])
            for column in range(size)
        ]
    parts = [
        code.load(kind, code.at(address, number * kind.lanes, element)) for number in range(size)
    ]
    return [of_parts(code, parts, [place + column for place in every]) for column in range(size)]


def _picked(code: Code, kind: Kind, address: Value, places: Sequence[int]) -> Value:
    """A vector of single elements behind an address."""
    made, element = code.constant(kind, 0), kind.of_lanes(0)
    for lane, place in enumerate(places):
        made = code.replaced(made, lane, code.load(element, code.at(address, place, element)))
    return made


def of_parts(code: Code, parts: Sequence[Value], places: Sequence[int]) -> Value:
    """A vector of elements of several, which are counted through."""
    made, lanes = parts[0], parts[0].kind.lanes
    for number, part in enumerate(parts):
        chosen = [
            lanes + place % lanes if place // lanes == number else lane
            for lane, place in enumerate(places)
        ]
        made = code.shuffled(part if not number else made, part, chosen)
    return made


def are_below(first: Value, steps: Value, end: Value) -> Value:
    """Which of the places that lie so many steps behind a first one lie before an end."""
    code = first.code
    place = code.spread(first.converted("trunc", INT32))
    return (place + steps).below(code.spread(end.converted("trunc", INT32)))
