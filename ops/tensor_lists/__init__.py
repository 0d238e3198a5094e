"""Operators over lists of tensors: functions, and what `torch.ops.aten` has for them."""

from . import functions, operators

__all__ = ["functions", "operators"]
