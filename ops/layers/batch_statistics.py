"""Mean and variance of each channel of a batch, and how running ones follow them.

They are summed in float64, as torch does.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

import numpy as np

from ..kernels import Prepared, family, is_last_whole, is_ready
from ..memory.dtype import Array, Dtype
from ..reductions.loss_reduction import widened
from ..table.pointwise import as_array

__all__ = ["follow", "kernels_for", "moments", "moments_of_planes", "rounded_moments"]


def kernels_for(input: Array) -> ModuleType | None:
    """The kernels for what is float32 and lies in one piece, its channels last or not; None if it
    does not."""
    is_known = input.ndim > 2 and (is_ready(input) or _lies_by_pixels(input))
    return family("convolutions.batch_norms") if is_known else None


def moments(input: Array) -> tuple[Array, Array]:
    """Mean and variance of each channel, in float64."""
    input = input[...]  # which no other thread can change
    is_known = input.ndim > 1 and (is_ready(input) or _lies_by_pixels(input))
    if is_known and family("convolutions.batch_norms") is not None:
        native: tuple[Array, Array] = _KNOWN_MOMENTS.call(input)
        return native
    axes = (0, *range(2, input.ndim))
    mean = input.mean(axes, dtype=np.float64, keepdims=True)
    if input.dtype == np.float64:
        squares = np.square(input - mean).mean(axes)
    else:
        centered = input - mean.astype(input.dtype)
        shift = mean - mean.astype(input.dtype)
        squares = np.square(centered, dtype=np.float64 if input.size < 1 << 16 else None).mean(
            axes, dtype=np.float64
        ) - np.square(shift.reshape(-1))
    return mean.reshape(-1), squares


def _lies_by_pixels(input: Array) -> bool:
    """Whether it is float32 in one piece, its channels last."""
    return input.dtype == np.float32 and is_last_whole(input)


def moments_of_planes(input: Array) -> tuple[Array, Array]:
    """The same by kernels, of float32 in one piece, its channels last or not: the pixels of these
    are rows."""
    kernels = family("convolutions.batch_norms")
    if input.ndim > 2 and not is_ready(input):
        input = np.moveaxis(input, 1, -1).reshape(-1, input.shape[1])
    made: tuple[Array, Array] = (
        kernels.moments_of_rows(input) if input.ndim == 2 else kernels.moments(input)
    )
    return made


_KNOWN_MOMENTS: Final = Prepared(moments_of_planes)


def rounded_moments(input: Array, dtype: Dtype, count: int) -> tuple[Array, Array, Array]:
    """Mean, variance and its unbiased estimate, as torch has them of bfloat16 but not of float16:
    the mean, the sum of squares and their quotients are rounded."""

    def rounded(value: Array) -> Array:
        return as_array(value).astype(dtype).astype(np.float64)

    exact, variance = moments(input)
    mean = rounded(exact)
    squares = rounded(count * (variance + np.square(exact - mean)))  # of distances from the rounded
    unbiased = rounded(squares / (count - 1 or np.nan))
    return mean.astype(dtype), rounded(squares / count), unbiased.astype(np.float32)


def follow(running: Array | None, now: Array, momentum: float, more: float = 1.0) -> None:
    """Move running statistics towards so much of the present ones; those of bfloat16 round at every
    step."""
    if running is not None:
        _KNOWN_MOVES.call(running, now, momentum, more)


def _moved(running: Array, now: Array, momentum: float, more: float) -> Array:
    goal = running[...]  # which no other thread can change
    kernels = (
        family("convolutions.batch_norms") if is_ready(goal) and now.dtype == np.float64 else None
    )
    if kernels is not None and goal.shape == now.shape and goal.flags.writeable:
        kernels.follow(goal, now, momentum, more)
        return running
    if more != 1.0:
        now = now * more
    if goal.dtype.name == "bfloat16":
        number = goal.dtype.type
        before = (number(1 - momentum) * goal).astype(np.float32)
        goal[...] = (number(momentum) * now).astype(np.float32) + before
    else:
        goal[...] = (momentum * now + (1 - momentum) * widened(goal)).astype(goal.dtype)
    return running


_KNOWN_MOVES: Final = Prepared(_moved, writes=True)
