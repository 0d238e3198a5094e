"""The modules of `torch.ao.nn.intrinsic`."""

from __future__ import annotations

from . import fused
from .fused import *  # noqa: F403
from .fused import _FusedModule as _FusedModule

__all__ = fused.__all__
