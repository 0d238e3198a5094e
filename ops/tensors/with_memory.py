"""Tensors for functions that reach for the memory behind them."""

from __future__ import annotations

from typing import Any

__all__ = ["with_elements", "with_memory"]


def with_memory(tensor: Any) -> Any:
    """The tensor itself, or one of its elements where these are computed when they are read."""
    return tensor._resolved() if getattr(type(tensor), "_is_turned", False) else tensor


def with_elements(value: Any) -> Any:
    """The same of all tensors in plain lists, tuples and dicts; others as they are."""
    kind = type(value)
    if kind is dict:
        return {key: with_elements(each) for key, each in value.items()}
    return kind(map(with_elements, value)) if kind in (list, tuple) else with_memory(value)
