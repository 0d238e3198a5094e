"""Tensors for functions that reach for the memory behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["with_elements", "with_memory"]

_T = TypeVar("_T")


def with_memory(tensor: _T) -> _T:
    """The tensor itself, or one of its elements where these are computed when they are read."""
    resolve: Callable[[_T], _T] | None = getattr(type(tensor), "_resolved", None)
    return tensor if resolve is None else resolve(tensor)


def with_elements(value: Any) -> Any:
    """The same of all tensors in plain lists, tuples and dicts; others as they are."""
    kind = type(value)
    if kind is dict:
        return {key: with_elements(each) for key, each in value.items()}
    return kind(map(with_elements, value)) if kind in (list, tuple) else with_memory(value)
