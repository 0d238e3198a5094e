"""Complex parameters are changed as pairs of real numbers, and what is kept of them is complex."""

from __future__ import annotations

from typing import Any, TypeVar

from ..ops.conjugates.tensors import in_memory
from ..ops.eager.aten import aten
from ..ops.tensors.tensor import Tensor

__all__ = ["as_pairs", "keep_pairs"]

Item = TypeVar("Item")
_Several = TypeVar("_Several", list[Tensor], dict[str, Any])


def as_pairs(values: _Several) -> _Several:
    """Real views (..., 2) of the complex tensors among values; others as they are."""
    if isinstance(values, dict):
        return {name: _as_pair(value) for name, value in values.items()}
    return [_as_pair(value) for value in values]


def _as_pair(value: Item) -> Item | Tensor:
    if isinstance(value, Tensor) and value.is_complex():
        return aten.view_as_real(in_memory(value))
    return value


def keep_pairs(pairs: dict[str, object], state: dict[str, Any], parameter: Tensor) -> None:
    """Put what a step left of `as_pairs(state)` into the state; pairs as large as the parameter
    as complex numbers."""
    shape = (*parameter.shape, 2)
    for name, value in pairs.items():
        if not isinstance(value, Tensor) or value.shape != shape:
            state[name] = value
        elif name not in state or state[name].data_ptr() != value.data_ptr():
            state[name] = aten.view_as_complex(value)
