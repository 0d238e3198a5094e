"""Python arguments to the arguments of an overload: what fits where, and torch's words if nothing.

`Form` is one overload seen from Python.  Matching is strict first; a second try also takes what is
only convertible (a 0-d tensor for a number, a NumPy number, a number for a tensor).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..typecheck.schema import Argument
from ..typecheck.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NUMBER,
    STRING,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    Type,
    VariableType,
)
from .dtype import DTYPES, Device, DType, Layout, MemoryFormat
from .pointwise import number_as
from .promotion import number_dtype
from .random import Generator
from .table import Operator
from .tensor import Tensor
from .tracing import ACTIVE, traced_number

__all__ = ["TAKE_NUMBERS", "Form", "Mismatch", "describe"]


class Mismatch(Exception):
    """The arguments do not fit the overload; the text says why, in torch's words."""


_PYTHON_DTYPES: Final = {
    **{float: DTYPES["float64"], int: DTYPES["int64"]},
    **{bool: DTYPES["bool"], complex: DTYPES["complex128"]},
}
_NO: Final = object()
Converter = Callable[[Any, bool], Any]


def fits(converted: Any) -> bool:
    """Whether a converter took the value it was given."""
    return converted is not _NO


# --------------------------------------------------------------------------- one value


def _tensor(value: Any, lenient: bool) -> Any:
    if isinstance(value, Tensor):
        return value._array
    if lenient and isinstance(value, (bool, int, float, complex)):
        return number_as(value, number_dtype(value))
    return _NO


def _int_or_dtype(value: Any, lenient: bool) -> Any:
    """In schemas a dtype, layout or memory format is an int."""
    if isinstance(value, (DType, Layout, MemoryFormat)):
        return value.number
    return _int(value, lenient)


def _int(value: Any, lenient: bool) -> Any:
    if type(value) is int:
        return value
    if isinstance(value, int):
        return _NO if isinstance(value, bool) else int(value)
    if isinstance(value, (np.integer, Tensor)) and lenient:
        if ACTIVE and isinstance(value, Tensor) and value._array.dtype.kind in "iu":
            return traced_number(value, int(value._array), "aten::Int")
        try:
            return value.__index__()
        except TypeError:
            return _NO
    return _NO


def _float(value: Any, lenient: bool) -> Any:
    if isinstance(value, (float, int)) and not isinstance(value, bool):
        return float(value)
    if lenient and isinstance(value, (bool, np.generic, Tensor)):
        if ACTIVE and isinstance(value, Tensor) and value._array.size == 1:
            return traced_number(value, float(value._array), "aten::Float")
        try:
            return float(value)
        except (TypeError, ValueError, RuntimeError):
            return _NO
    return _NO


def _number(value: Any, lenient: bool) -> Any:
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, (np.number, np.bool_)):
        return value.item()
    if lenient and isinstance(value, Tensor) and not value.ndim:
        if ACTIVE:
            return traced_number(value, value._array.item(), "aten::ScalarImplicit")
        return value.item()
    return _NO


def _complex(value: Any, lenient: bool) -> Any:
    return complex(value) if isinstance(value, (complex, float, int)) else _NO


def _bool(value: Any, lenient: bool) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return _NO


def _string(value: Any, lenient: bool) -> Any:
    return value if isinstance(value, str) else _NO


def _device(value: Any, lenient: bool) -> Any:
    if isinstance(value, Device):
        return value
    return Device(value) if isinstance(value, str) else _NO


def _generator(value: Any, lenient: bool) -> Any:
    return value if isinstance(value, Generator) else _NO


def _anything(value: Any, lenient: bool) -> Any:
    """A value as the machine holds it."""
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, (list, tuple)):
        return type(value)(_anything(each, lenient) for each in value)
    return value


def _list_of(element: Converter, is_int: bool, size: int | None) -> Converter:
    def convert(value: Any, lenient: bool) -> Any:
        if isinstance(value, (list, tuple)):
            converted = [element(each, lenient or is_int) for each in value]
            return _NO if any(each is _NO for each in converted) else converted
        if size is not None:
            one = element(value, lenient)
            return _NO if one is _NO else [one] * size
        return _NO

    return convert


def _optional(element: Converter) -> Converter:
    def convert(value: Any, lenient: bool) -> Any:
        return None if value is None else element(value, lenient)

    return convert


_SIMPLE: Final[dict[Type, Converter]] = {
    TENSOR: _tensor,
    INT: _int_or_dtype,
    FLOAT: _float,
    NUMBER: _number,
    COMPLEX: _complex,
    BOOL: _bool,
    STRING: _string,
    DEVICE: _device,
    GENERATOR: _generator,
}


def _tensors(value: Any, lenient: bool) -> Any:
    """A list of tensors; numbers never stand for its elements."""
    if not isinstance(value, (list, tuple)):
        return _NO
    converted = [_tensor(each, False) for each in value]
    return _NO if any(each is _NO for each in converted) else converted


def _converter(type: Type, size: int | None) -> Converter:
    if isinstance(type, OptionalType):
        return _optional(_converter(type.element, size))
    if type == ListType(TENSOR):
        return _tensors
    if isinstance(type, ListType):
        is_int = type.element == INT
        return _list_of(_int if is_int else _converter(type.element, None), is_int, size)
    if isinstance(type, (VariableType, DictType)) or type == ANY:
        return _anything
    return _SIMPLE.get(type, _anything)


# --------------------------------------------------------------------------- texts


_SPELLINGS: Final = {
    "Tensor": "Tensor",
    "int": "int",
    "float": "float",
    "Scalar": "Number",
    "bool": "bool",
    "str": "str",
    "Device": "torch.device",
    "Generator": "torch.Generator",
    "Tensor[]": "tuple of Tensors",
    "int[]": "tuple of ints",
    "float[]": "tuple of floats",
}


def _spelling(argument: Argument) -> str:
    type = argument.type
    if isinstance(type, OptionalType):
        type = type.element
    if argument.name == "dtype":
        return "torch.dtype"
    if argument.name == "memory_format":
        return "torch.memory_format"
    return _SPELLINGS.get(str(type), str(type))


def describe(value: Any) -> str:
    """The type of a Python value in torch's messages."""
    if isinstance(value, (tuple, list)) and value:
        kinds = list(dict.fromkeys(describe(each) for each in value))
        if len(kinds) == 1:
            return f"{type(value).__name__} of {kinds[0]}s"
        return f"{type(value).__name__} of ({', '.join(describe(each) for each in value)})"
    name = type(value).__name__
    return {"DType": "torch.dtype", "Device": "torch.device"}.get(name, name)


# --------------------------------------------------------------------------- one overload


class Form:
    """One overload as Python calls it.

    `name` is the function's name in messages, `as_method` whether the first argument is the object
    before the dot.  A single list of ints may then also be given as separate numbers.
    """

    __slots__ = ("arguments", "converters", "entry", "name", "names", "positional", "spread")

    def __init__(self, entry: Operator, name: str, as_method: bool) -> None:
        self.entry = entry
        self.name = name
        self.arguments = entry.signature.arguments
        self.names = ["input" if a.name == "self" else a.name for a in self.arguments]
        self.converters = [_converter(a.type, a.size) for a in self.arguments]
        self.positional = sum(not a.keyword_only for a in self.arguments)
        own = self.arguments[int(as_method) : self.positional]
        self.spread: int | None = None
        if own and own[0].type == ListType(INT) and len(own) == 1:
            self.spread = int(as_method)

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any], lenient: bool) -> list[Any]:
        """The values for the forward.

        Raises:
            Mismatch: the arguments do not fit.
        """
        args = self._gather(args)
        if len(args) > self.positional:
            plural = "" if self.positional == 1 else "s"
            raise Mismatch(
                f"{self.name}() takes {self.positional} positional argument{plural} "
                f"but {len(args)} were given"
            )
        given: dict[int, Any] = dict(enumerate(args))
        for key, value in kwargs.items():
            given[self._place(key, given)] = value
        return [
            self._value(place, given[place], lenient) if place in given else self._default(place)
            for place in range(len(self.arguments))
        ]

    def _gather(self, args: Sequence[Any]) -> Sequence[Any]:
        """`view(2, 3)` as `view((2, 3))`."""
        spread = self.spread
        if spread is None or len(args) <= spread:
            return args
        if isinstance(args[spread], (list, tuple)):
            return args
        return [*args[:spread], tuple(args[spread:])]

    def _place(self, key: str, given: dict[int, Any]) -> int:
        key = _OTHER_NAMES.get(key, key) if key not in self.names else key
        if key == "self" and "input" in self.names:
            key = "input"
        if key not in self.names:
            raise Mismatch(f"{self.name}() got an unexpected keyword argument '{key}'")
        place = self.names.index(key)
        if place in given:
            raise Mismatch(f"{self.name}() got multiple values for argument '{key}'")
        return place

    def _value(self, place: int, value: Any, lenient: bool) -> Any:
        argument = self.arguments[place]
        if argument.name == "dtype" and isinstance(value, type):
            value = _PYTHON_DTYPES.get(value, value)
        if lenient and argument.type == TENSOR and self.name not in TAKE_NUMBERS:
            converted = self.converters[place](value, False)
        else:
            converted = self.converters[place](value, lenient)
        if converted is _NO:
            where = f" (position {place + 1})" if not argument.keyword_only else ""
            raise Mismatch(
                f"{self.name}(): argument '{self.names[place]}'{where} must be "
                f"{_spelling(argument)}, not {describe(value)}"
            )
        return converted

    def _default(self, place: int) -> Any:
        argument = self.arguments[place]
        if argument.has_default:
            return argument.default
        if isinstance(argument.type, OptionalType) and argument.keyword_only:
            return None
        missing = [
            f'"{self.names[i]}"'
            for i, a in enumerate(self.arguments[place : self.positional], place)
            if not a.has_default
        ]
        raise Mismatch(
            f"{self.name}() missing {len(missing)} required positional "
            f"arguments: {', '.join(missing)}"
        )

    def __str__(self) -> str:
        parts: list[str] = []
        for argument, name in zip(self.arguments, self.names, strict=True):
            if argument.keyword_only and "*" not in parts:
                parts.append("*")
            default = f" = {argument.default}" if argument.has_default else ""
            parts.append(f"{_spelling(argument)} {name}{default}")
        return f"({', '.join(parts)})"


_OTHER_NAMES: Final = {
    **{"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input"},
    **{"x2": "other", "input": "self"},
}

TAKE_NUMBERS: Final = frozenset(
    "add sub subtract mul multiply div divide true_divide floor_divide copy_ result_type".split()
)
"""Functions that take a plain number where their schema has a tensor."""
