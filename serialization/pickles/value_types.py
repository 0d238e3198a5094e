"""The types of machine values of which nothing else tells the type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...frontend.walks import containers_in, fold
from ...interpreter.values.inference import type_of_value
from ...typecheck.relations import join
from ...typecheck.types import ANY, TENSOR, DictType, ListType, TupleType, Type

__all__ = ["machine_type"]


def machine_type(value: object) -> Type:
    """The type of a machine value; an empty list is one of Tensors, as in torch.  What differs
    inside a list or dict makes its elements `Any`.

    Raises:
        BoundExceeded: the value contains itself, or its type would be too large.
    """
    if isinstance(value, list | dict | tuple):
        return fold(value, containers_in, _container_type)
    return _simple_type(value)


def _simple_type(value: object) -> Type:
    return TENSOR if isinstance(value, np.ndarray) else type_of_value(value) or ANY


def _container_type(value: object, known: dict[int, Type]) -> Type:
    def types(values: Iterable[object]) -> Iterator[Type]:
        return (known[id(v)] if id(v) in known else _simple_type(v) for v in values)

    match value:
        case list():
            return ListType(_joined(types(value)) if value else TENSOR)
        case dict():
            return DictType(_joined(types(value)), _joined(types(value.values())))
    assert isinstance(value, tuple)
    return TupleType(tuple(types(value)))


def _joined(types: Iterable[Type]) -> Type:
    found: Type | None = None
    for type in types:
        found = type if found is None else join(found, type)
        if found is None:
            return ANY
    return ANY if found is None else found
