"""The types of constants."""

from __future__ import annotations

from collections.abc import Iterator

from ..trees import typed
from ..types.types import BOOL, COMPLEX, DEVICE, FLOAT, INT, NONE, STRING, TENSOR, Type
from ..types.value_types import ValueTypes
from .relations import join_all

__all__ = ["LARGEST_INT", "integer_of", "type_of_value"]

LARGEST_INT = (1 << 63) - 1


def type_of_value(value: object) -> Type:
    """The type of a constant: a number, a string, None, a list, tuple or dict of such.

    Anything with a dtype and a shape is a Tensor, with a type and an index a device.

    Raises:
        TypeError: it is no constant, or its elements have no common type.
        BoundExceeded: it contains itself, or its type would be too large.
    """
    return _CONSTANTS.of(value)


def integer_of(expression: typed.Expr) -> int | None:
    """The integer a literal stands for, with its sign; None if it is none."""
    if isinstance(expression, typed.OperatorCall) and expression.signature.name == "aten::neg":
        inner = integer_of(expression.inputs[0])
        return None if inner is None else -inner
    if expression.literal is not None and expression.type == INT:
        return int(str(expression.literal))
    return None


class _Constants(ValueTypes):
    def simple(self, value: object) -> Type:
        if value is None:
            return NONE
        for cls, type in _SCALARS:
            if isinstance(value, cls):
                return type
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return TENSOR
        if hasattr(value, "type") and hasattr(value, "index"):
            return DEVICE
        raise TypeError(f"{value.__class__.__name__} is not a constant")

    def elements(self, types: Iterator[Type]) -> Type:
        found = list(types)
        joined = join_all(found) if found else TENSOR
        if joined is None:
            raise TypeError("the elements have no common type")
        return joined

    entries = elements


_SCALARS = ((bool, BOOL), (int, INT), (float, FLOAT), (complex, COMPLEX), (str, STRING))
_CONSTANTS = _Constants()
