"""The gamma function's logarithm and that one's derivative, and the complement of the error
function: float32 by way of float64, where the rounding of a step does not matter.

Polynomials are fitted for the least relative error of the result, about zeros of the functions for
what the zero's factor leaves.
"""

from __future__ import annotations

from math import inf, log, nan, pi
from typing import Final

from ..language.text import Value
from . import doubles
from .arithmetic import at_most, called
from .formulas import formula, to_double, to_float
from .series import polynomial, with_sign

__all__ = ["long_digamma", "long_lgamma", "turned"]

_NEAR_TWO: Final = (
    *(-0.00013733525156441674, 0.0002474155524347842, -0.00023684029807774133),
    *(0.00047542825379570024, -0.0010771386686912578, 0.0021168866197124243),
    *(-0.004223374896989661, 0.008773463698219757, -0.01905416123222015),
    *(0.04452059044248313, -0.11948158245562097, 0.4501393109720866),
)
_STIRLING: Final = (-0.001917526917526918, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_ABOUT_ROOT: Final = (
    *(0.005230976585165872, -0.007701705219469955, 0.007309567978412545, -0.011092858951619097),
    *(0.01801262323115593, -0.027102674655428812, 0.04075183577903577, -0.0619126795689056),
    *(0.09498908212887586, -0.14840522260499175, 0.2405424790563083, -0.42362741858238473),
    0.9510558760435817,
)
_ROOT, _ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
"""Where the derivative is zero, in two parts."""
_DERIVATIVE: Final = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)


@formula(double=doubles.erfc)
def erfc(x: Value) -> Value:
    """`1 - erf(x)`, also where that is small."""
    return to_float(doubles.erfc(to_double(x)))


def turned(x: Value) -> tuple[Value, Value]:
    """Sine and cosine of pi x, both with the sign that makes the cosine positive."""
    code, rest = x.code, x - called("rint", x)
    size = code.absolute(rest)
    is_far = size > 0.25
    angle = code.choose(is_far, 0.5 - size, size) * pi
    sine, cosine = doubles.sine_and_cosine(angle, angle.taken(0.0))
    return with_sign(code.choose(is_far, cosine, sine), rest), code.choose(is_far, sine, cosine)


_RAISED: Final = 10
"""From there on Stirling's series gives all places of a double."""
_LONG_STIRLING: Final = (
    *(-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12),
)
_LONG_DERIVATIVE: Final = (
    *(-3617 / 8160, 1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12),
)


def long_lgamma(x: Value) -> Value:
    """By Stirling's series, from 10 on, and by reflection."""
    code, is_left = x.code, x < 0.5
    y = code.choose(is_left, 1.0 - x, x)
    product = y.taken(1.0)
    for _ in range(_RAISED):
        is_low = y < float(_RAISED)
        product = code.choose(is_low, product * y, product)
        y = code.choose(is_low, y + 1.0, y)
    inverse = 1.0 / y
    series = inverse * polynomial(inverse * inverse, *_LONG_STIRLING) + log(2 * pi) / 2
    made = (y - 0.5) * doubles.natural_log(y) - y + series - doubles.natural_log(product)
    sine, _ = turned(x)
    other = log(pi) - doubles.natural_log(code.absolute(sine)) - made
    made = code.choose(is_left, other, made)
    made = code.choose(x.equals(1.0) | x.equals(2.0), 0.0, made)
    made = code.choose(code.absolute(x) > 1e306, inf, made)
    return code.choose(x.is_nan(), x, made)


@formula(double=long_lgamma)
def lgamma(x: Value) -> Value:
    """The logarithm of the absolute value of the gamma function."""
    code, wide = x.code, to_double(x)
    size = code.absolute(wide)
    is_near = (size < 2.5) & (wide > 0.0)
    # near the zeros 1 and 2, where need be by the number above: gamma(y + 1) = y gamma(y)
    is_small = size < 1.0
    moved = code.choose(is_small, size + 1.0, at_most(size, 2.5))
    near = (moved - 1.0) * (moved - 2.0) * polynomial(moved - 1.75, *_NEAR_TWO)
    near = near + 0.0  # zeros have no sign
    # else by Stirling's series, from 8 or 6 on: of what is less, with a product of six numbers
    is_short = size < 8.0
    grown = code.choose(is_short, size + 6.0, size)
    inverse = 1.0 / grown
    series = inverse * polynomial(inverse * inverse, *_STIRLING)
    far = (grown - 0.5) * doubles.natural_log(grown) - grown + (series + log(2 * pi) / 2)
    product = at_most(size, 8.0)
    for more in range(1, 6):
        product = product * (at_most(size, 8.0) + float(more))
    less = code.choose(is_near, code.choose(is_small, size, 1.0), product)
    less = code.choose(is_near | is_short, less, 1.0)
    made = code.choose(is_near, near, far) - doubles.natural_log(less)
    made = code.choose(size > 1e300, inf, made)
    sine, _ = turned(wide)
    other = doubles.natural_log(pi / code.absolute(size * sine)) - made
    made = code.choose(wide < 0.0, other, made)
    return to_float(code.choose(size.equals(inf), inf, code.choose(x.is_nan(), wide, made)))


def long_digamma(x: Value) -> Value:
    """In the same ways."""
    code, is_left = x.code, x < 0.0
    y = code.choose(is_left, 1.0 - x, x)
    above, below = y.taken(0.0), y.taken(1.0)  # the sum of what is passed by, as one fraction
    for _ in range(_RAISED):
        is_low = y < float(_RAISED)
        above = code.choose(is_low, above * y + below, above)
        below = code.choose(is_low, below * y, below)
        y = code.choose(is_low, y + 1.0, y)
    square = 1.0 / (y * y)
    series = 0.5 / y + square * polynomial(square, *_LONG_DERIVATIVE)
    made = doubles.natural_log(y) - series - above / below
    sine, cosine = turned(x)
    other = code.choose(sine.equals(0.0), nan, made - cosine * pi / sine)
    made = code.choose(is_left, other, made)
    made = code.choose(x.equals(0.0), with_sign(made.taken(inf), -x), made)
    made = code.choose(x.equals(inf), inf, code.choose(x.equals(-inf), nan, made))
    return code.choose(x.is_nan(), x, made)


@formula(double=long_digamma)
def digamma(x: Value) -> Value:
    """The derivative of `lgamma`; infinite at 0, NaN at whole numbers below."""
    code, wide = x.code, to_double(x)
    is_negative = wide < 0.0
    y = code.choose(is_negative, 1.0 - wide, wide)
    is_near = (y >= 1.0) & (y < 2.0)
    held = at_most(y, 2.0)
    near = ((held - _ROOT) - _ROOT_REST) * polynomial(held - 1.5, *_ABOUT_ROOT)
    grown, less = y, code.constant(wide.kind, 0.0)
    is_short = y < 8.0
    grown = code.choose(is_short, y + 8.0, y)
    # the sum of 1 / (y + k) for k from 0 to 7, two of them as one fraction
    for more in range(4):
        first, last = y + float(more), y + float(7 - more)
        less = less + (first + last) / (first * last)
    inverse = 1.0 / grown
    square = inverse * inverse
    series = 0.5 * inverse + square * polynomial(square, *_DERIVATIVE)
    far = doubles.natural_log(grown) - series
    made = code.choose(is_short, far - less, far)
    made = code.choose(is_near, near, made)
    sine, cosine = turned(wide)
    other = code.choose(sine.equals(0.0), nan, made - cosine * pi / sine)
    made = code.choose(is_negative, other, made)
    made = code.choose(wide.equals(0.0), with_sign(made.taken(inf), -wide), made)
    made = code.choose(wide.equals(inf), inf, code.choose(wide.equals(-inf), nan, made))
    return to_float(code.choose(x.is_nan(), wide, made))
