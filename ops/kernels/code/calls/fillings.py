"""What memory holds in front of runs that may not read it."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....memory.dtype import Array

__all__ = ["MIXED", "ONES", "ZEROS", "filled"]

MIXED: Final = (np.arange(251) * 97 % 251).astype(np.uint8)
"""Bytes whose largest and smallest stand elsewhere than at the begin, as words of any width."""
ONES: Final = np.full(MIXED.size, 0xFF, np.uint8)
ZEROS: Final = np.zeros(MIXED.size, np.uint8)


def filled(filling: Array, size: int) -> Array:
    """So many bytes, a filling after the other."""
    made = np.empty((-(-size // filling.size), filling.size), np.uint8)
    made[...] = filling
    return made.reshape(-1)[:size]
