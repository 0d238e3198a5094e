"""`torch.ao.nn.quantized`: quantized layers, which is not here yet."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = """BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
ConvTranspose3d DeQuantize Dropout ELU Embedding EmbeddingBag FXFloatFunctional
FloatFunctional GroupNorm Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM
LayerNorm LeakyReLU Linear MaxPool2d MultiheadAttention PReLU QFunctional Quantize
ReLU6 Sigmoid Softmax"""
__all__ = _NAMES.split()
_REFUSED: dict[str, Any] = refusing(
    __name__, _NAMES, "rushlight runs quantized archives, but makes no quantized models yet"
)
globals().update(_REFUSED)
