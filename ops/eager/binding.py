"""Python arguments to the arguments of an overload: what fits where, and torch's words if nothing.

`Form` is one overload seen from Python.  Matching is strict first; a second try also takes what is
only convertible (a 0-d tensor for a number, a NumPy number, a number for a tensor).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from ...typecheck.definitions.schema import Argument
from ...typecheck.types.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NUMBER,
    STRING,
    TENSOR,
    ListType,
    Type,
)
from ..memory.dtype import PYTHON_DTYPES, Device, DType, Layout, MemoryFormat
from ..random_numbers.random import Generator
from ..table.pointwise import number_as
from ..table.promotion import number_dtype
from ..table.table import TABLE, Operator
from ..tensors.sizes import Size
from ..tensors.tensor import Tensor
from ..tensors.tracing import ACTIVE, traced_number

__all__ = ["NO", "Form", "Mismatch", "takes_numbers", "type_name", "wrong_keyword"]


class Mismatch(Exception):
    """The arguments do not fit the overload: `Form.fault` says why."""


NO: Final = object()
Converter = Callable[[Any, bool], Any]
"""What makes a machine value of an argument, leniently or not; `NO` where it cannot."""


def fits(converted: object) -> bool:
    """Whether a converter took the value it was given."""
    return converted is not NO


# --------------------------------------------------------------------------- one value


def _is_number(tensor: Tensor) -> bool:
    """Whether a tensor is taken where a number is wanted: one that wants gradients is not, for they
    would be lost."""
    return not (tensor._array.ndim or tensor._requires_grad)


def _tensor(value: object, lenient: bool) -> object:
    if isinstance(value, Tensor):
        return value._array
    if lenient and isinstance(value, (bool, int, float, complex)):
        return number_as(value, number_dtype(value))
    return NO


def _int_or_dtype(value: object, lenient: bool) -> object:
    """In schemas a dtype, layout or memory format is an int."""
    if isinstance(value, (DType, Layout, MemoryFormat)):
        return value.number
    return _int(value, lenient)


def _int(value: object, lenient: bool) -> object:
    if type(value) is int:
        return value
    if isinstance(value, int):
        return NO if isinstance(value, bool) else int(value)
    if isinstance(value, (np.integer, Tensor, np.ndarray)) and lenient:
        if ACTIVE and isinstance(value, Tensor) and value._array.dtype.kind in "iu":
            return traced_number(value, int(value._array), "aten::Int.Tensor")
        try:
            return value.__index__()
        except TypeError:
            return NO
    return NO


def _int_of_list(value: object, lenient: bool) -> object:
    """An element of a list of ints; while a call is recorded also one number of another dtype."""
    if type(value) is int:
        return value
    if ACTIVE and isinstance(value, Tensor) and value._array.size == 1:
        return traced_number(value, int(value._array.item()), "aten::Int.Tensor")
    return _int(value, True)


def _float(value: object, lenient: bool) -> object:
    if isinstance(value, (float, int)) and not isinstance(value, bool):
        return float(value)
    if not lenient:
        return NO
    if isinstance(value, Tensor):
        if not _is_number(value):
            return NO
        return traced_number(value, float(value), "aten::Float.Tensor") if ACTIVE else float(value)
    if isinstance(value, (bool, np.generic)):
        try:
            return float(value)
        except (TypeError, ValueError, RuntimeError):
            return NO
    return NO


def _number(value: object, lenient: bool) -> object:
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, (np.number, np.bool_)):
        return value.item()
    if lenient and isinstance(value, Tensor) and _is_number(value):
        if ACTIVE:
            return traced_number(value, value._array.item(), "aten::ScalarImplicit")
        return value.item()
    return NO


def _complex(value: object, lenient: bool) -> object:
    return complex(value) if isinstance(value, (complex, float, int)) else NO


def _bool(value: object, lenient: bool) -> object:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return NO


def _string(value: object, lenient: bool) -> object:
    return value if isinstance(value, str) else NO


def _device(value: object, lenient: bool) -> object:
    if isinstance(value, Device):
        return value
    return Device(value) if isinstance(value, str) else NO


def _generator(value: object, lenient: bool) -> object:
    return value if isinstance(value, Generator) else NO


def _anything(value: object, lenient: bool) -> object:
    """A value as the machine holds it."""
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, (list, tuple)):
        return type(value)(_anything(each, lenient) for each in value)
    return value


def _also_bools(value: Sequence[object], converted: Sequence[object]) -> object:
    """Ints, of which torch looks at the first alone before it converts: others may be bools."""
    found = [
        int(each) if isinstance(each, bool) and place else known
        for place, (each, known) in enumerate(zip(value, converted, strict=True))
    ]
    return NO if any(each is NO for each in found) else found


def _list_of(element: Converter, is_int: bool, size: int | None) -> Converter:
    of_list = _int_of_list if is_int else element

    def convert(value: object, lenient: bool) -> Any:
        if isinstance(value, (list, tuple)):
            converted = [of_list(each, lenient) for each in value]
            if any(each is NO for each in converted):
                return _also_bools(value, converted) if is_int else NO
            return converted
        if size is not None:
            one = element(value, lenient)
            return NO if one is NO else [one] * size
        return NO

    return convert


def _optional(element: Converter) -> Converter:
    def convert(value: object, lenient: bool) -> Any:
        return None if value is None else element(value, lenient)

    return convert


_SIMPLE: Final[dict[Type, Converter]] = {
    TENSOR: _tensor,
    INT: _int,
    FLOAT: _float,
    NUMBER: _number,
    COMPLEX: _complex,
    BOOL: _bool,
    STRING: _string,
    DEVICE: _device,
    GENERATOR: _generator,
}


def _tensors(value: object, lenient: bool) -> object:
    """A list of tensors; numbers never stand for its elements."""
    if not isinstance(value, (list, tuple)):
        return NO
    converted = [_tensor(each, False) for each in value]
    return NO if any(each is NO for each in converted) else converted


def _converter(type: Type, size: int | None) -> Converter:
    if type.optional_of is not None:
        return _optional(_converter(type.optional_of, size))
    if type == ListType(TENSOR):
        return _tensors
    if type.list_of is not None:
        is_int = type.list_of == INT
        return _list_of(_int if is_int else _converter(type.list_of, None), is_int, size)
    return _SIMPLE.get(type, _anything)


def _converter_of(argument: Argument) -> Converter:
    if argument.word == "ScalarType" or _NUMBERED.fullmatch(argument.name):
        return _optional(_int_or_dtype) if "?" in str(argument.type) else _int_or_dtype
    convert = _converter(argument.type, argument.size)
    if argument.size and argument.has_default and argument.default == []:
        return _none_as_empty(convert)
    return convert


def _none_as_empty(convert: Converter) -> Converter:
    """None stands for the empty list where that is the default and one number may stand for all."""

    def converted(value: object, lenient: bool) -> list[int]:
        return [] if value is None else convert(value, lenient)

    return converted


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


_NUMBERED: Final = re.compile(r"(?:\w+_)?(dtype)|layout|memory_format")
"""The names of arguments that are numbers in schemas and objects in Python."""


def _spelling(argument: Argument) -> str:
    type = argument.type.inner
    numbered = _NUMBERED.fullmatch(argument.name)
    if numbered:
        return f"torch.{numbered[1] or argument.name}"
    return _SPELLINGS.get(str(type), str(type))


def type_name(value: object) -> str:
    """The type of a Python value as the C interface of Python names it."""
    kind = type(value)
    if kind in _TYPE_NAMES:
        return _TYPE_NAMES[kind]
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def wrong_keyword(function: str, name: str, kind: str, value: object) -> TypeError:
    """The error of an argument, given by name, of another type than `kind`."""
    text = f"{function}(): argument '{name}' must be {kind}, not {type_name(value)}"
    return TypeError(text)


_TYPE_NAMES: Final[dict[type, str]] = {
    **{DType: "torch.dtype", Device: "torch.device", Layout: "torch.layout"},
    **{MemoryFormat: "torch.memory_format", Size: "torch.Size", Generator: "torch._C.Generator"},
}


# --------------------------------------------------------------------------- one overload


class Form:
    """One overload as Python calls it.

    `name` is the function's name in messages, `as_method` whether the first argument is the object
    before the dot.  A single list of ints may then also be given as separate numbers.
    """

    __slots__ = (
        *("arguments", "as_method", "converters", "entry", "name", "names", "positional"),
        "spread",
    )

    def __init__(self, entry: Operator, name: str, as_method: bool) -> None:
        self.entry = entry
        self.name = name
        self.as_method = as_method
        self.arguments = entry.signature.arguments
        self.names = ["input" if a.name == "self" else a.name for a in self.arguments]
        self.converters = [_converter_of(a) for a in self.arguments]
        self.positional = sum(not a.keyword_only for a in self.arguments)
        own = self.arguments[int(as_method) : self.positional]
        self.spread: int | None = None
        if own and own[0].type == ListType(INT) and len(own) == 1:
            self.spread = int(as_method)

    def bind(
        self, args: Sequence[object], kwargs: Mapping[str, object], lenient: bool
    ) -> list[object]:
        """The values for the forward.

        Raises:
            Mismatch: the arguments do not fit.
        """
        args = self._gather(args)
        if len(args) > self.positional:
            raise Mismatch
        given: dict[int, object] = dict(enumerate(args))
        for key, value in kwargs.items():
            given[self._place(key, given)] = value
        return [
            self._value(place, given[place], lenient) if place in given else self._default(place)
            for place in range(len(self.arguments))
        ]

    def _gather(self, args: Sequence[object]) -> Sequence[object]:
        """`view(2, 3)` as `view((2, 3))`."""
        spread = self.spread
        if spread is None or len(args) <= spread:
            return args
        if isinstance(args[spread], (list, tuple)):
            return args
        return [*args[:spread], tuple(args[spread:])]

    def _named(self, key: str) -> int:
        """Which argument a keyword means; -1 if none."""
        key = _OTHER_NAMES.get(key, key) if key not in self.names else key
        if key == "self" and "input" in self.names:
            key = "input"
        return self.names.index(key) if key in self.names else -1

    def _place(self, key: str, given: Mapping[int, object]) -> int:
        place = self._named(key)
        if place < 0 or place in given:
            raise Mismatch
        return place

    def _value(self, place: int, value: object, lenient: bool) -> Any:
        converted = self._converted(place, value, lenient)
        if converted is NO:
            raise Mismatch
        return converted

    def _converted(self, place: int, value: object, lenient: bool) -> object:
        argument = self.arguments[place]
        if argument.name == "dtype" and isinstance(value, type):
            value = PYTHON_DTYPES.get(value, value)
        is_tensor = TENSOR in (argument.type, argument.type.optional_of)
        if self.entry.is_given_numbers and is_tensor and isinstance(value, (int, float, complex)):
            return value
        if lenient and is_tensor and not takes_numbers(self.name):
            return self.converters[place](value, False)
        return self.converters[place](value, lenient)

    def takes(self, place: int, value: object) -> bool:
        """Whether an argument may be a value, if only after conversion."""
        return self._converted(place, value, True) is not NO

    def _default(self, place: int) -> object:
        argument = self.arguments[place]
        if argument.has_default:
            if argument.name == "reduction" and "::" not in self.name:
                return 0  # Python's functions give losses as they are, where schemas say the mean
            return argument.default
        if argument.type.optional_of is not None and argument.keyword_only:
            return None
        raise Mismatch

    def _may_miss(self, place: int) -> bool:
        argument = self.arguments[place]
        return argument.has_default or (
            argument.type.optional_of is not None and argument.keyword_only
        )

    # ------------------------------------------------------------------ what is wrong

    def fault(self, args: Sequence[object], kwargs: Mapping[str, object]) -> str:
        """Why arguments do not fit, in torch's words: the first thing, by order of parameters.

        Args:
            args: of a method without the object before the dot.
            kwargs: `out` may be among them.
        """
        first = int(self.as_method)
        places = range(first, len(self.arguments))
        if self.as_method and not places:
            given = f"arguments ({len(args)} given)" if args else "keyword arguments"
            return f"TensorBase.{self.name}() takes no {given}"
        if len(args) > self.positional - first and not self._is_spread(args):
            return self._too_many(len(args), places)
        named = {self._named(key): value for key, value in kwargs.items()}
        for place in places:
            if place - first < len(args):
                wrong = self._wrong(place, args[place - first], args, place - first + 1)
                if place == self.spread:
                    args = args[: place - first + 1]
            elif place in named:
                wrong = self._wrong(place, named[place], args, 0)
            else:
                wrong = "" if self._may_miss(place) else self._missing(place)
            if wrong:
                return wrong
        return f"{self.name}(){self._not_wanted(len(args), kwargs)}"

    def _is_spread(self, args: Sequence[object]) -> bool:
        """Whether a list of numbers is written as arguments one by one."""
        if self.spread is None:
            return False
        return not isinstance(args[self.spread - int(self.as_method)], (list, tuple))

    def _too_many(self, count: int, places: range) -> str:
        most = self.positional - places.start
        least = sum(not self._may_miss(place) for place in places)
        if least < most:
            takes = f"from {least} to {most} positional arguments"
        else:
            takes = f"{most} positional argument{'' if most == 1 else 's'}"
        return f"{self.name}() takes {takes} but {count} {'was' if count == 1 else 'were'} given"

    def _missing(self, place: int) -> str:
        names = [
            f'"{self.names[other]}"'
            for other in range(place, len(self.arguments))
            if not self._may_miss(other)
        ]
        plural = "s" if len(names) == 1 else ""  # the other way round, as torch has it
        start = f"{self.name}() missing {len(names)} required"
        return f"{start} positional argument{plural}: {', '.join(names)}"

    def _wrong(self, place: int, value: object, args: Sequence[object], position: int) -> str:
        """What is wrong about a value, or ""; `position` is 0 for a keyword."""
        argument = self.arguments[place]
        spreads = place == self.spread and position and not isinstance(value, (list, tuple))
        parts = tuple(args[position - 1 :]) if spreads else value
        if self._converted(place, parts, True) is not NO:
            return ""
        found = ""
        if argument.type.list_of == TENSOR:
            found = _wrong_tensor(value, place - int(self.as_method))
        start = f"{self.name}(): argument '{self.names[place]}'"
        if str(argument.type).rstrip("?") == "int[]":
            found = _wrong_int(parts, start, position)
            if spreads and found.startswith("found"):
                found = ""
        where = f" (position {position})" if position else ""
        start += f"{where} must be {_spelling(argument)}, "
        if found.startswith("found"):
            return f"{start}but {found}"
        return found or f"{start}not {type_name(value)}"

    def _not_wanted(self, count: int, kwargs: Mapping[str, object]) -> str:
        first = int(self.as_method)
        for key in kwargs:
            place = self._named(key)
            if place < 0 and not self._knows(key):
                return f" got an unexpected keyword argument '{key}'"
            if 0 <= place < count + first:
                return f" got multiple values for argument '{key}'"
        return ": invalid keyword arguments"

    def _knows(self, key: str) -> bool:
        """Whether calls may give that keyword beside the arguments."""
        own = not self.as_method and key == "out"
        return own or (key == "requires_grad" and self.entry.makes_memory)


def _wrong_tensor(value: object, place: int) -> str:
    """What torch says of a list with something else than tensors, the argument of that number."""
    for number, each in enumerate(value if isinstance(value, (list, tuple)) else ()):
        if not isinstance(each, Tensor):
            name = type_name(each)
            return f"expected Tensor as element {number} in argument {place}, but got {name}"
    return ""


def _wrong_int(value: object, start: str, position: int) -> str:
    """What torch says of a list with something else than ints: it looks at the first, then at
    all."""
    if not isinstance(value, (list, tuple)) or not value:
        return ""
    at = next((place for place, each in enumerate(value) if not fits(_int(each, True))), -1)
    if at < 0:
        return ""
    if at:
        return (
            f"{start} failed to unpack the object at pos {at + 1} with error "
            f'"type must be tuple of ints,but got {type_name(value[at])}"'
        )
    return f"found element of type {type_name(value[0])} at pos 0" if position else ""


_OTHER_NAMES: Final = {
    **{"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input"},
    **{"x2": "other", "input": "self"},
}


@cache
def takes_numbers(name: str) -> bool:
    """Whether a function takes a plain number where its schema has a tensor."""
    if name.startswith("aten::"):  # called as an overload, whose in-place twin takes them too
        name = name.removeprefix("aten::").removesuffix("_")
    return any(entry.takes_numbers for entry in TABLE.operators(f"aten::{name}"))
