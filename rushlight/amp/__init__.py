"""`torch.amp`: automatic mixed precision."""

from __future__ import annotations

from .autocast_mode import autocast, is_autocast_available

__all__ = ["autocast", "is_autocast_available"]
