"""`torch.utils`: data sets and their loaders, checkpoints, handles of hooks."""

from __future__ import annotations

from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]
