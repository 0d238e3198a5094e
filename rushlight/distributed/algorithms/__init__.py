"""`torch.distributed.algorithms`: training with uneven numbers of batches."""

from __future__ import annotations

from .join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
