"""Literal values in printed code, and the table of those that have no literal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...frontend.syntax.literal_text import escape, float_text
from ...ir.text.text import constant_text
from ...ops.memory.dtype import Device
from ...ops.random_numbers.random import Generator
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    STRING,
    TENSOR,
    DictType,
    EnumType,
    ListType,
    TupleType,
    Type,
    element_is_evident,
)
from .types import TypeNames, named_type

__all__ = ["Constants", "loose_text", "type_of"]


def loose_text(value: object) -> str:
    """A value as `print` shows it, with quotes around a string but nothing escaped.

    Floats below 2**63 that are integral have a bare point, and zeros have no sign.  Such are the
    values in the definition of an enumeration.
    """
    match value:
        case str():
            return f'"{value}"'
        case float():
            integral = -(2.0**63) <= value < 2.0**63 and value == int(value)
            return f"{int(value)}." if integral else float_text(value)
        case complex():
            sign = "+" if value.imag >= 0 else "-"
            return f"{loose_text(value.real)}{sign}{loose_text(abs(value.imag))}j"
    return str(value)


def type_of(value: object) -> Type:
    """The type of a constant that was declared without one; a list counts as a tuple.

    Raises:
        TypeError: code has no literal for such a value.
    """
    for python, type in ((bool, BOOL), (int, INT), (float, FLOAT), (complex, COMPLEX)):
        if isinstance(value, python):
            return type
    match value:
        case None:
            return NONE
        case str():
            return STRING
        case Device():
            return DEVICE
        case tuple() | list():
            return TupleType(tuple(map(type_of, value)))
        case dict() if value:
            key, item = next(iter(value.items()))
            return DictType(type_of(key), type_of(item))
    found = getattr(value, "cls", None)
    if isinstance(found, ClassType):
        return found
    if _is_tensor(value):
        return TENSOR
    raise TypeError(f"a {type_name(value)} cannot be a constant of printed code")


def type_name(value: object) -> str:
    return type(value).__name__


def _is_tensor(value: object) -> bool:
    return isinstance(value, np.ndarray) or isinstance(getattr(value, "_array", None), np.ndarray)


def _holds_non_ascii(value: object) -> bool:
    match value:
        case str():
            return not value.isascii()
        case list() | tuple():
            return any(map(_holds_non_ascii, value))
        case dict():
            return any(_holds_non_ascii(k) or _holds_non_ascii(v) for k, v in value.items())
    return False


class Constants:
    """The values that code calls `CONSTANTS.c0`, `CONSTANTS.c1`, … and other literals.

    `archived` says that the text will be read again: whole floats from 1e10 on, which torch writes
    like ints, then have a point or an exponent.
    """

    def __init__(self, names: TypeNames, archived: bool = False) -> None:
        self._names = names
        self._archived = archived
        self.values: list[object] = []
        self.types: list[Type] = []

    def text(self, value: object, type: Type) -> str:
        """The text for a value of that type; tensors, objects and non-ASCII strings are tabled.

        Raises:
            TypeError: there is no text for such a value.
        """
        if value is not None:
            type = type.inner
        if isinstance(value, tuple) and type.tuple_of is None:
            type = type_of(value)  # the parameter is an Any or a Union
        if value is None or type == NONE:
            return "None"
        if type == TENSOR or type.is_class or _holds_non_ascii(value):
            return f"CONSTANTS.c{self._index(value, type)}"
        match type:
            case EnumType():
                return f"{self._names.name_of(type)}.{_member(value, type)}"
            case ListType() | TupleType() | DictType():
                return self._container(value, type)
        if type == DEVICE:
            return f"torch.device({escape(str(value))})"
        text = _scalar(value, type)
        is_float = isinstance(value, float) or type == FLOAT
        if self._archived and is_float and text.lstrip("-").isdigit():
            return _with_point(text)
        return text

    def _container(self, value: object, type: Type) -> str:
        match type, value:
            case TupleType(elements), tuple() | list():
                items = [self.text(v, t) for v, t in zip(value, elements, strict=True)]
                name = "" if named_type(type) is None else self._names.name_of(type)
                return f"{name}({', '.join(items)}{',' if len(items) == 1 else ''})"
            case ListType(element), list() | tuple():
                items = [self.text(v, element) for v in value]
                return self._annotated(f"[{', '.join(items)}]", type, bool(items))
            case DictType(key, element), Mapping():
                items = [f"{self.text(k, key)}: {self.text(v, element)}" for k, v in value.items()]
                return self._annotated(f"{{{', '.join(items)}}}", type, bool(items))
        raise TypeError(f"{type_name(value)} is not a value of type {type}")

    def _annotated(self, text: str, type: Type, filled: bool) -> str:
        if filled and all(map(element_is_evident, type.contained)):
            return text
        between = "," if type.dict_of is not None else ", "  # as torch writes them
        return f"annotate({self._names.spell(type)}{between}{text})"

    def _index(self, value: object, type: Type) -> int:
        if _is_tensor(value):
            for i, other in enumerate(self.values):
                if _is_tensor(other) and _equal_tensors(value, other):
                    return i
        self.values.append(value)
        self.types.append(type)
        return len(self.values) - 1


def _with_point(digits: str) -> str:
    """The digits of a whole number as those of a float: `1e10`, `12345678901.`."""
    short = digits.rstrip("0")
    zeros = len(digits) - len(short)
    return f"{short}e{zeros}" if zeros > 4 else f"{digits}."


def _equal_tensors(a: object, b: object) -> bool:
    first = np.asarray(getattr(a, "_array", a))
    second = np.asarray(getattr(b, "_array", b))
    return first.dtype == second.dtype and np.array_equal(first, second)


def _member(value: object, type: EnumType) -> str:
    name = getattr(value, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"{type_name(value)} is not a member of {type.qualified_name}")
    return name


def _scalar(value: object, type: Type) -> str:
    """The literal of a number, a flag or a string; the type decides what a number is."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, bool | int) and type == BOOL:
        return str(bool(value))
    if isinstance(value, int | float) and type == FLOAT:
        return float_text(float(value))
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, complex):
        return loose_text(value)
    if isinstance(value, Generator):
        return constant_text(value, type)
    raise TypeError(f"{type_name(value)} is not a constant of type {type}")
