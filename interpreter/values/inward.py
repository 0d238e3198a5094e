"""Values from Python to the machine.

A value is checked against a type and converted as torch does it: an int is taken for a float, a
tuple for a list, a tensor of one element for a number; lists and dicts are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from operator import index
from types import NoneType
from typing import Any, Final, SupportsFloat, SupportsIndex, SupportsInt

from ...frontend.limits.walks import text_of
from ...ops.memory.dtype import Device, DType, Layout, MemoryFormat, QScheme
from ...ops.python_values.futures import AwaitedResult, TaskResult
from ...ops.python_values.named_tuples import make_named
from ...ops.python_values.strings import from_bytes
from ...ops.python_values.tensor_dict import TensorDict
from ...ops.quantized_tensors.packed_weights import PackedWeights
from ...ops.random_numbers.random import Generator
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import ClassType, InterfaceType
from ...typecheck.relations.interfaces import why_unfit
from ...typecheck.relations.relations import is_subtype
from ...typecheck.types.type_table import TypeTable
from ...typecheck.types.types import (
    ANY,
    ANY_LIST,
    ANY_TUPLE,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    DictType,
    EnumType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)
from .actions import write_slot
from .awaits import _Await
from .handles import KEEPING, keeps_handles
from .histories import keep_given
from .inference import CannotInfer, infer_type, type_of_value
from .matching import EXACT
from .objects import EnumMember, ScriptObject, python_class
from .shared_parts import bounded_conversion, may_share
from .shared_values import SharedValues
from .tasks import Future
from .type_cache import kept_by_type

__all__ = ["CastError", "Convert", "class_text", "inward"]

Convert = Callable[[Any], Any]


class CastError(Exception):
    """A Python value is not of the type asked for; the text is torch's last line about it."""


@kept_by_type
def inward(type: Type) -> Convert:
    """The conversion of Python values to machine values of a type; it raises `CastError`.

    It raises BoundExceeded where lists in many places would become too many, and for what holds
    itself.
    """
    convert = _inward(type)
    return bounded_conversion(type, convert) if may_share(type) else convert


_CONVERSIONS: TypeTable[[], Convert] = TypeTable()


@kept_by_type
def _inward(type: Type) -> Convert:
    return _CONVERSIONS(type)


@_CONVERSIONS.row(Type)
def _simple_inward(type: Type) -> Convert:
    return _INWARD.get(type, _as_it_is)


def class_text(value: object) -> str:
    """`<class 'int'>`, with a tensor's class under torch's name."""
    return "<class 'torch.Tensor'>" if isinstance(value, Tensor) else str(type(value))


def _cannot(value: object) -> CastError:
    return CastError(
        f"Cast error details: Unable to cast Python instance of type {class_text(value)} to C++ "
        "type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


def _tensor(value: object) -> object:
    if isinstance(value, Tensor):
        return value if KEEPING and keeps_handles() else value._array
    if value is None:
        return None
    raise CastError(f"Cast error details: Unable to cast {text_of(value, str)} to Tensor")


def _int(value: object) -> int:
    if value.__class__ is int:
        number = value
    elif isinstance(value, float | str | bytes):
        raise _cannot(value)
    elif isinstance(value, DType | Layout | MemoryFormat | QScheme):
        return int(value.number)
    elif isinstance(value, SupportsIndex | SupportsInt):
        number = _attempt(value, index, int)
    else:
        raise _cannot(value)
    if not -(2**63) <= number < 2**63:
        raise _cannot(value)
    return int(number)


def _attempt(value: object, *converts: Convert) -> Any:
    """The result of the first conversion that does not fail.

    Raises:
        CastError: all do.
    """
    for convert in converts:
        try:
            return convert(value)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            continue
    raise _cannot(value)


def _float(value: object) -> float:
    if value.__class__ is float:
        return float(value)
    if isinstance(value, str | bytes) or not isinstance(value, SupportsFloat | SupportsIndex):
        raise _cannot(value)
    return float(_attempt(value, float))


def _complex(value: object) -> complex:
    if isinstance(value, complex):
        return complex(value)
    return complex(_float(value))


def _bool(value: object) -> bool:
    if value is True or value is False:
        return bool(value)
    if not any("__bool__" in vars(cls) for cls in value.__class__.__mro__):
        raise _cannot(value)
    return bool(_attempt(value, bool))


def _number(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, complex):
        return complex(value)
    if isinstance(value, Tensor):
        return value.item()
    return _int(value)


def _string(value: object) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return from_bytes(value)
    raise _cannot(value)


def _none(value: object) -> None:
    if value is not None:
        raise _cannot(value)


def _device(value: object) -> Device:
    if isinstance(value, Device):
        return value
    if isinstance(value, str):
        return Device(value)
    raise _cannot(value)


def _generator(value: object) -> Generator:
    if isinstance(value, Generator):
        return value
    raise _cannot(value)


def _element_tensor(value: object) -> object:
    """A tensor of a list, none of which can be None."""
    if value is None:
        raise _cannot(value)
    return _tensor(value)


def _any(value: object) -> object:
    """A value whose type is found out first.

    Raises:
        RuntimeError: it has none (torch's text).
    """
    if value is None:
        return None
    try:
        type = infer_type(value)
    except CannotInfer as reason:
        raise RuntimeError(
            f"Tracer cannot infer type of {text_of(value, str)}\n:{reason}"
        ) from None
    return inward(type)(value)


def _as_it_is(value: object) -> object:
    return value


def _never(type: Type) -> Convert:
    """Lists and tuples of whatever are known to script, but no value of Python becomes one."""

    def refuse(value: object) -> object:
        raise CastError(f"Cast error details: toIValue() cannot handle converting to type: {type}")

    return refuse


_INWARD: dict[Type, Convert] = {
    TENSOR: _tensor,
    INT: _int,
    FLOAT: _float,
    COMPLEX: _complex,
    BOOL: _bool,
    NUMBER: _number,
    STRING: _string,
    NONE: _none,
    DEVICE: _device,
    GENERATOR: _generator,
    ANY: _any,
    ANY_LIST: _never(ANY_LIST),
    ANY_TUPLE: _never(ANY_TUPLE),
}

_PACKED = frozenset({INT, FLOAT, BOOL, COMPLEX, TENSOR})
"""Element types whose lists torch casts as a whole, and speaks of as a whole."""


def _held(value: object) -> list[object]:
    """What becomes the parts of a tuple: what a tuple holds, whatever its class says of that."""
    return list(tuple.__iter__(value)) if isinstance(value, tuple) else _iterate(value)


def _iterate(value: Any) -> list[object]:
    try:
        return list(value)
    except TypeError as error:
        raise CastError(f" Python error details: TypeError: {error}") from None


_WORDS: dict[Type, type] = {
    INT: int,
    FLOAT: float,
    BOOL: bool,
    STRING: str,
    NONE: NoneType,
}


def _words_of(type: Type) -> frozenset[type]:
    """The classes whose values, of a type, are the machine's already; none if others may be."""
    found = [_WORDS.get(each) for each in type.alternatives]
    return frozenset() if None in found else frozenset(filter(None, found))


def _are_words(items: Collection[Any], classes: frozenset[type]) -> bool:
    """Whether all are of these very classes, and whole numbers have 64 bits."""
    if not classes or not classes.issuperset(map(type, items)):
        return False
    if int not in classes or not items:
        return True
    if len(classes) > 1:
        return all(map(_fits, items))
    return bool(min(items) >= -(2**63) and max(items) < 2**63)


_class_of: Final[Callable[[object], object]] = type


def _fits(item: object) -> bool:
    """Whether a word has 64 bits if it is a whole number."""
    return type(item) is not int or -(2**63) <= item < 2**63


@_CONVERSIONS.row(ListType)
def _list_inward(type: ListType) -> Convert:
    element = _element_tensor if type.element == TENSOR else _inward(type.element)
    packed = type.element in _PACKED
    words = _words_of(type.element)

    def convert(value: object) -> list[object]:
        items: list[object]
        if value.__class__ is list:
            items = value[:]
        elif isinstance(value, SharedValues) and value.type == type:
            items = value.content
            return items
        elif isinstance(value, Tensor | str | bytes | dict) or not hasattr(value, "__iter__"):
            raise _cannot(value)
        else:
            items = _iterate(value)
        if _are_words(items, words):
            return items
        try:
            return [element(item) for item in items]
        except CastError:
            if packed:
                raise _cannot(value) from None
            raise

    return convert


@_CONVERSIONS.row(DictType)
def _dict_inward(type: DictType) -> Convert:
    key, element = _inward(type.key), _inward(type.value)
    keys, words = _words_of(type.key), _words_of(type.value)
    of_tensors = type.key == TENSOR

    def convert(value: Any) -> dict[object, object]:
        if isinstance(value, SharedValues) and value.type == type:
            content: dict[object, object] = value.content
            return content
        try:
            items = dict(value)
        except (TypeError, ValueError) as error:
            name = error.__class__.__name__
            raise CastError(f" Python error details: {name}: {error}") from None
        if _are_words(items, keys) and _are_words(items.values(), words):
            return items
        pairs = ((key(k), element(v)) for k, v in items.items())
        return TensorDict(pairs) if of_tensors else dict(pairs)

    return convert


@_CONVERSIONS.row(TupleType)
def _tuple_inward(type: TupleType) -> Convert:
    parts = [_inward(part) for part in type.elements]
    words = tuple(map(_WORDS.get, type.elements))
    are_words, has_whole = bool(words) and None not in words, int in words

    def convert(value: object) -> tuple[object, ...]:
        items: Any = value if value.__class__ is tuple else _held(value)
        is_made = are_words and tuple(map(_class_of, items)) == words
        if is_made and (not has_whole or all(map(_fits, items))):
            return tuple(items)
        if len(items) != len(parts):
            raise CastError(
                f"Cast error details: Object {text_of(value, str)} had a different number of "
                f"elements than type "
                f"{type.annotation_str}"
            )
        return tuple([part(item) for part, item in zip(parts, items, strict=True)])

    return convert if type.name is None else lambda value: make_named(type, convert(value))


@_CONVERSIONS.row(OptionalType)
def _optional_inward(type: OptionalType) -> Convert:
    inner = _inward(type.element)
    return lambda value: None if value is None else inner(value)


@_CONVERSIONS.row(UnionType)
def _union_inward(type: UnionType) -> Convert:
    ways = [_inward(member) for member in type.members]
    exact = {EXACT[t]: way for t, way in zip(type.members, ways, strict=True) if t in EXACT}

    def convert(value: object) -> object:
        first = exact.get(value.__class__)
        for way in ways if first is None else (first, *ways):
            try:
                return way(value)
            except CastError:
                continue
        raise CastError(
            f"Cast error details: Expected a member of {type.annotation_str} but instead found "
            f"type {_type_text(value)}"
        )

    return convert


def _type_text(value: object) -> str:
    """A value's type as torch writes it; for what has none, its Python class."""
    found = type_of_value(value)
    return value.__class__.__name__ if found is None else found.annotation_str


@_CONVERSIONS.row(ClassType)
def _class_inward(type: ClassType) -> Convert:
    return lambda value: _object_inward(value, type)


@_CONVERSIONS.row(InterfaceType)
def _interface_inward(type: InterfaceType) -> Convert:
    return lambda value: _implementation(value, type)


def _target(value: object) -> object:
    """The script object that a value is, or stands for."""
    return value if isinstance(value, ScriptObject) else getattr(value, "_c", None)


def _object_inward(value: object, type: ClassType) -> ScriptObject | PackedWeights:
    if isinstance(value, PackedWeights) and value.qualified_name == type.qualified_name:
        return value
    target = _target(value)
    if isinstance(target, ScriptObject) and target.cls is type:
        return target
    made = _python_object(value, type)
    if made is not None:
        return made
    for name in type.attributes:
        if not hasattr(value, name):
            raise _missing(name, type)
    raise CastError(f"Cast error details: Could not cast {class_text(value)} to `{type.python}`")


def _missing(name: str, type: ClassType) -> CastError:
    return CastError(
        f"Cast error details: Tried to cast object to type {type} but object was missing attribute "
        f"{name}"
    )


def _implementation(value: object, type: InterfaceType) -> ScriptObject:
    """The script object of a value that fills an interface.

    Raises:
        CastError: it lacks methods of it.
        RuntimeError: there is no such thing in script.
    """
    target = _target(value)
    cls = target.cls if isinstance(target, ScriptObject) else type_of_value(value)
    if not isinstance(cls, ClassType):
        raise RuntimeError(
            f"Assigning the object {text_of(value, str)} to an interface fails because the value "
            "is not a TorchScript compatible type, did you forget toturn it into a user defined "
            "TorchScript class?"
        )
    if not is_subtype(cls, type):
        name, interface = cls.annotation_str, type.annotation_str
        raise CastError(
            f"Cast error details: Object of type {name} is not compatible with interface "
            f"{interface}\n{why_unfit(cls, type)}".rstrip("\n")
        )
    made = target if isinstance(target, ScriptObject) else _python_object(value, cls)
    assert made is not None
    return made


def _python_object(value: object, cls: ClassType) -> ScriptObject | None:
    """A copy, as a script object, of an object of the Python class that a script class is of."""
    python = python_class(cls)
    if python is None or not isinstance(value, python):
        return None
    slots = [_attribute(value, a.name, a.type, cls) for a in cls.attributes.values()]
    made = ScriptObject(cls, slots)
    for name in cls.attributes:
        keep_given(made, getattr(value, name))
    return made


def _attribute(value: object, name: str, type: Type, cls: ClassType) -> object:
    """The slot of an attribute of a Python object.

    Raises:
        CastError: the object lacks it, or it is not of its type.
    """
    if not hasattr(value, name):
        raise _missing(name, cls)
    try:
        return _slot(getattr(value, name), type)
    except CastError as error:
        reason = str(error).removeprefix("Cast error details: ")
        raise CastError(
            f"Cast error details: Could not cast attribute '{name}' to type {type}: {reason}"
        ) from None


def _slot(value: object, type: Type) -> object:
    is_handle = isinstance(value, Tensor) and is_subtype(TENSOR, type)
    return value if is_handle else write_slot(inward(type)(value))


@_CONVERSIONS.row(FutureType)
def _future_inward(type: FutureType) -> Convert:
    element = inward(type.element)
    if type.kind == "Await":
        return lambda value: _awaited_result(value, element)
    return lambda value: _task_result(value, element)


@_CONVERSIONS.row(EnumType)
def _enum_inward(type: EnumType) -> Convert:
    return lambda value: _member(value, type)


def _task_result(value: object, element: Convert) -> TaskResult:
    if not isinstance(value, Future):
        raise _cannot(value)
    outcome = value.outcome()
    return outcome if outcome.error is not None else TaskResult(element(value.wait()))


def _awaited_result(value: object, element: Convert) -> AwaitedResult:
    """Python's call is made here: running code could not make it later."""
    if not isinstance(value, _Await):
        raise _cannot(value)
    return AwaitedResult(element(value.wait()))


def _member(value: Any, type: EnumType) -> EnumMember:
    """The member of that name and value; torch does not look at the class either.

    Raises:
        CastError: the value has no name, another type, or is no member.
    """
    try:
        name, held = value.name, inward(type.value)(value.value)
    except AttributeError as error:
        raise CastError(f" Python error details: AttributeError: {error}") from None
    if (name, held) not in type.members:
        raise _cannot(value)
    return EnumMember(type, name)
