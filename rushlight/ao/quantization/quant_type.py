"""When the numbers of an operator are quantized."""

from __future__ import annotations

import enum
from typing import Final

__all__ = ["QuantType"]


class QuantType(enum.IntEnum):
    """By ranges of each call, by ranges seen before, in training for that, or of weights alone."""

    DYNAMIC = 0
    STATIC = 1
    QAT = 2
    WEIGHT_ONLY = 3


_TEXTS: Final = {kind: kind.name.lower() for kind in QuantType}


def _get_quant_type_to_str(quant_type: QuantType) -> str:
    return _TEXTS[quant_type]


def _quant_type_from_str(name: str) -> QuantType:
    for kind, text in _TEXTS.items():
        if text == name:
            return kind
    raise ValueError(f"Unknown QuantType name '{name}'")
