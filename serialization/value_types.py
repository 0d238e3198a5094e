"""The types of machine values of which nothing else tells the type."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..interpreter.inference import type_of_value
from ..typecheck.relations import join
from ..typecheck.types import ANY, TENSOR, DictType, ListType, TupleType, Type

__all__ = ["machine_type"]


def machine_type(value: object) -> Type:
    """The type of a machine value; an empty list is one of Tensors, as in torch.  What differs
    inside a list or dict makes its elements `Any`."""
    match value:
        case np.ndarray():
            return TENSOR
        case list():
            return ListType(_joined(value) if value else TENSOR)
        case dict():
            return DictType(_joined(value), _joined(value.values()))
        case tuple():
            return TupleType(tuple(machine_type(item) for item in value))
    return type_of_value(value) or ANY


def _joined(values: Iterable[object]) -> Type:
    found: Type | None = None
    for value in values:
        type = machine_type(value)
        found = type if found is None else join(found, type)
        if found is None:
            return ANY
    return ANY if found is None else found
