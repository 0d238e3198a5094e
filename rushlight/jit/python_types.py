"""Live annotations (`List[int]`, `Optional[Tensor]`, `"int"`) -> types of the language."""

from __future__ import annotations

import contextlib
import copy
import inspect
import sys
import types
import typing
from typing import Any

from .._awaits import _Await
from ..frontend.foundations.kept import kept_with
from ..interpreter.values.inference import class_type_of
from ..interpreter.values.tasks import Future
from ..legacy_tensors import TensorClass
from ..nn.modules.module import Module
from ..ops.memory.dtype import Device, DType
from ..ops.quantized_tensors.packed_weights import PackedWeights
from ..ops.random_numbers.random import Generator
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE, builtin_class
from ..typecheck.relations.relations import optional, union
from ..typecheck.types.dict_keys import dict_type
from ..typecheck.types.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    STRING,
    TENSOR,
    FutureType,
    ListType,
    TupleType,
    Type,
)
from .qualified_names import qualified_name
from .shared_types import first_type_of

__all__ = [
    "named_tuple_type",
    "names_a_type",
    "type_of_annotation",
    "type_of_class",
    "unknown_field",
]

_CLASSES: dict[object, Type] = {
    bool: BOOL,
    int: INT,
    float: FLOAT,
    complex: COMPLEX,
    str: STRING,
    type(None): NONE,
    Tensor: TENSOR,
    Device: DEVICE,
    Generator: GENERATOR,
    DType: INT,
}


def names_a_type(cls: type) -> bool:
    """Whether a class stands for a type of the language, not one that its source would make."""
    found = cls in _CLASSES or cls is Future or isinstance(cls, TensorClass)
    return found or issubclass(cls, Tensor | PackedWeights | tuple)


def type_of_class(cls: object) -> Type | None:
    """The type a Python class stands for (`int`, `Tensor`, a NamedTuple class); None if none."""
    if isinstance(cls, tuple):
        return None  # no class, and its hash may take for ever
    if cls is Future:
        raise RuntimeError(
            "Attempted to use Future without a contained type. Please add a contained type, e.g. "
            "Future[int]"
        )
    if isinstance(cls, type) and issubclass(cls, PackedWeights):
        return builtin_class(f"{BUILTIN_NAMESPACE}{cls.class_name}")
    try:
        found = _CLASSES.get(cls)
    except TypeError:  # unhashable: no class
        return None
    if found is not None:
        return found
    if isinstance(cls, type):
        if issubclass(cls, Tensor) or isinstance(cls, TensorClass):
            return TENSOR
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return named_tuple_type(cls)
        return class_type_of(cls)
    return None


def named_tuple_type(cls: type) -> TupleType:
    """The type of a NamedTuple class; a field without annotation is a Tensor."""
    fields = tuple(getattr(cls, "_fields", ()))
    hints = _hints(cls)
    elements = tuple(
        type_of_annotation(hints[f]) or TENSOR if f in hints else TENSOR for f in fields
    )
    given = _defaults(cls)
    if any(isinstance(value, Tensor) for _, value in given):
        raise RuntimeError(
            "Tensors are not supported as default NamedTuple fields. Their mutability could lead "
            "to potential memory aliasing problems"
        )
    return TupleType(elements, qualified_name(cls), fields, given)


def unknown_field(cls: object) -> tuple[str, str] | None:
    """The first field of a NamedTuple class whose type is none of the language's, and what torch
    says of it up to the place; None for any other class."""
    if not (isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return None
    hints, written = _hints(cls), inspect.get_annotations(cls)
    for field in (each for each in cls._fields if each in written):
        if field not in hints and isinstance(written[field], typing.ForwardRef | str):
            return field, (
                f"Unknown type annotation: '{written[field]}' in NamedTuple {cls.__name__}. "
                "Likely due to partial support for ForwardRef parameters in NamedTuples, see "
                "#95858. Issue occurred at "
            )
        hint = hints.get(field, written[field])
        if type_of_annotation(hint) is None and not _is_of_users(hint):
            return field, f"Unknown type annotation: '{hint}' at "
    return None


def _is_of_users(annotation: object) -> bool:
    """Whether it is a class that may become one of the language's."""
    if not isinstance(annotation, type) or typing.get_origin(annotation) is not None:
        return False
    members = [getattr(annotation, name, None) for name in vars(annotation)]
    is_python = all(hasattr(each, "__code__") for each in members if inspect.isroutine(each))
    return is_python and not issubclass(annotation, Module | list | tuple | Exception)


def _hints(cls: type) -> dict[str, object]:
    """The annotations of a class; without those whose names are only known elsewhere."""
    with contextlib.suppress(Exception):
        return typing.get_type_hints(cls)
    home = sys.modules.get(cls.__module__)  # none for code that was executed without a module
    names = {**vars(typing), "Tensor": Tensor, **({} if home is None else vars(home))}
    hints: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        for field, annotation in inspect.get_annotations(base).items():
            alone = type(cls.__name__, (), {"__annotations__": {field: annotation}})
            with contextlib.suppress(Exception):
                hints[field] = typing.get_type_hints(alone, names)[field]
    return hints


@kept_with
def _defaults(cls: type) -> tuple[tuple[str, object], ...]:
    """Copies of the defaults, made once: scripts that change one see that, Python does not."""
    defaults = getattr(cls, "_field_defaults", {})
    return tuple((f, _own(value)) for f, value in defaults.items())


def _own(value: object) -> object:
    return copy.deepcopy(value) if isinstance(value, (list, dict, tuple)) else value


def type_of_annotation(annotation: object) -> Type | None:
    """The type of a live annotation, or None if it has none in the language."""
    if annotation is None:
        return NONE
    if annotation is Any:
        return ANY
    origin = typing.get_origin(annotation)
    if origin is None:
        found = type_of_class(annotation)
        if found is None and isinstance(annotation, type) and issubclass(annotation, Module):
            return first_type_of(annotation)
        return found
    if origin in (typing.Final, typing.ClassVar):
        return type_of_annotation(typing.get_args(annotation)[0])
    parts = [type_of_annotation(part) for part in typing.get_args(annotation) if part != ()]
    known = [part for part in parts if part is not None]
    return None if len(known) != len(parts) else _generic(origin, known)


def _generic(origin: object, parts: list[Type]) -> Type | None:
    if origin is list and len(parts) == 1:
        return ListType(parts[0])
    if origin is dict and len(parts) == 2:
        return dict_type(*parts)
    if origin is tuple:
        return TupleType(tuple(parts))
    if origin is Future and len(parts) == 1:
        return FutureType(parts[0])
    if origin is _Await and len(parts) == 1:
        return FutureType(parts[0], "Await")
    if origin in (typing.Union, types.UnionType):
        rest = [part for part in parts if part != NONE]
        if len(rest) == 1:
            return optional(rest[0]) if len(rest) != len(parts) else rest[0]
        return union(parts)
    return None
