"""Powers, logarithms and hyperbolic functions of float32 numbers, most of them by way of float64.

There the rounding of a step does not matter, so that results are right to little more than half a
unit in the last place.  Polynomials are fitted for the least relative error of the result.
"""

from __future__ import annotations

from math import inf, nan
from math import log as _log
from math import log10 as _log10
from typing import Final

from ..language.text import Kind, Value
from . import doubles
from .arithmetic import at_least, at_most, called
from .formulas import formula, to_double, to_float
from .scalars import EXPONENTIAL, half_exp
from .series import TO_WHOLE, polynomial, with_sign

__all__ = ["logarithm", "power_of_two"]

_LN_2: Final = _log(2)
_LOG_2: Final = (
    *(0.34074974854680384, 0.4116716953122265, 0.5770836014319064),
    *(0.961796673257477, 2.88539008179016),
)
_EXP_2: Final = (
    *(1.334432786331802e-06, 1.5314283902764575e-05, 0.00015403097317583878),
    *(0.0013333433858168996, 0.009618129560359715, 0.05550410959563224),
    *(0.24022650694737338, 0.693147180541143),
)


def logarithm(x: Value) -> Value:
    """The logarithm to the base 2 of normal float64, to 37 bits."""
    n, f = doubles.power_and_rest(x)
    s = f / (f + 2.0)
    return doubles.at_ends(x, x.code.multiply_add(s, polynomial(s * s, *_LOG_2), n))


def power_of_two(x: Value) -> Value:
    """Two to the power of float64, to 39 bits; what float32 cannot hold may be any such number."""
    code = x.code
    words = Kind("i64", x.kind.lanes)
    bounded = at_least(at_most(x, 200.0), -200.0)
    shifted = bounded + TO_WHOLE
    rest = bounded - (shifted - TO_WHOLE)
    made = code.multiply_add(rest, polynomial(rest, *_EXP_2), rest.taken(1.0))
    made = (made.bits(words) + (shifted.bits(words) << 52)).bits(x.kind)
    return code.choose(x.is_nan(), x, made)


@formula(double=doubles.log2)
def log2(x: Value) -> Value:
    """The logarithm to the base 2."""
    return to_float(logarithm(to_double(x)))


@formula(double=doubles.log10)
def log10(x: Value) -> Value:
    """The logarithm to the base 10."""
    return to_float(logarithm(to_double(x)) * _log10(2))


@formula(double=doubles.exp2)
def exp2(x: Value) -> Value:
    """Two to the power of x; tiny results are denormal, not zero."""
    code = x.code
    held = at_least(at_most(x, 129.0), -151.0)
    n = called("rint", held)
    r = (held - n) * _LN_2
    return code.scaled(polynomial(r, *EXPONENTIAL, 1.0, 1.0), n)


@formula()
def power(x: Value, y: Value) -> Value:
    """x to the power of y, as C has it: of a negative number only a whole one."""
    code = x.code
    size = code.absolute(x)
    half = y * 0.5
    is_whole = called("trunc", y).equals(y)
    is_odd = is_whole & called("trunc", half).differs(half)
    exponent = to_double(y) * logarithm(to_double(size))
    exponent = code.choose(y.equals(0.0) | size.equals(1.0), 0.0, exponent)
    made = to_float(power_of_two(exponent))
    is_real = (x >= 0.0) | is_whole | size.equals(inf) | size.equals(0.0) | x.is_nan()
    made = code.choose(is_real, made, nan)
    made = code.choose(is_odd, with_sign(made, x), made)
    unknown = (x.is_nan() & y.differs(0.0)) | (y.is_nan() & x.differs(1.0))
    return code.choose(y.equals(1.0), x, code.choose(unknown, x + y, made))


@formula(double=doubles.logaddexp)
def logaddexp(x: Value, y: Value) -> Value:
    """The logarithm of the sum of `e ** x` and `e ** y`."""
    code = x.code
    above = code.choose(x > y, x, y)
    less = -code.absolute(to_double(x) - to_double(y))
    power = power_of_two(less * (1 / _LN_2))
    more = code.choose(power < 2.0**-26, power, logarithm(power + 1.0) * _LN_2)
    made = to_float(more + to_double(above))
    made = code.choose(x.equals(y) & code.absolute(x).equals(inf), x, made)
    return code.choose(x.is_nan() | y.is_nan(), x + y, made)


@formula(double=doubles.logaddexp2)
def logaddexp2(x: Value, y: Value) -> Value:
    """The logarithm to the base 2 of the sum of powers of 2."""
    code = x.code
    above = code.choose(x > y, x, y)
    power = power_of_two(-code.absolute(to_double(x) - to_double(y)))
    more = code.choose(power < 2.0**-26, power * (1 / _LN_2), logarithm(power + 1.0))
    made = to_float(more + to_double(above))
    made = code.choose(x.equals(y) & code.absolute(x).equals(inf), x, made)
    return code.choose(x.is_nan() | y.is_nan(), x + y, made)


@formula(double=doubles.hypot)
def hypot(x: Value, y: Value) -> Value:
    """The distance of the point (x, y); infinite if one of both is."""
    code = x.code
    wide, high = to_double(x), to_double(y)
    made = to_float(called("sqrt", code.multiply_add(wide, wide, high * high)))
    is_infinite = code.absolute(x).equals(inf) | code.absolute(y).equals(inf)
    return code.choose(is_infinite, inf, made)


# --------------------------------------------------------------------------------- hyperbolic ones

_SINH: Final = (1 / 362880, 1 / 5040, 1 / 120, 1 / 6)
_TINY: Final = 2.0**-13
"""Below that the inverse functions are x itself."""


@formula(double=doubles.sinh)
def sinh(x: Value) -> Value:
    """`(e ** x - e ** -x) / 2`."""
    code = x.code
    size = at_most(code.absolute(x), 90.0)
    square = size * size
    near = code.multiply_add(size * square, polynomial(square, *_SINH), size)
    half = half_exp(size)
    return with_sign(code.choose(size < 1.0, near, half - 0.25 / half), x)


@formula(double=doubles.cosh)
def cosh(x: Value) -> Value:
    """`(e ** x + e ** -x) / 2`."""
    half = half_exp(at_most(x.code.absolute(x), 90.0))
    return half + 0.25 / half


@formula(double=doubles.asinh)
def asinh(x: Value) -> Value:
    """The number whose hyperbolic sine it is."""
    code, size = x.code, x.code.absolute(x)
    wide = to_double(size)
    grown = wide + called("sqrt", code.multiply_add(wide, wide, wide.taken(1.0)))
    made = to_float(logarithm(grown) * _LN_2)
    return with_sign(code.choose(size < _TINY, size, made), x)


@formula(double=doubles.acosh)
def acosh(x: Value) -> Value:
    """The number from 0 on whose hyperbolic cosine it is."""
    wide = to_double(x)
    root = called("sqrt", (wide - 1.0) * (wide + 1.0))
    made = to_float(logarithm(wide + root) * _LN_2)
    return x.code.choose(x < 1.0, nan, made)


@formula(double=doubles.atanh)
def atanh(x: Value) -> Value:
    """The number whose hyperbolic tangent it is."""
    code, wide = x.code, to_double(x)
    made = to_float(logarithm((wide + 1.0) / (1.0 - wide)) * (_LN_2 / 2))
    return code.choose(code.absolute(x) < _TINY, x, made)
