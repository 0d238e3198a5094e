"""Chebyshev series of special functions, by NumPy."""

from __future__ import annotations

import numpy as np

from ..kernels.code.functions import fitted
from ..memory.dtype import Doubles

__all__ = ["series"]


def series(name: str, x: Doubles) -> Doubles:
    """The sum of a series at x, clipped to its interval, in float64 (Clenshaw's recurrence)."""
    low, high, coefficients = fitted.series()[name]
    t = (np.clip(x, low, high) - (high + low) / 2) * (2 / (high - low))
    twice = t + t
    last = before = np.zeros_like(t)
    for coefficient in reversed(coefficients[1:]):
        last, before = twice * last - before + coefficient, last
    return t * last - before + coefficients[0]
