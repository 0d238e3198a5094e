"""`torch.utils.data._utils`: where programs look for how batches are put together."""

from __future__ import annotations

from . import collate, worker

__all__ = ["collate", "worker"]
