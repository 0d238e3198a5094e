"""Formulas of the table over whole arrays, shared by several threads."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .loops import pointwise_kernel
from .run import run

__all__ = ["apply", "combine"]

_FLOAT32: Final = np.dtype(np.float32)
_BOOL: Final = np.dtype(np.bool_)
_LEAST: Final = 1 << 17
"""Elements that are worth another thread."""


def apply(name: str, x: Any) -> Any:
    """The formula of every element of a contiguous float32 array."""
    return combine(name, x[...])  # which no other thread can change


def combine(name: str, *operands: Any) -> Any:
    """The formula of arrays of one size, all contiguous, and of 0-d ones.

    float32 all of them, but for masks, which are bool.  The first is an array.
    """
    kernel = pointwise_kernel(name, "".join(map(_form, operands)))
    out = np.empty(operands[0].shape, _FLOAT32)
    run(kernel, out.size, _LEAST, *operands, out)
    return out


def _form(operand: Any) -> str:
    if operand.dtype is _BOOL:
        return "m"
    return "a" if operand.ndim else "n"
