"""Lanes that numbers are folded into, some vectors of them side by side, and how they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from .text import LANES, Code, Kind, Value, Variable

__all__ = ["DOUBLES", "WIDE_BESIDE", "begun", "folded", "together"]

DOUBLES: Final = Kind("double", LANES)
WIDE_BESIDE: Final = 2
"""Vectors of 64-bit lanes side by side: four of them are all the registers that AVX2 has."""


def begun(code: Code, kind: Kind, start: float, count: int) -> list[Variable]:
    """So many vectors that all begin with one number."""
    first = code.constant(kind, start)
    return [code.variable(first) for _ in range(count)]


def together(lanes: Sequence[Variable], combine: Callable[[Value, Value], Value]) -> Value:
    """Vectors, of which there are a power of two, as one: neighbouring ones are combined until one
    is left."""
    vectors = [each.now for each in lanes]
    while len(vectors) > 1:
        vectors = [combine(*pair) for pair in zip(vectors[::2], vectors[1::2], strict=True)]
    return vectors[0]


def folded(lanes: Sequence[Variable], combine: Callable[[Value, Value], Value]) -> Value:
    """All lanes of vectors, of which there are a power of two, as one number: the vectors are put
    together, then the upper half of what that is with the lower, again and again."""
    value = together(lanes, combine)
    code = value.code
    while value.kind.lanes > 1:
        half = value.kind.lanes // 2
        low, high = (code.shuffled(value, value, range(at, at + half)) for at in (0, half))
        value = combine(low, high)
    return code.alone(value)
