"""The types of machine values of which nothing else tells the type."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...interpreter.values.inference import type_of_value
from ...typecheck.relations.relations import join
from ...typecheck.types.types import ANY, TENSOR, Type
from ...typecheck.types.value_types import ValueTypes

__all__ = ["machine_type"]


def machine_type(value: object) -> Type:
    """The type of a machine value; an empty list is one of Tensors, as in torch.  What differs
    inside a list or dict makes its elements `Any`.

    Raises:
        BoundExceeded: the value contains itself, or its type would be too large.
    """
    return _MACHINE.of(value)


class _MachineTypes(ValueTypes):
    def simple(self, value: object) -> Type:
        return TENSOR if isinstance(value, np.ndarray) else type_of_value(value) or ANY

    def elements(self, types: Iterator[Type]) -> Type:
        return _joined(types, TENSOR)

    def entries(self, types: Iterator[Type]) -> Type:
        return _joined(types, ANY)


_MACHINE = _MachineTypes()


def _joined(types: Iterator[Type], nothing: Type) -> Type:
    found = next(types, nothing)
    for type in types:
        both = join(found, type)
        if both is None:
            return ANY
        found = both
    return found
