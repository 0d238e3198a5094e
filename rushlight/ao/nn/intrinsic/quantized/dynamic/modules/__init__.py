"""The layers of `torch.ao.nn.intrinsic.quantized.dynamic`."""

from __future__ import annotations

from .linear_relu import LinearReLU

__all__ = ["LinearReLU"]
