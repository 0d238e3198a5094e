"""What the larger instructions do; the machine and the plans both call these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.memory.errors import OperatorError
from ...ops.python_values.named_tuples import NamedValues, make_named
from ...ops.python_values.tensor_dict import TensorDict
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import TupleType, Type
from .matching import matches
from .objects import EnumMember, ScriptObject

__all__ = [
    "ACTIONS",
    "ScriptRaise",
    "check_list",
    "create",
    "differ",
    "is_instance",
    "make_dict",
    "make_tensor_dict",
    "raise_exception",
    "read_slot",
    "wrap",
    "write_slot",
]


class ScriptRaise(Exception):
    """A `raise` or `assert` of the program; `exception` is the class's qualified name or None."""

    def __init__(self, message: str, exception: str | None) -> None:
        super().__init__(message)
        self.message = message
        self.exception = exception


def wrap(number: int) -> int:
    """A whole number in 64 bits, two's complement."""
    return (number + 2**63) % 2**64 - 2**63


def create(cls: Type) -> ScriptObject:
    """A new object whose slots are empty."""
    assert isinstance(cls, ClassType)
    return ScriptObject(cls)


def read_slot(value: object) -> object:
    """What a slot holds, as the machine's own value."""
    return value._array if isinstance(value, Tensor) else value


def write_slot(value: object) -> object:
    """What a slot shall hold for a machine's value."""
    return Tensor._of(value) if isinstance(value, np.ndarray) else value


def differ(*objects: object) -> bool:
    """Whether all objects are different ones."""
    return len(set(map(id, objects))) == len(objects)


def make_dict(items: Sequence[Any]) -> dict[object, object]:
    """A dict of keys and values in turn."""
    keys = items[::2]
    if items and isinstance(items[0], float | complex):  # a NaN equals no key: see `_for_numbers`
        keys = [key if key == key else key + 0.0 for key in keys]
    return dict(zip(keys, items[1::2], strict=True))


def make_tensor_dict(items: Sequence[Any]) -> TensorDict:
    """A dict of tensors and values in turn."""
    return TensorDict(zip(items[::2], items[1::2], strict=True))


def check_list(values: list[object], count: int) -> list[object]:
    """The list, if it has `count` elements.

    Raises:
        OperatorError: it has not.
    """
    if len(values) != count:
        raise OperatorError(f"Expected {count} elements in a list but found {len(values)}")
    return values


def is_instance(value: object, types: Sequence[Type]) -> bool:
    """Whether a value is of one of the types."""
    return any(matches(value, one) and _has_names(value, one) for one in types)


def _has_names(value: object, type: Type) -> bool:
    """Whether a value has the names of a type's fields, if it has some."""
    if not isinstance(type, TupleType) or type.name is None:
        return True
    return isinstance(value, NamedValues) and value.type.fields == type.fields


def enum_value(member: EnumMember) -> object:
    """The value of an enumeration's member."""
    return member.value


def raise_exception(message: str, exception: str | None) -> None:
    """Raise an exception of the program's own.

    Raises:
        ScriptRaise: always.
    """
    raise ScriptRaise(message, exception)


ACTIONS: dict[str, object] = {
    action.__name__: action
    for action in (
        check_list,
        create,
        differ,
        enum_value,
        is_instance,
        len,
        make_dict,
        make_named,
        make_tensor_dict,
        raise_exception,
        range,
        read_slot,
        wrap,
        write_slot,
    )
}
"""What the lines of instructions call, by name."""
