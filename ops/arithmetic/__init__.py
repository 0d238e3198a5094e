"""Operators on numbers, element by element: of tensors, and of Python's own."""

from . import (
    blends,
    comparison,
    complex_numbers,
    complex_scalars,
    convert,
    elementwise,
    maths,
    pairs,
    polynomials,
    rounding,
    scalar,
    scalar_maths,
    signs,
)

__all__ = [
    "blends",
    "comparison",
    "complex_numbers",
    "complex_scalars",
    "convert",
    "elementwise",
    "maths",
    "pairs",
    "polynomials",
    "rounding",
    "scalar",
    "scalar_maths",
    "signs",
]
