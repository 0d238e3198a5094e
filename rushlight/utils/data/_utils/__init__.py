"""`torch.utils.data._utils`: where programs look for how batches are put together."""

from __future__ import annotations

from . import collate, pin_memory, worker

__all__ = ["collate", "pin_memory", "worker"]
