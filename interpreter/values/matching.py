"""Which type a machine's value is of, asked at run time."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from ...ops.quantized_tensors.packed_weights import PackedWeights
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import ClassType, InterfaceType
from ...typecheck.relations.relations import unmet_method
from ...typecheck.types.type_table import TypeTable
from ...typecheck.types.types import (
    ANY,
    ANY_CLASS,
    ANY_ENUM,
    ANY_LIST,
    ANY_TUPLE,
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
    EnumType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)
from .objects import EnumMember, ScriptObject

__all__ = ["EXACT", "are_single", "matches"]

_class_of: Final = builtins.type
EXACT: dict[Type, type] = {INT: int, FLOAT: float, BOOL: bool, COMPLEX: complex, STRING: str}
"""The types all of whose values are of one class of Python's, which no others are of."""


_SINGLE: Final = frozenset(EXACT.values())


def are_single(values: Iterable[object]) -> bool:
    """Whether all values are numbers and texts, which hold nothing."""
    return _SINGLE.issuperset(map(_class_of, values))


_SHARABLE: Final = (list, dict, tuple)

_Seen = dict[tuple[int, int], bool]
"""Whether a value of some identity is of a type of some identity."""


def matches(value: object, type: Type, seen: _Seen | None = None) -> bool:
    """Whether a value is of a type.  An empty list or dict is of every list or dict type.

    What lies in a value several times is looked at once; `seen` is what has been.
    """
    if type == TENSOR:
        return isinstance(value, (np.ndarray, Tensor))
    if isinstance(type, ClassType):
        return _is_object(type, value, seen)
    test = _TESTS.row_of(type)
    if not isinstance(value, _SHARABLE) or not type.contained:
        return test(type, value, seen)
    seen = {} if seen is None else seen
    key = (id(value), id(type))
    if key not in seen:
        seen[key] = test(type, value, seen)
    return seen[key]


_TESTS: TypeTable[[object, _Seen | None], bool] = TypeTable()


@_TESTS.row(ListType)
def _is_list(type: ListType, value: object, seen: _Seen | None) -> bool:
    return isinstance(value, list) and _all_match(value, type.element, seen)


def _all_match(values: Iterable[object], type: Type, seen: _Seen | None) -> bool:
    """Whether all values are of a type."""
    exact = EXACT.get(type)
    if exact is not None:
        return {exact}.issuperset(map(_class_of, values))
    return all(matches(value, type, seen) for value in values)


@_TESTS.row(DictType)
def _is_dict(type: DictType, value: object, seen: _Seen | None) -> bool:
    return (
        isinstance(value, dict)
        and _all_match(value, type.key, None)
        and _all_match(value.values(), type.value, seen)
    )


@_TESTS.row(TupleType)
def _is_tuple(type: TupleType, value: object, seen: _Seen | None) -> bool:
    if not isinstance(value, tuple) or tuple.__len__(value) != len(type.elements):
        return False
    return all(matches(v, t, seen) for v, t in zip(value, type.elements, strict=True))


@_TESTS.row(OptionalType)
def _is_optional(type: OptionalType, value: object, seen: _Seen | None) -> bool:
    return value is None or matches(value, type.element, seen)


@_TESTS.row(UnionType)
def _is_member(type: UnionType, value: object, seen: _Seen | None) -> bool:
    return any(matches(value, member, seen) for member in type.members)


@_TESTS.row(ClassType)
def _is_object(type: ClassType, value: object, seen: _Seen | None) -> bool:
    if isinstance(value, PackedWeights):
        return type.qualified_name == value.qualified_name
    return isinstance(value, ScriptObject) and value.cls is type


@_TESTS.row(InterfaceType)
def _fills(type: InterfaceType, value: object, seen: _Seen | None) -> bool:
    return isinstance(value, ScriptObject) and unmet_method(value.cls, type) is None


@_TESTS.row(EnumType)
def _is_enum_member(type: EnumType, value: object, seen: _Seen | None) -> bool:
    return isinstance(value, EnumMember) and value.enum is type


@_TESTS.row(Type)
def _is_simple(type: Type, value: object, seen: _Seen | None) -> bool:
    exact = EXACT.get(type)
    if exact is not None:
        return value.__class__ is exact
    test = _SIMPLE.get(type)
    return test is not None and test(value)


def _of_class(*classes: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, classes)


def _of_exactly(*classes: type) -> Callable[[object], bool]:
    return lambda value: value.__class__ in classes


_SIMPLE: dict[Type, Callable[[object], bool]] = {
    TENSOR: _of_class(np.ndarray, Tensor),
    NONE: lambda value: value is None,
    ANY: lambda value: True,
    NUMBER: _of_exactly(int, float, complex, bool),
    ANY_LIST: _of_class(list),
    ANY_TUPLE: _of_class(tuple),
    ANY_CLASS: _of_class(ScriptObject),
    ANY_ENUM: _of_class(EnumMember),
    DEVICE: lambda value: value.__class__.__name__ == "device",
}
