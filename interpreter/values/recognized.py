"""Tensors that come out of a call as they went in: they are the same tensors, as in torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...ops.memory.errors import Elsewhere
from ...ops.python_values.named_tuples import NamedValues, make_named
from ...ops.tensors.tensor import Tensor
from ...typecheck.types.type_table import TypeTable
from ...typecheck.types.types import ANY, TENSOR, DictType, ListType, OptionalType, TupleType, Type
from .type_cache import kept_by_type

__all__ = ["Recognize", "recognizing"]

Known = dict[int, Tensor]
"""Tensors by the identity of their arrays, which they hold."""

Walk = Callable[[Any, Known], object]
Recognize = Callable[[object, Iterable[Tensor]], object]


@kept_by_type
def recognizing(type: Type) -> Recognize | None:
    """What puts tensors in the place of arrays in a machine value of a type, those that are given
    in the place of theirs, and one for one array; None for a type that holds no tensors."""
    walk = _WALKS(type)
    if walk is None:
        return None

    def recognize(value: object, tensors: Iterable[Tensor]) -> object:
        if value is None:
            return None
        given = tuple(tensors)
        try:
            known = {id(each._array): each for each in given}
        except Elsewhere:  # those without an array are in no result as one
            known = {id(each._array): each for each in given if _has_array(each)}
        return walk(value, known)

    return recognize


def _has_array(tensor: Tensor) -> bool:
    return type(tensor)._array is Tensor._array


_WALKS: TypeTable[[], Walk | None] = TypeTable()


@_WALKS.row(Type)
def _of_one(type: Type) -> Walk | None:
    return _tensor if type in (TENSOR, ANY) else None


def _tensor(value: object, known: Known) -> object:
    if not isinstance(value, np.ndarray):
        return value
    found = known.get(id(value))
    if found is None:
        found = known[id(value)] = Tensor._of(value)
    return found


@_WALKS.row(OptionalType)
def _of_optional(type: OptionalType) -> Walk | None:
    walk = _WALKS(type.element)
    return None if walk is None else lambda v, known: None if v is None else walk(v, known)


@_WALKS.row(ListType)
def _of_list(type: ListType) -> Walk | None:
    walk = _WALKS(type.element)
    return None if walk is None else lambda v, known: [walk(each, known) for each in v]


@_WALKS.row(DictType)
def _of_dict(type: DictType) -> Walk | None:
    key, value = _WALKS(type.key), _WALKS(type.value)
    if key is not None:  # a dict whose keys are tensors
        return lambda v, known: {
            key(k, known): each if value is None else value(each, known) for k, each in v.items()
        }
    if value is None:
        return None
    return lambda v, known: {k: value(each, known) for k, each in v.items()}


@_WALKS.row(TupleType)
def _of_tuple(type: TupleType) -> Walk | None:
    walks = [_WALKS(part) for part in type.elements]
    if not any(walks):
        return None
    may_be_named = type.name is None

    def walk(value: Any, known: Known) -> object:
        pairs = zip(walks, value, strict=True)
        parts = [part if each is None else each(part, known) for each, part in pairs]
        is_named = may_be_named and value.__class__ is NamedValues
        return make_named(value.type, parts) if is_named else tuple(parts)

    return walk
