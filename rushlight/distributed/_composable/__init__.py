"""`torch.distributed._composable`: modules shared out over processes; one refuses."""

from __future__ import annotations

from . import fsdp

__all__ = ["fsdp", "fully_shard"]

fully_shard = fsdp.fully_shard
