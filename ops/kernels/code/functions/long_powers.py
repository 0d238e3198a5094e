"""Powers of float64, by logarithms of two numbers: one would lose as many bits as the power's
exponent has."""

from __future__ import annotations

from math import inf
from typing import Final

from ..language.text import Value
from . import doubles
from .arithmetic import at_least, at_most
from .series import polynomial

__all__ = ["positive_power"]

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_ARTANH: Final = (2 / 23, 2 / 21, 2 / 19, 2 / 17, 2 / 15, 2 / 13, 2 / 11, 2 / 9, 2 / 7, 2 / 5)
_TWO_THIRDS, _TWO_THIRDS_LOW = 2 / 3, 3.700743415417188e-17


def _two_sum(large: Value, small: Value) -> tuple[Value, Value]:
    """A sum and what it is rounded by, where the first number is the larger one (T. Dekker)."""
    whole = large + small
    return whole, small - (whole - large)


def _product(a: Value, b: Value) -> tuple[Value, Value]:
    """A product and what it is rounded by."""
    code, whole = a.code, a * b
    return whole, code.multiply_add(a, b, -whole)


def _long_log(x: Value) -> tuple[Value, Value]:
    """The natural logarithm of a positive number, in two parts: 2 artanh of f / (2 + f)."""
    code = x.code
    is_tiny = x < 2.2250738585072014e-308
    n, f = doubles.power_and_rest(code.choose(is_tiny, x * 2.0**54, x))
    n = code.choose(is_tiny, n - 54.0, n)
    below = f + 2.0
    lost = f - (below - 2.0)
    s = f / below
    s_low = (code.multiply_add(-s, below, f) - s * lost) / below
    square, square_low = _product(s, s)
    square_low = code.multiply_add(s + s, s_low, square_low)
    # 2 s (1 + square / 3 + ...), of which the second term is kept in two parts as well
    third, third_low = _product(square, square.taken(_TWO_THIRDS))
    third_low = third_low + square * _TWO_THIRDS_LOW + square_low * _TWO_THIRDS
    more = third_low + square * square * polynomial(square, *_ARTANH)
    grown, grown_low = _two_sum(third, more)
    cubic, cubic_low = _product(s, grown)
    cubic_low = cubic_low + code.multiply_add(s_low, grown, s * grown_low)
    made, low = _two_sum(s + s, cubic)
    low = low + (cubic_low + (s_low + s_low))
    high, rest = _two_sum(n * _LN2_HIGH, made)
    is_far = n.differs(0.0)
    high, rest = code.choose(is_far, high, made), code.choose(is_far, rest, 0.0)
    low = low + code.multiply_add(n, _LN2_LOW, rest)
    return _two_sum(high, low)


def positive_power(x: Value, y: Value) -> Value:
    """x to the power of y, of a normal or denormal positive number."""
    code = x.code
    high, low = _long_log(x)
    held = at_least(at_most(y, 1e300), -1e300)
    exponent, rest = _product(high, held)
    rest = code.multiply_add(low, held, rest)
    bounded = at_least(at_most(exponent, 710.0), -746.0)
    made = doubles.exp(bounded)
    inside = (code.absolute(exponent) < 800.0) & (made < inf)
    return code.choose(inside, code.multiply_add(made, rest, made), made)
