"""Which operators stretches may consist of, and what they may be given."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...ops.quantized_tensors.packed_weights import PACKED_CLASSES
from ...ops.table.direct import has_direct_form
from ...ops.table.record import Operator
from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import Type

__all__ = ["can_be_taken", "is_object", "takes_operator"]

_PACKED: Final = frozenset(BUILTIN_NAMESPACE + name for name in PACKED_CLASSES)


def takes_operator(entry: Operator) -> bool:
    """Whether an operator may be nothing but kernels, as far as its record tells."""
    if entry.random or entry.effects:
        return False
    if "Tensor" not in entry.schema:
        return True
    if entry.trains_by and not entry.signature.is_mutable:
        return True  # if it does not train, which is seen
    if entry.may_write:
        return entry.is_in_place and has_direct_form(entry)
    if entry.views_by_form or entry.asks_form or has_direct_form(entry) or entry.makes_networks:
        return True
    if entry.quantized_prepared:
        return True
    return not _takes_tensors(entry)


def _takes_tensors(entry: Operator) -> bool:
    return any("Tensor" in str(argument.type) for argument in entry.signature.arguments)


def is_object(type: Type) -> bool:
    """Whether values of a type are objects, other than packed weights, which are given as such."""
    return isinstance(type, ClassType) and type.qualified_name not in _PACKED


_TAKEN: Final = (np.ndarray, int, float, bool, str, type(None), list, tuple)


def can_be_taken(value: Any) -> bool:
    """Whether native code can tell a value from others: no list but of numbers of one kind."""
    kinds = {type(each) for each in value} if type(value) in (list, tuple) else set()
    is_taken = type(value) in _TAKEN or getattr(type(value), "never_changes", False)
    return is_taken and kinds in (set(), {int}, {float})
