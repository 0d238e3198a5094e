"""Containers of tensors as Python has them, taken to the machine level by level.

All lists that lie equally deep are looked at together, by functions of Python's that go through
many values at once: a conversion of each by itself (`inward`) takes several times as long.  What is
not of the very classes that nearly all values have is left to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final

from ...ops.memory.dtype import Array
from ...ops.tensors.tensor import Parameter, Tensor
from ...typecheck.types.type_table import TypeTable
from ...typecheck.types.types import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from .type_cache import kept_by_type

__all__ = ["Unusual", "taken_by_levels"]

_ARRAY: Final = attrgetter("_array")


class Unusual(Exception):
    """A value is of none of the usual classes."""


Level = Callable[[Sequence[Any], list[Tensor]], list[Any]]
"""The machine values of some values of a type; the tensors among them are added to the list."""

_LEVELS: TypeTable[[], Level | None] = TypeTable()


@kept_by_type
def taken_by_levels(type: Type) -> Callable[[object], tuple[object, list[Tensor]]] | None:
    """What takes a value of a type to the machine, and tells the tensors in it, in order; it raises
    `Unusual`.  None for a type that is no container of containers, tensors, numbers and texts."""
    level = _LEVELS(type)
    if level is None or not isinstance(type, ListType | DictType | TupleType):
        return None

    def taken(value: object) -> tuple[object, list[Tensor]]:
        tensors = list[Tensor]()
        (made,) = level((value,), tensors)
        return made, tensors

    return taken


_CLASSES: Final[dict[Type, frozenset[type]]] = {
    INT: frozenset((int,)),
    FLOAT: frozenset((float,)),
    BOOL: frozenset((bool,)),
    STRING: frozenset((str,)),
}
_TENSORS: Final = frozenset((Tensor, Parameter))
_LISTS: Final = frozenset((list,))
_DICTS: Final = frozenset((dict,))
_TUPLES: Final = frozenset((tuple,))


def _check(values: Sequence[object], classes: frozenset[type]) -> None:
    if not classes.issuperset(map(type, values)):
        raise Unusual


def _check_words(values: Sequence[Any], classes: frozenset[type]) -> None:
    """See that values are words, whole numbers of them of 64 bits."""
    _check(values, classes)
    if int in classes and values and not (min(values) >= -(1 << 63) and max(values) < 1 << 63):
        raise Unusual


@_LEVELS.row(Type)
def _of_one(type: Type) -> Level | None:
    if type == TENSOR:
        return _tensors
    classes = _CLASSES.get(type)
    if classes is None:
        return None

    def words(values: Sequence[object], tensors: list[Tensor]) -> list[Any]:
        _check_words(values, classes)
        return [*values]

    return words


def _tensors(values: Sequence[Tensor], tensors: list[Tensor]) -> list[Array]:
    _check(values, _TENSORS)
    tensors += values
    return [*map(_ARRAY, values)]


@_LEVELS.row(ListType)
def _of_list(type: ListType) -> Level | None:
    inner, words = _LEVELS(type.element), _CLASSES.get(type.element)
    if inner is None:
        return None

    def lists(values: Sequence[list[Any]], tensors: list[Tensor]) -> list[list[Any]]:
        _check(values, _LISTS)
        if words is not None:
            own = [each[:] for each in values]
            _check_words([*chain.from_iterable(own)], words)
            return own
        if len(values) == 1:
            return [inner(values[0][:], tensors)]
        own = [each[:] for each in values]  # which no other thread makes longer
        rest = iter(inner([*chain.from_iterable(own)], tensors))
        return [[*islice(rest, size)] for size in map(len, own)]

    return lists


@_LEVELS.row(DictType)
def _of_dict(type: DictType) -> Level | None:
    keys, inner = _CLASSES.get(type.key), _LEVELS(type.value)
    words = _CLASSES.get(type.value)
    if keys is None or inner is None:
        return None

    def dicts(values: Sequence[Any], tensors: list[Tensor]) -> list[object]:
        _check(values, _DICTS)
        own = [each.copy() for each in values]
        _check_words([*chain.from_iterable(own)], keys)
        if words is not None:
            _check_words([*chain.from_iterable(map(dict.values, own))], words)
            return own
        rest = iter(inner([*chain.from_iterable(map(dict.values, own))], tensors))
        return [dict(zip(each, rest, strict=False)) for each in own]

    return dicts


@_LEVELS.row(OptionalType)
def _of_optional(type: OptionalType) -> Level | None:
    inner = _LEVELS(type.element)
    if inner is None:
        return None

    def optionals(values: Sequence[object], tensors: list[Tensor]) -> list[object]:
        rest = iter(inner([each for each in values if each is not None], tensors))
        return [None if each is None else next(rest) for each in values]

    return optionals


@_LEVELS.row(TupleType)
def _of_tuple(type: TupleType) -> Level | None:
    parts = [_LEVELS(each) for each in type.elements]
    size = len(parts)
    if type.name is not None or not size:
        return None
    inner = [each for each in parts if each is not None]
    if len(inner) < size:
        return None

    def tuples(values: Sequence[tuple[object, ...]], tensors: list[Tensor]) -> list[object]:
        _check(values, _TUPLES)
        if not values:
            return []
        if {*map(len, values)} != {size}:
            raise Unusual
        columns = zip(*values, strict=True)
        made = [part(column, tensors) for part, column in zip(inner, columns, strict=True)]
        return [*zip(*made, strict=True)]

    return tuples
