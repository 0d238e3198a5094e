"""The type of a Python value of which no annotation tells it."""

from __future__ import annotations

from collections.abc import Iterator

from ...frontend.limits.bounds import BoundExceeded
from ...ops.memory.dtype import Device, DType, Layout, MemoryFormat, QScheme
from ...ops.quantized_tensors.packed_weights import PackedWeights
from ...ops.random_numbers.random import Generator
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.builtin_classes import builtin_class
from ...typecheck.relations.relations import join
from ...typecheck.types.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    STRING,
    TENSOR,
    Type,
)
from ...typecheck.types.value_types import ValueTypes
from .objects import HOST, EnumMember, ScriptObject

__all__ = [
    *("CannotInfer", "class_type_of", "infer_type"),
    "type_of_value",
]


class CannotInfer(Exception):
    """A value has no type of the language; the text is torch's reason."""


def type_of_value(value: object) -> Type | None:
    """The type of a Python value; None if it has none in the language."""
    try:
        return infer_type(value)
    except CannotInfer:
        return None


def class_type_of(cls: type) -> Type | None:
    """The type of a Python class's objects, if it is a script class or an enumeration."""
    return None if HOST.installed is None else HOST.installed.class_type(cls)


def infer_type(value: object) -> Type:
    """The type of a Python value.

    Raises:
        CannotInfer: it has none in the language.
    """
    if isinstance(value, Tensor):
        return TENSOR
    try:
        return _PYTHON.of(value)
    except BoundExceeded as error:
        raise CannotInfer(str(error)) from None


class _PythonTypes(ValueTypes):
    """As torch infers them; a named tuple that nobody annotated loses its names."""

    refusal = CannotInfer

    def simple(self, value: object) -> Type:
        if isinstance(value, Tensor):
            return TENSOR
        found = _EXACT.get(value.__class__)
        if found is not None:
            return found
        for cls, type in _DERIVED:
            if isinstance(value, cls):
                return type
        return _object_type(value)

    def elements(self, types: Iterator[Type]) -> Type:
        try:
            found = list(types)
        except CannotInfer as reason:
            raise CannotInfer(f"Could not infer type of list element: {reason}") from None
        if not found:
            raise CannotInfer("List trace inputs must have elements")
        return _common(found, "List", "element ")

    def entries(self, types: Iterator[Type]) -> Type:
        found = list(types)
        if not found:
            raise CannotInfer("Dictionary inputs must have entries")
        return _common(found, "Dictionary", "")


_PYTHON = _PythonTypes()


_EXACT: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    float: FLOAT,
    complex: COMPLEX,
    str: STRING,
    type(None): NONE,
    Device: DEVICE,
    DType: INT,
    Layout: INT,
    MemoryFormat: INT,
    QScheme: INT,
    Generator: GENERATOR,
}
_DERIVED: tuple[tuple[type, Type], ...] = (
    *((bool, BOOL), (int, INT), (float, FLOAT), (complex, COMPLEX), (str, STRING)),
)


def _common(types: list[Type], what: str, part: str) -> Type:
    found = types[0]
    for type in types[1:]:
        both = join(found, type)
        if both is None:
            raise CannotInfer(
                f"{what} inputs to traced functions must have consistent {part}type. Found "
                f"{found.annotation_str} and {type.annotation_str}"
            )
        found = both
    return found


def _object_type(value: object) -> Type:
    target = value if isinstance(value, ScriptObject) else getattr(value, "_c", None)
    if isinstance(target, ScriptObject):
        return target.cls
    if isinstance(value, EnumMember):
        return value.enum
    if isinstance(value, PackedWeights):
        return builtin_class(value.qualified_name)
    if HOST.installed is not None and not isinstance(value, type):
        found = HOST.installed.inferred_class(value.__class__)
        if found is not None:
            return found
    reason = None if HOST.installed is None else HOST.installed.refusal(value)
    if reason is not None:
        raise CannotInfer(reason)
    raise CannotInfer(
        "Only tensors and (possibly nested) tuples of tensors, lists, or dicts are supported as "
        "inputs or outputs of traced functions, but instead got value of type "
        f"{value.__class__.__name__}."
    )
