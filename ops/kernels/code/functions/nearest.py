"""Functions of float32 numbers that are computed in double: the nearest numbers, nearly always.

They stand for the quicker ones of `scalars.py` where elements are few, as PyTorch's results are
mostly the nearest, too.
"""

from __future__ import annotations

from ..language.text import Value
from . import doubles
from .formulas import formula, to_double, to_float


@formula()
def nearest_exp(x: Value) -> Value:
    """`e ** x`."""
    return to_float(doubles.exp(to_double(x)))


@formula()
def nearest_expm1(x: Value) -> Value:
    """`e ** x - 1`."""
    return to_float(doubles.expm1(to_double(x)))


@formula()
def nearest_log(x: Value) -> Value:
    """The natural logarithm."""
    return to_float(doubles.natural_log(to_double(x)))


@formula()
def nearest_log1p(x: Value) -> Value:
    """The natural logarithm of `1 + x`."""
    return to_float(doubles.log1p(to_double(x)))
