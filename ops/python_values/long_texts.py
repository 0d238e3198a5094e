"""Lists that hold long strings many times: each pair of strings is compared once.

Python compares strings letter by letter for every place of a list, in one go that nothing ends, so
a million places for one text of a megabyte would take hours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..arithmetic.scalar import to_bytes

__all__ = ["are_long", "order_of", "where_equal", "would_be_equal"]

_MUCH: Final = 1 << 22
"""Characters of a list, those of a string at each of its places."""


def are_long(values: Sequence[Any]) -> bool:
    """Whether these are strings that are long or many."""
    return bool(values) and type(values[0]) is str and sum(map(len, values)) > _MUCH


def order_of(values: Sequence[str]) -> Callable[[str], Any] | None:
    """What strings are sorted by: their bytes, None if they stand for themselves."""
    order = None if all(map(str.isascii, values)) else to_bytes
    if not are_long(values):
        return order
    objects = {id(each): each for each in values}
    ranks = {each: rank for rank, each in enumerate(sorted(set(objects.values()), key=order))}
    of_objects = {number: ranks[each] for number, each in objects.items()}
    return lambda each: of_objects[id(each)]


def where_equal(values: Sequence[str], sought: object) -> list[bool]:
    """For each place whether the string there equals another value."""
    objects = {id(each): each for each in values}
    equal = {number: each == sought for number, each in objects.items()}
    return [equal[id(each)] for each in values]


def would_be_equal(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether lists of one length hold equal strings."""
    pairs = {(id(one), id(other)): (one, other) for one, other in zip(a, b, strict=True)}
    return all(one == other for one, other in pairs.values())
