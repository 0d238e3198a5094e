"""`torch.utils.hooks`: the handles of hooks."""

from __future__ import annotations

from ..nn.handles import RemovableHandle

__all__ = ["RemovableHandle"]
