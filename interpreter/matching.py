"""Which type a machine's value is of, asked at run time."""

from __future__ import annotations

import numpy as np

from ..ops.packed_weights import PackedWeights
from ..typecheck.types import (
    ANY,
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
    ClassType,
    DictType,
    EnumType,
    InterfaceType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)
from .objects import EnumMember, ScriptObject

__all__ = ["matches"]

_EXACT: dict[Type, type] = {INT: int, FLOAT: float, BOOL: bool, COMPLEX: complex, STRING: str}


def matches(value: object, type: Type) -> bool:
    """Whether a value is of a type.  An empty list or dict is of every list or dict type."""
    exact = _EXACT.get(type)
    if exact is not None:
        return value.__class__ is exact
    match type:
        case ListType():
            return isinstance(value, list) and all(matches(v, type.element) for v in value)
        case DictType():
            return isinstance(value, dict) and all(
                matches(k, type.key) and matches(v, type.value) for k, v in value.items()
            )
        case TupleType():
            return _is_tuple(value, type)
        case OptionalType():
            return value is None or matches(value, type.element)
        case UnionType():
            return any(matches(value, member) for member in type.members)
        case ClassType():
            if isinstance(value, PackedWeights):
                return type.qualified_name == value.qualified_name
            return isinstance(value, ScriptObject) and value.cls is type
        case InterfaceType():
            return isinstance(value, ScriptObject) and all(
                value.cls.method(name) is not None for name in type.methods
            )
        case EnumType():
            return isinstance(value, EnumMember) and value.enum is type
    return _is_simple(value, type)


def _is_tuple(value: object, type: TupleType) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == len(type.elements)
        and all(matches(v, t) for v, t in zip(value, type.elements, strict=True))
    )


def _is_simple(value: object, type: Type) -> bool:
    if type == TENSOR:
        return isinstance(value, np.ndarray)
    if type == NONE:
        return value is None
    if type == ANY:
        return True
    if type == NUMBER:
        return value.__class__ in (int, float, complex, bool)
    if type == ANY_LIST:
        return isinstance(value, list)
    if type == ANY_TUPLE:
        return isinstance(value, tuple)
    if type == ANY_ENUM:
        return isinstance(value, EnumMember)
    return type == DEVICE and value.__class__.__name__ == "Device"
