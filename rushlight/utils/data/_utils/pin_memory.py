"""Batches in memory that a card reads directly, of which there is none."""

from __future__ import annotations

from typing import Any

from .collate import inside

__all__ = ["pin_memory"]


def pin_memory(data: object, device: object = None) -> Any:
    """What `pin_memory()` makes of tensors and other objects that have it, also in containers."""
    method = getattr(data, "pin_memory", None)
    return inside(data, pin_memory) if method is None else method()
