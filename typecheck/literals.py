"""The types of constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..frontend.walks import containers_in, fold
from . import typed
from .relations import join_all
from .types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    STRING,
    TENSOR,
    DictType,
    ListType,
    TupleType,
    Type,
)

__all__ = ["LARGEST_INT", "integer_of", "type_of_value"]

LARGEST_INT = (1 << 63) - 1


def type_of_value(value: object) -> Type:
    """The type of a constant: a number, a string, None, a list, tuple or dict of such.

    Anything with a dtype and a shape is a Tensor, with a type and an index a device.

    Raises:
        TypeError: it is no constant, or its elements have no common type.
        BoundExceeded: it contains itself, or its type would be too large.
    """
    if isinstance(value, tuple | list | dict):
        return fold(value, containers_in, _container_type)
    simple = _simple(value)
    if simple is not None:
        return simple
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return TENSOR
    if hasattr(value, "type") and hasattr(value, "index"):
        return DEVICE
    raise TypeError(f"{type(value).__name__} is not a constant")


def integer_of(expression: typed.Expr) -> int | None:
    """The integer a literal stands for, with its sign; None if it is none."""
    if isinstance(expression, typed.OperatorCall) and expression.signature.name == "aten::neg":
        inner = integer_of(expression.inputs[0])
        return None if inner is None else -inner
    if isinstance(expression, typed.Literal) and expression.type == INT:
        return int(str(expression.value))
    return None


def _simple(value: object) -> Type | None:
    if value is None:
        return NONE
    for cls, type in ((bool, BOOL), (int, INT), (float, FLOAT), (complex, COMPLEX), (str, STRING)):
        if isinstance(value, cls):
            return type
    return None


def _container_type(value: object, known: dict[int, Type]) -> Type:
    def types(values: Iterable[object]) -> list[Type]:
        return [known[id(v)] if id(v) in known else type_of_value(v) for v in values]

    match value:
        case tuple():
            return TupleType(tuple(types(value)))
        case dict():
            return DictType(_common(types(value)), _common(types(value.values())))
    assert isinstance(value, list)
    return ListType(_common(types(value)))


def _common(types: Sequence[Type]) -> Type:
    if not types:
        return TENSOR
    joined = join_all(types)
    if joined is None:
        raise TypeError("the elements have no common type")
    return joined
