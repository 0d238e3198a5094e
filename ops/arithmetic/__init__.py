"""Operators on numbers, element by element: of tensors, and of Python's own."""

from . import (
    blends,
    choice,
    comparison,
    complex_numbers,
    complex_scalars,
    convert,
    elementwise,
    in_place,
    maths,
    pairs,
    polynomials,
    powers,
    rounding,
    scalar,
    scalar_maths,
    signs,
)

__all__ = [
    "blends",
    "choice",
    "comparison",
    "complex_numbers",
    "complex_scalars",
    "convert",
    "elementwise",
    "in_place",
    "maths",
    "pairs",
    "polynomials",
    "powers",
    "rounding",
    "scalar",
    "scalar_maths",
    "signs",
]
