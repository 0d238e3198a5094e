"""Whether transforms end in the time that is left."""

from __future__ import annotations

import math
from typing import Final

from ...frontend.limits.clock import time_left
from ..memory.errors import LimitExceeded

__all__ = ["afford"]

_SPEED: Final = 1e9
"""Elements of a prime length's transform a second, by what NumPy does."""

_BY_CONVOLUTION: Final = 160
"""As which prime one counts whose square is beyond the length: its transform is a convolution."""


def afford(length: int, count: int) -> None:
    """Refuse transforms that would not end in the time that is left: a long one whose length has a
    large prime factor takes a step for each of its elements times that factor.

    Raises:
        LimitExceeded: they would not.
    """
    left = time_left()
    if left < math.inf and count * length * _factors(length) > left * _SPEED:
        raise LimitExceeded(
            f"Fourier transforms of {count} x {length} elements take more than the "
            f"{max(left, 0):.3g} seconds that are left"
        )


def _factors(length: int) -> int:
    """The sum of the prime factors of a length."""
    rest, factor, total = length, 2, 0
    while factor * factor <= rest:
        if rest % factor:
            factor += 1
        else:
            rest //= factor
            total += factor
    return total + (rest if rest * rest <= length else min(rest, _BY_CONVOLUTION))
