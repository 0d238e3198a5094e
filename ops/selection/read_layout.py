"""How what index tensors read lies in memory."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..memory.dtype import Array
from ..memory.order import lies_beside
from ..table.layouts import contiguous

__all__ = ["WHOLE", "laid", "takes_rows"]

WHOLE: Final = slice(None)
"""The part of a key that stands for a whole dimension."""


def takes_rows(self: Array, places: Array) -> bool:
    """Whether what is taken along the first dimension is contiguous."""
    return (self.ndim < 3 or self.flags.c_contiguous) and (
        places.ndim < 2 or places.flags.c_contiguous
    )


def laid(result: Array, self: Array, key: tuple[Any, ...]) -> Array:
    """What a key gave, as torch lays it out: as it reads the tensor, then the index tensors."""
    if self.flags.c_contiguous or any(not part.ndim for part in key if part is not WHOLE):
        return contiguous(result)
    spots = [number for number, part in enumerate(key) if part is not WHOLE]
    indices = np.broadcast_arrays(*(key[number] for number in spots))
    before = spots[0] if spots[-1] - spots[0] < len(spots) else 0
    kept = [step for number, step in enumerate(self.strides) if number not in spots]
    behind = [0] * (len(kept) - before)
    operands = [kept[:before] + [0] * indices[0].ndim + kept[before:]]
    operands += [[0] * before + list(index.strides) + behind for index in indices]
    return lies_beside(result, operands)
