"""The layers of `torch.ao.nn.qat.dynamic`."""

from __future__ import annotations

from .linear import Linear

__all__ = ["Linear"]
