"""Modes that layers ask for, in Python and in script."""

from __future__ import annotations

from ..ops.table import grad_mode
from ..ops.tensors.construct import stands_for

__all__ = ["is_autocast_enabled", "is_grad_enabled"]


@stands_for("aten::is_autocast_enabled")
def is_autocast_enabled() -> bool:
    """Whether lower precision is chosen by itself: never."""
    return False


@stands_for("aten::is_grad_enabled")
def is_grad_enabled() -> bool:
    """Whether gradients are recorded."""
    return grad_mode.is_grad_enabled()
