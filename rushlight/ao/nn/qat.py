"""`torch.ao.nn.qat`: layers for training that knows of quantization, which is not here yet."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = """Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear"""
__all__ = _NAMES.split()
_REFUSED: dict[str, Any] = refusing(
    __name__, _NAMES, "rushlight runs quantized archives, but makes no quantized models yet"
)
globals().update(_REFUSED)
