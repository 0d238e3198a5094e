"""`torch.distributed.tensor.placement_types`: how a tensor is shared out."""

from __future__ import annotations

from . import Partial, Placement, Replicate, Shard, _StridedShard

__all__ = ["Partial", "Placement", "Replicate", "Shard", "_StridedShard"]
