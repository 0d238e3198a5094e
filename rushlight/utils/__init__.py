"""`torch.utils`: data sets and their loaders, checkpoints."""

from __future__ import annotations

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
