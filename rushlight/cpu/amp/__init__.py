"""`torch.cpu.amp`: automatic mixed precision under its older name."""

from __future__ import annotations

from .autocast_mode import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
