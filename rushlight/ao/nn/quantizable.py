"""`torch.ao.nn.quantizable`: layers that can be quantized, which is not here yet."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = """LSTM LSTMCell MultiheadAttention"""
__all__ = _NAMES.split()
_REFUSED: dict[str, Any] = refusing(
    __name__, _NAMES, "rushlight runs quantized archives, but makes no quantized models yet"
)
globals().update(_REFUSED)
