"""Losses of pairs of float32 numbers, each element by the steps that NumPy would take."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .arrays import Expression, Step, compute, way_of

__all__ = ["pair_losses"]

_APART: Final = Step("subtract", "f", (0, 1)), Step("absolute", "f", (4,))
_SQUARE: Final = Step("multiply", "f", (2, 5)), Step("multiply", "f", (6, 5))
_FORMS: Final = {
    "squared": (Step("subtract", "f", (0, 1)), Step("multiply", "f", (4, 4))),
    "absolute": _APART,
    "smooth": (
        *(*_APART, *_SQUARE, Step("divide", "f", (7, 3)), Step("multiply", "f", (2, 3))),
        *(Step("subtract", "f", (5, 9)), Step("less", "f", (5, 3))),
        Step("choose", "f", (11, 8, 10)),
    ),
    "huber": (
        *(*_APART, *_SQUARE, Step("multiply", "f", (2, 3)), Step("subtract", "f", (5, 8))),
        *(Step("multiply", "f", (3, 9)), Step("less_equal", "f", (5, 3))),
        Step("choose", "f", (11, 7, 10)),
    ),
}
"""Of the two arrays, a half and the level where a square becomes a line."""


def pair_losses(form: str, x: Any, target: Any, level: float = 1.0) -> Any:
    """The losses of two arrays of one shape, in one piece: "squared" or "absolute" differences, or
    "smooth" or "huber" ones with a level."""
    x, target = x[...], target[...]  # which no other thread can change
    out = np.empty_like(x)
    steps = _FORMS[form]
    way = way_of(x.shape, x.strides, ((4, x.strides), (4, target.strides), None, None))
    expression = Expression("ffDD", steps, ((len(steps) - 1, "f"),))
    compute(expression, way, [x, target, 0.5, level], [out])
    return out
