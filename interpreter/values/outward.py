"""Values from the machine to Python.

Arrays become `Tensor`s, tuples with named fields named tuples; lists and dicts are copied."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, cast

from ...ops.python_values.futures import AwaitedResult
from ...ops.python_values.named_tuples import NamedValues
from ...ops.tensors.tensor import Tensor
from ...typecheck.types.type_table import TypeTable
from ...typecheck.types.types import (
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
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from .awaits import _Await
from .histories import with_histories
from .objects import HOST, EnumMember, ScriptObject, python_class
from .shared_parts import bounded_conversion, may_share
from .tasks import CALL, Future, Task
from .type_cache import kept_by_type

__all__ = ["named_tuple_class", "outward"]

Convert = Callable[[Any], object]


def _as_it_is(value: object) -> object:
    return value


@kept_by_type
def outward(type: Type) -> Convert:
    """The conversion of machine values of a type to Python values.

    It raises BoundExceeded where lists in many places would become too many, and for objects that
    hold themselves.
    """
    convert = _outward(type)
    return bounded_conversion(type, convert) if may_share(type) else convert


_CONVERSIONS: TypeTable[[], Convert] = TypeTable()


@kept_by_type
def _outward(type: Type) -> Convert:
    return _CONVERSIONS(type)


@_CONVERSIONS.row(Type)
def _simple_outward(type: Type) -> Convert:
    return _SIMPLE.get(type, _value_outward)


@_CONVERSIONS.row(ListType)
def _list_outward(type: ListType) -> Convert:
    return list if _outward(type.element) is _as_it_is else _compiled(type)


@_CONVERSIONS.row(FutureType)
def _future_outward(type: FutureType) -> Convert:
    element = _outward(type.element)
    if type.kind == "Await":
        return lambda value: _awaited(value, element, type)
    return lambda value: Future.done_with(value, element)


def _awaited(value: AwaitedResult, element: Convert, type: FutureType) -> _Await:
    text = type.element.annotation_str
    task = value.call
    if task is None:
        return _Await._made(None, element(value.value), text)
    assert isinstance(task, Task)
    types = [argument.type for argument in task.function.signature.arguments]
    given = [outward(t)(v) for t, v in zip(types, value.given, strict=True)]

    def call() -> object:
        assert CALL.installed is not None
        return CALL.installed(task.function, given)

    return _Await._made(call, None, text)


@_CONVERSIONS.row(OptionalType)
def _optional_outward(type: OptionalType) -> Convert:
    inner = _outward(type.element)
    if inner is _as_it_is:
        return inner
    return lambda value: None if value is None else inner(value)


def _string_outward(value: str) -> object:
    """A string; script cuts strings between bytes, and not every piece is text.

    Raises:
        UnicodeDecodeError: this one is none.
    """
    if value is None or value.isascii():
        return value
    return value.encode("utf-8", "surrogateescape").decode("utf-8")


def _tensor_outward(value: Any) -> object:
    return value if value is None or isinstance(value, Tensor) else Tensor._of(value)


_SIMPLE: dict[Type, Convert] = {
    TENSOR: _tensor_outward,
    STRING: _string_outward,
    **dict.fromkeys((INT, FLOAT, COMPLEX, BOOL, NUMBER, NONE, DEVICE), _as_it_is),
}


@_CONVERSIONS.row(DictType)
def _dict_outward(type: DictType) -> Convert:
    return _compiled(type)


@_CONVERSIONS.row(TupleType)
def _tuple_outward(type: TupleType) -> Convert:
    return _compiled(type)


DEEPEST: Final = 8
"""Types in each other that are written into one expression; deeper ones are functions."""


class _Written:
    """The conversion of one type as an expression; its text is all our own: names with numbers.

    `space` holds what the text names.
    """

    def __init__(self) -> None:
        self.space: dict[str, object] = {"__builtins__": {}}
        self._names = 0

    def _name(self, letter: str, value: object = None) -> str:
        self._names += 1
        name = f"{letter}{self._names}"
        if value is not None:
            self.space[name] = value
        return name

    def parts(self, type: Type, depth: int = 0) -> tuple[str, str]:
        """A target for a value, and the expression that is made of what is there then."""
        if depth > DEEPEST or type in (STRING, TENSOR):
            return self._alone(type)
        if isinstance(type, ListType) and _outward(type.element) is not _as_it_is:
            target, made = self.parts(type.element, depth + 1)
            value = self._name("v")
            return value, f"[{made} for {target} in {value}]"
        if isinstance(type, DictType):
            (key, new_key), (item, new_item) = (
                self.parts(each, depth + 1) for each in (type.key, type.value)
            )
            value = self._name("v")
            made = f"{{{new_key}: {new_item} for {key}, {item} in {value}.items()}}"
            if new_item == item and new_key == key:
                made = f"{{**{value}}}"
            elif new_item == item and type.key == STRING:
                made = f"({{**{value}}} if ''.join({value}).isascii() else {made})"
            return value, made
        if isinstance(type, TupleType):
            pairs = [self.parts(part, depth + 1) for part in type.elements]
            targets, made = ("".join(f"{pair[at]}, " for pair in pairs) for at in (0, 1))
            if type.name is None:
                return f"({targets})", f"({made})"
            make = named_tuple_class(type.name.rpartition(".")[2], type.fields)
            return f"({targets})", f"{self._name('m', make)}({made})"
        return self._alone(type)

    def _alone(self, type: Type) -> tuple[str, str]:
        value = self._name("v")
        if type == STRING:
            text = self._name("c", _string_outward)
            return value, f"({value} if {value} is None or {value}.isascii() else {text}({value}))"
        convert = _outward(type)
        if convert is _as_it_is:
            return value, value
        return value, f"{self._name('c', convert)}({value})"


def _of_its_own(value: NamedValues) -> object:
    """A tuple as one of the NamedTuple type that it was made for."""
    return _outward(value.type)(value)


def _compiled(type: Type) -> Convert:
    """The conversion of a container, written as one expression."""
    written = _Written()
    target, made = written.parts(type)
    named = ""
    if isinstance(type, TupleType) and type.name is None:  # one of a NamedTuple may stand there
        written.space.update(named=NamedValues, of_its_own=_of_its_own)
        named = " if value.__class__ is named:\n  return of_its_own(value)\n"
    exec(f"def convert(value):\n{named} {target} = value\n return {made}", written.space)
    return cast(Convert, written.space["convert"])


@lru_cache(maxsize=1024)
def named_tuple_class(name: str, fields: tuple[str, ...]) -> Convert:
    """The named tuple class that results of a NamedTuple type are given as."""
    return cast(Convert, namedtuple(name, fields, rename=True))


def _object_outward(value: ScriptObject) -> object:
    """The object that stands for it in Python, or a copy of its own Python class."""
    if value.handle is not None:
        return value.handle
    if value.cls.is_module:
        return value if HOST.installed is None else HOST.installed.module_of(value)
    python = python_class(value.cls)
    if python is None:
        return value
    made: object = object.__new__(python)
    for attribute, slot in zip(value.cls.attributes.values(), value.slots, strict=True):
        inside = with_histories(value, slot, attribute.type)
        object.__setattr__(made, attribute.name, outward(attribute.type)(inside))
    return made


def _member_outward(value: EnumMember) -> object:
    """Python's member of an enumeration.

    Raises:
        RuntimeError: it comes from an archive, and no script here has named such a class.
    """
    python = python_class(value.enum)
    if python is None:
        name = value.enum.qualified_name
        raise RuntimeError(
            f"Unknown reference to ScriptClass {name}. (Did you forget to import it?)"
        )
    return getattr(python, value.name)


def _value_outward(value: object) -> object:
    """The Python value of a machine's value by what it is, for `Any` and unions."""
    if isinstance(value, ScriptObject):
        return _object_outward(value)
    if isinstance(value, EnumMember):
        return _member_outward(value)
    if isinstance(value, list):
        return [_value_outward(v) for v in value]
    if isinstance(value, NamedValues):
        return _outward(value.type)(value)
    if isinstance(value, tuple):
        return tuple(_value_outward(v) for v in value)
    if isinstance(value, dict):
        return {_value_outward(k): _value_outward(v) for k, v in value.items()}
    return _tensor_outward(value) if hasattr(value, "dtype") else value
