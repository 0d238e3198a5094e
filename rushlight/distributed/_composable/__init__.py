"""`torch.distributed._composable`: modules shared out over processes; one refuses."""

from __future__ import annotations

from . import fsdp
from .fsdp import fully_shard

__all__ = ["fsdp", "fully_shard"]
