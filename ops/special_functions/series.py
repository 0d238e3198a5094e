"""Chebyshev series of special functions, read from series.txt (see tools/fit_series.py)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from ..memory.dtype import Doubles

__all__ = ["series"]


@cache
def _all() -> dict[str, tuple[float, float, tuple[float, ...]]]:
    text = (Path(__file__).parent / "series.txt").read_text("utf-8")
    found = {}
    for line in text.splitlines():
        name, *numbers = line.split()
        low, high, *coefficients = map(float, numbers)
        found[name] = low, high, tuple(coefficients)
    return found


def series(name: str, x: Doubles) -> Doubles:
    """The sum of a series at x, clipped to its interval, in float64 (Clenshaw's recurrence)."""
    low, high, coefficients = _all()[name]
    t = (np.clip(x, low, high) - (high + low) / 2) * (2 / (high - low))
    twice = t + t
    last = before = np.zeros_like(t)
    for coefficient in reversed(coefficients[1:]):
        last, before = twice * last - before + coefficient, last
    return t * last - before + coefficients[0]
