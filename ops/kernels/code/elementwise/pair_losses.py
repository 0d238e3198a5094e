"""Losses of pairs of numbers, each element by the steps that NumPy would take."""

from __future__ import annotations

from typing import Final

from ....memory.dtype import Array
from ..functions.formulas import FLOATS_ONLY, HALVES
from .arrays import LETTERS, evaluate

__all__ = ["pair_losses"]

_APART: Final = ("subtract", (0, 1)), ("absolute", (4,))
_SQUARE: Final = ("multiply", (2, 5)), ("multiply", (6, 5))
_FORMS: Final[dict[str, tuple[tuple[str, tuple[int, ...]], ...]]] = {
    "squared": (("subtract", (0, 1)), ("multiply", (4, 4))),
    "absolute": _APART,
    "smooth": (
        *(*_APART, *_SQUARE, ("divide", (7, 3)), ("multiply", (2, 3))),
        *(("subtract", (5, 9)), ("less", (5, 3)), ("choose", (11, 8, 10))),
    ),
    "huber": (
        *(*_APART, *_SQUARE, ("multiply", (2, 3)), ("subtract", (5, 8))),
        *(("multiply", (3, 9)), ("less_equal", (5, 3)), ("choose", (11, 7, 10))),
    ),
    "logits": (
        *(("subtract", (3, 1)), ("multiply", (4, 0))),
        *(("log_sigmoid", (0,)), ("subtract", (5, 6))),
    ),
}
"""Of the two arrays, a half and the level where a square becomes a line, which is else 1."""


def pair_losses(
    form: str, x: Array, target: object, level: float = 1.0, *, by_steps: bool = False
) -> Array | None:
    """The losses of two arrays of one shape and dtype, in one piece: "squared" or "absolute"
    differences, "smooth" or "huber" ones with a level; "logits", cross entropies of `sigmoid(x)`.

    16-bit floats are computed in float32, or rounded after each step.  None of other dtypes.
    """
    own = LETTERS[x.dtype]
    if own not in FLOATS_ONLY + HALVES or not own:
        return None
    letter = "f" if own in HALVES and not by_steps else own
    level = float(x.dtype.type(level)) if letter in HALVES else level
    steps = [(name, letter, operands) for name, operands in _FORMS[form]]
    return evaluate(steps, own, x, target, 0.5, level)
