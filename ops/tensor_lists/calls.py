"""What is called of operators over lists of tensors: functions, and what `torch.ops.aten` has."""

from __future__ import annotations

from . import fused_steps, operators
from .functions import foreach_function
from .fused_steps import fused_function

__all__ = ["function", "fused_steps", "operators"]


def function(name: str) -> object:
    """What `torch.<name>` is, if that is over lists of tensors; None if there is none."""
    return foreach_function(name) if name.startswith("_foreach_") else fused_function(name)
