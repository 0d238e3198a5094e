"""How large copies of values of a type are, counted by the type: quicker than a walk over the
values, and enough for most."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, Final

from ...typecheck.types.type_table import TypeTable
from ...typecheck.types.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from .type_cache import kept_by_type

__all__ = ["small_copies"]

MOST: Final = 1 << 14
"""Elements that a copy may have which is small."""

Count = Callable[[list[Any]], int]
"""How many elements copies of some values have together; raises `_TooMany`."""


class _TooMany(Exception):
    """There are more than `MOST`, or the values are not as their type says."""


_COUNTS: TypeTable[[], Count | None] = TypeTable()


def small_copies(type: Type) -> Callable[[object], bool]:
    """What says whether a copy of a value of a type is small, each of its parts counted in all its
    places; where that takes long to find out, or the value is no such, it says no."""
    count = _count_of(type)
    if count is None or count is _unknown:
        return _is_never

    def is_small(value: object) -> bool:
        try:
            return count([value]) <= MOST
        except _TooMany:
            return False

    return is_small


def _is_never(value: object) -> bool:
    return False


@kept_by_type
def _count_of(type: Type) -> Count | None:
    return _COUNTS(type)


@_COUNTS.row(Type)
def _of_others(type: Type) -> Count | None:
    return None if all(each in _ALONE for each in type.alternatives) else _unknown


def _unknown(level: list[object]) -> int:
    """Of what may hold anything, and of all that has such a part."""
    raise _TooMany


_ALONE: Final = frozenset((INT, FLOAT, BOOL, COMPLEX, NUMBER, STRING, NONE, TENSOR, DEVICE))


@_COUNTS.row(ListType)
def _of_list(type: ListType) -> Count:
    inner = _count_of(type.element)
    if inner is _unknown:
        return _unknown

    def count(level: list[Any]) -> int:
        found = _sizes(level, _ROWS)
        return found if inner is None else found + inner([*chain.from_iterable(level)])

    return count


@_COUNTS.row(DictType)
def _of_dict(type: DictType) -> Count:
    inner = _count_of(type.value)
    if inner is _unknown:
        return _unknown

    def count(level: list[Any]) -> int:
        found = _sizes(level, _DICTS)
        if inner is None:
            return found
        return found + inner([*chain.from_iterable(map(dict.values, level))])

    return count


@_COUNTS.row(TupleType)
def _of_tuple(type: TupleType) -> Count:
    parts = [(place, _count_of(part)) for place, part in enumerate(type.elements)]
    inside = [(place, inner) for place, inner in parts if inner is not None]
    size = len(parts)
    if any(inner is _unknown for _, inner in inside):
        return _unknown

    def count(level: list[Any]) -> int:
        found = _sizes(level, _ROWS)
        if found != size * len(level):
            raise _TooMany
        for place, inner in inside:
            found += inner([each[place] for each in level])
        return found

    return count


@_COUNTS.row(OptionalType)
def _of_optional(type: OptionalType) -> Count | None:
    inner = _count_of(type.inner)
    if inner is None or inner is _unknown:
        return inner
    return lambda level: inner([each for each in level if each is not None])


_ROWS: Final = frozenset((list, tuple))
_DICTS: Final = frozenset((dict,))


def _sizes(level: Iterable[Any], classes: frozenset[object]) -> int:
    """How many elements some containers have, which are of these very classes; that of a tuple may
    be a named one."""
    others = {*map(type, level)} - classes
    if others and (classes is _DICTS or not all(issubclass(each, tuple) for each in others)):
        raise _TooMany
    found = sum(map(len, level))
    if found > MOST:
        raise _TooMany
    return found
