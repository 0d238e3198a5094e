"""What new memory holds where equal calls are to give equal results."""

from __future__ import annotations

from typing import Final

import numpy as np

from .dtype import Array

__all__ = ["UNFILLED", "unfilled"]


class _Unfilled:
    """Whether equal results were asked for, and memory is to be filled then."""

    is_determined = False
    is_filled = True


UNFILLED: Final = _Unfilled()


def unfilled(array: Array) -> Array:
    """New memory as it may be given out: filled with NaN, or the largest number, if it was asked
    for that nothing be left to chance."""
    if UNFILLED.is_determined and UNFILLED.is_filled:
        kind = array.dtype.kind
        if kind in "iu":
            array.fill(np.iinfo(array.dtype).max)
        elif array.dtype.names is None:
            array.fill(True if kind == "b" else complex("nan+nanj") if kind == "c" else np.nan)
    return array
