"""Which type a machine's value is of, asked at run time."""

from __future__ import annotations

import builtins
from typing import Final

import numpy as np

from ...ops.quantized_tensors.packed_weights import PackedWeights
from ...typecheck.relations import unmet_method
from ...typecheck.types import (
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

_class_of: Final = builtins.type
_EXACT: dict[Type, type] = {INT: int, FLOAT: float, BOOL: bool, COMPLEX: complex, STRING: str}


_SHARABLE: Final = (list, dict, tuple)

_Seen = dict[tuple[int, int], bool]
"""Whether a value of some identity is of a type of some identity."""


def matches(value: object, type: Type, seen: _Seen | None = None) -> bool:
    """Whether a value is of a type.  An empty list or dict is of every list or dict type.

    What lies in a value several times is looked at once; `seen` is what has been.
    """
    if type is TENSOR:
        return isinstance(value, np.ndarray)
    if isinstance(type, ClassType):
        if isinstance(value, PackedWeights):
            return type.qualified_name == value.qualified_name
        return isinstance(value, ScriptObject) and value.cls is type
    if type.contained and isinstance(value, _SHARABLE):
        seen = {} if seen is None else seen
        key = (id(value), id(type))
        if key not in seen:
            seen[key] = _contains(value, type, seen)
        return seen[key]
    exact = _EXACT.get(type)
    if exact is not None:
        return value.__class__ is exact
    match type:
        case OptionalType(element):
            return value is None or matches(value, element)
        case UnionType(members):
            return any(matches(value, member) for member in members)
        case ListType() | DictType() | TupleType():
            return False
        case InterfaceType():
            return isinstance(value, ScriptObject) and unmet_method(value.cls, type) is None
        case EnumType():
            return isinstance(value, EnumMember) and value.enum is type
    return _is_simple(value, type)


def _contains(value: object, type: Type, seen: _Seen) -> bool:
    """Whether a list, dict or tuple is of a type with arguments."""
    match type, value:
        case ListType(element), list():
            exact = _EXACT.get(element)
            if exact is not None:
                return {exact}.issuperset(map(_class_of, value))
            return all(matches(v, element, seen) for v in value)
        case DictType(key, element), dict():
            return all(matches(k, key) and matches(v, element, seen) for k, v in value.items())
        case TupleType(elements), tuple():
            return len(value) == len(elements) and all(
                matches(v, t, seen) for v, t in zip(value, elements, strict=True)
            )
        case ((OptionalType() | UnionType()), _):
            return any(matches(value, t, seen) for t in type.contained)
    return False


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
