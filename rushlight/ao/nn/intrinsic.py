"""`torch.ao.nn.intrinsic`: layers that are fused, which is not here yet."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = """BNReLU2d BNReLU3d ConvAdd2d ConvAddReLU2d ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d
ConvBnReLU2d ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d LinearBn1d LinearLeakyReLU
LinearReLU LinearTanh"""
__all__ = _NAMES.split()
_REFUSED: dict[str, Any] = refusing(
    __name__, _NAMES, "rushlight runs quantized archives, but makes no quantized models yet"
)
globals().update(_REFUSED)
