"""Tensors for functions that reach for the memory behind them."""

from __future__ import annotations

from typing import Any

__all__ = ["with_memory"]


def with_memory(tensor: Any) -> Any:
    """The tensor itself, or one of its elements where these are computed when they are read."""
    return tensor._resolved() if getattr(type(tensor), "_is_turned", False) else tensor
