"""`torch.distributed.algorithms`: training with uneven numbers of batches."""

from __future__ import annotations

from ...module_names import names_of
from .join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]

__getattr__ = names_of(__name__)
