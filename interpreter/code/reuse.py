"""Results written over an operand that nobody else can see.

A large result costs more in fresh memory than in arithmetic.  Where a plan puts the result of an
operator into the register of its first operand, that array is about to be dropped; if the register
held the only reference to it, and it owns its memory, the result may as well lie there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...ops.memory.dtype import Array

__all__ = ["LARGE", "reuse"]

LARGE: Final = 1 << 15
"""Elements from which it pays to ask."""

_count: Final = getattr(sys, "getrefcount", None)


def _references(kernel: object, array: object, other: object) -> int:
    return _count(array) if _count is not None else 0


def _measured() -> int:
    """What is counted of an array that one register of a plan alone refers to."""
    space: dict[str, Any] = {"reuse": _references, "kernel": None, "make": np.empty}
    exec("def plan(r1):\n r0 = make(1)\n r0 = reuse(kernel, r0, r1)\n return r0\n", space)
    made: int = space["plan"](None)
    return made


_ALONE: Final = _measured()


def reuse(kernel: Callable[..., object], array: Array, other: Array) -> object:
    """`kernel(array, other)`, for arrays of one dtype; over `array` if nobody else can see it, and
    a new result would lie like it."""
    if (
        _count is not None
        and _count(array) == _ALONE
        and (flags := array.flags).owndata
        and (flags.c_contiguous or other.strides == array.strides or not other.ndim)
        and (other.shape == array.shape or _broadcasts(other.shape, array.shape))
    ):
        return kernel(array, other, array)
    return kernel(array, other)


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether an array of `shape` broadcasts to another shape without changing that."""
    if len(shape) > len(to):
        return False
    own = to[len(to) - len(shape) :]
    return all(size in (1, wanted) for size, wanted in zip(shape, own, strict=True))
