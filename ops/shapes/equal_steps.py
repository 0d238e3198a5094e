"""Numbers that are equally far from each other, from both ends towards the middle."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..arithmetic.fused import fused_double, fused_float
from ..memory.dtype import Array, Dtype
from ..memory.remembered import remembered

__all__ = ["equal_steps"]


def equal_steps(start: object, end: object, steps: int, dtype: Dtype) -> Array:
    """Numbers from `start` to `end`, both among them, rounded as `linspace` does."""
    if steps < 2:
        return np.full(steps, start, dtype)
    number = dtype.type
    ends = np.array((number(start), number(end)), dtype).tobytes()
    if steps <= _FEW:
        return _known_steps(ends, steps, dtype).copy()
    return _steps_between(ends, steps, dtype)


def _steps_between(ends: bytes, steps: int, dtype: Dtype) -> Array:
    """Equal steps, between ends that are told apart by their bits."""
    number = dtype.type
    first, last = np.frombuffer(ends, dtype)
    step = (last - first) / number(steps - 1)
    middle = steps // 2
    counted = _counted(steps - middle, dtype)  # which is as long as the other half, or longer
    up, down = counted[:middle], counted[::-1]
    if dtype.kind == "c":
        rising, falling = first + step * up, last - step * down
    elif dtype == np.float32:
        rising, falling = fused_float(step, up, first), fused_float(-step, down, last)
    else:
        rising = fused_double(up, float(step), float(first))
        falling = fused_double(down, -float(step), float(last))
    return np.concatenate([rising, falling], dtype=dtype)


@remembered(1 << 20)
def _counted(count: int, dtype: Dtype) -> Array:
    """The numbers from 0 on, which nobody writes to."""
    made = np.arange(count, dtype=dtype)
    made.setflags(write=False)
    return made


_FEW: Final = 1 << 14
_known_steps: Final = remembered(1 << 20)(_steps_between)
