"""Formulas of any kind of numbers: arithmetic, comparisons, logic, choice.

Each is what NumPy computes, to the bit; whole numbers wrap.
"""

from __future__ import annotations

from math import inf, pi
from typing import Final

from ..language.text import DOUBLE, INT64, Kind, Value
from .formulas import FLOATS_ONLY, NUMBERS, WHOLE, as_kind, formula, width_of

__all__ = ["at_least", "at_most", "called"]

_ANY = NUMBERS + "?"


def at_most(x: Value, limit: Value | float) -> Value:
    """The smaller of both; NaN stays."""
    return x.code.choose(x > limit, limit, x)


def at_least(x: Value, limit: Value | float) -> Value:
    """The larger of both; NaN stays."""
    return x.code.choose(x < limit, limit, x)


def called(name: str, x: Value) -> Value:
    """LLVM's own function of a float, which is one instruction."""
    return x.code.call(f"llvm.{name}.{x.kind.suffix}", x.kind, [x])


def _to_whole(name: str, x: Value) -> Value:
    """The same of a float that LLVM shall not take for the float16 it came from: it would round it
    as such, number by number where the CPU only casts them."""
    return called(name, called("arithmetic.fence", x))


def _is_bool(x: Value) -> bool:
    return x.kind.element == "i1"


# ------------------------------------------------------------------------------------- arithmetic


@formula(_ANY, is_exact=True, keeps=True)
def same(x: Value) -> Value:
    """The number itself: a copy, or a cast."""
    return x


@formula(_ANY, is_exact=True)
def add(x: Value, y: Value) -> Value:
    """The sum; of bools whether one is true."""
    return x | y if _is_bool(x) else x + y


@formula(NUMBERS, is_exact=True)
def subtract(x: Value, y: Value) -> Value:
    """The difference."""
    return x - y


@formula(NUMBERS, is_exact=True)
def subtract_from(x: Value, y: Value) -> Value:
    """The difference, the other way round."""
    return y - x


@formula(_ANY, is_exact=True, takes_whole=True)
def multiply(x: Value, y: Value) -> Value:
    """The product; of bools whether both are true."""
    return x & y if _is_bool(x) else x * y


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def divide(x: Value, y: Value) -> Value:
    """The quotient."""
    return x / y


@formula(NUMBERS, is_exact=True, keeps=True)
def negate(x: Value) -> Value:
    """The number with the other sign."""
    return -x


@formula(NUMBERS, is_exact=True, keeps=True)
def absolute(x: Value) -> Value:
    """The number without its sign."""
    return x.code.absolute(x)


@formula(NUMBERS, is_exact=True)
def square(x: Value) -> Value:
    """The number times itself."""
    return x * x


@formula(FLOATS_ONLY, is_exact=True)
def cube(x: Value) -> Value:
    """The number times itself, twice."""
    return x * x * x


@formula(FLOATS_ONLY, is_exact=True)
def reciprocal(x: Value) -> Value:
    """One divided by it."""
    return 1.0 / x


@formula(FLOATS_ONLY, is_exact=True)
def sqrt(x: Value) -> Value:
    """The square root."""
    return called("sqrt", x)


@formula(FLOATS_ONLY, is_exact=True)
def rsqrt(x: Value) -> Value:
    """One divided by the square root."""
    return 1.0 / called("sqrt", x)


@formula(FLOATS_ONLY, is_exact=True)
def floor(x: Value) -> Value:
    """Rounded down."""
    return _to_whole("floor", x)


@formula(FLOATS_ONLY, is_exact=True)
def ceil(x: Value) -> Value:
    """Rounded up."""
    return _to_whole("ceil", x)


@formula(FLOATS_ONLY, is_exact=True)
def trunc(x: Value) -> Value:
    """Without what comes after the point."""
    return _to_whole("trunc", x)


@formula(FLOATS_ONLY, is_exact=True)
def rint(x: Value) -> Value:
    """Rounded to the nearest, of two to the even one."""
    return _to_whole("rint", x)


@formula(FLOATS_ONLY, is_exact=True, in_halves=False)
def nextafter(x: Value, y: Value) -> Value:
    """The number beside x on the way to y: of neighbours the bits, as whole numbers, are such."""
    code, words = x.code, Kind("i64" if x.kind.element == "double" else "i32", x.kind.lanes)
    step = code.choose((y > x) ^ (x < 0.0), code.constant(words, 1), -1)
    least = code.call(
        f"llvm.copysign.{x.kind.suffix}", x.kind, [code.constant(words, 1).bits(x.kind), y]
    )
    made = code.choose(x.equals(0.0), least, (x.bits(words) + step).bits(x.kind))
    made = code.choose(x.equals(y), y, made)
    return code.choose(x.is_nan() | y.is_nan(), x + y, made)


# -------------------------------------------------------------------------------------- comparisons


@formula(_ANY, is_exact=True)
def equal(x: Value, y: Value) -> Value:
    """Whether both are the same; NaN is nothing's equal."""
    return x.equals(y)


@formula(_ANY, is_exact=True)
def not_equal(x: Value, y: Value) -> Value:
    """Whether they differ."""
    return x.differs(y)


@formula(_ANY, is_exact=True)
def less(x: Value, y: Value) -> Value:
    """Whether x is smaller."""
    return x < y


@formula(_ANY, is_exact=True)
def less_equal(x: Value, y: Value) -> Value:
    """Whether x is not larger, nor NaN."""
    return x <= y


@formula(_ANY, is_exact=True)
def greater(x: Value, y: Value) -> Value:
    """Whether x is larger."""
    return x > y


@formula(_ANY, is_exact=True)
def greater_equal(x: Value, y: Value) -> Value:
    """Whether x is not smaller, nor NaN."""
    return x >= y


@formula(FLOATS_ONLY, is_exact=True)
def isnan(x: Value) -> Value:
    """Whether it is not a number."""
    return x.differs(x)


@formula(FLOATS_ONLY, is_exact=True)
def isinf(x: Value) -> Value:
    """Whether it is infinite."""
    return x.code.absolute(x).equals(inf)


@formula(FLOATS_ONLY, is_exact=True)
def isposinf(x: Value) -> Value:
    """Whether it is infinite and positive."""
    return x.equals(inf)


@formula(FLOATS_ONLY, is_exact=True)
def isneginf(x: Value) -> Value:
    """Whether it is infinite and negative."""
    return x.equals(-inf)


@formula(FLOATS_ONLY, is_exact=True)
def isfinite(x: Value) -> Value:
    """Whether it is neither infinite nor NaN."""
    return x.code.absolute(x) < inf


# -------------------------------------------------------------------------------------------- logic


@formula(WHOLE + "?", is_exact=True)
def both(x: Value, y: Value) -> Value:
    """The bits that both have."""
    return x & y


@formula(WHOLE + "?", is_exact=True)
def either(x: Value, y: Value) -> Value:
    """The bits that one of them has."""
    return x | y


@formula(WHOLE + "?", is_exact=True)
def only_one(x: Value, y: Value) -> Value:
    """The bits that one of them has alone."""
    return x ^ y


@formula(WHOLE + "?", is_exact=True)
def invert(x: Value) -> Value:
    """The other bits."""
    return x ^ (1 if _is_bool(x) else -1)


@formula(_ANY, is_exact=True)
def is_zero(x: Value) -> Value:
    """Whether it is zero."""
    return x.equals(0)


@formula(WHOLE, is_exact=True)
def shift_left(x: Value, y: Value) -> Value:
    """Shifted by y bits; 0 where that is not a place of the number."""
    return x.code.choose(y.below(width_of(x.kind)), x << y, 0)


@formula(WHOLE, is_exact=True)
def shift_right(x: Value, y: Value) -> Value:
    """Shifted by y bits; nothing but the sign where that is not a place of the number."""
    code, last = x.code, width_of(x.kind) - 1
    beyond = code.constant(x.kind, 0) if x.kind.unsigned else x >> last
    return code.choose(y.below(last + 1), x >> y, beyond)


# ------------------------------------------------------------------------------------------- choice


@formula(_ANY, is_exact=True, masks=(0,), keeps=True)
def choose(mask: Value, x: Value, y: Value) -> Value:
    """x where the mask is true, else y."""
    return mask.code.choose(mask, x, y)


@formula(_ANY, is_exact=True, masks=(1,), keeps=True)
def fill(x: Value, mask: Value, y: Value) -> Value:
    """y where the mask is true, else x."""
    return mask.code.choose(mask, y, x)


@formula(_ANY, is_exact=True, keeps=True)
def maximum(x: Value, y: Value) -> Value:
    """The larger one; NaN if one of them is."""
    larger = x.code.choose(x > y, x, y)
    return x.code.choose(x.differs(x), x, larger) if x.kind.is_real else larger


@formula(_ANY, is_exact=True, keeps=True)
def minimum(x: Value, y: Value) -> Value:
    """The smaller one; NaN if one of them is."""
    smaller = x.code.choose(x < y, x, y)
    return x.code.choose(x.differs(x), x, smaller) if x.kind.is_real else smaller


@formula(FLOATS_ONLY, keeps=True)
def fmax(x: Value, y: Value) -> Value:
    """The larger one, the first of two that are equal; NaN only where both are."""
    return _of_numbers(x, y, x >= y)


@formula(FLOATS_ONLY, keeps=True)
def fmin(x: Value, y: Value) -> Value:
    """The smaller one, the first of two that are equal; NaN only where both are."""
    return _of_numbers(x, y, x <= y)


def _of_numbers(x: Value, y: Value, is_first: Value) -> Value:
    """One of two by a mask; the other one where that is NaN, y where both are."""
    chosen = x.code.choose(is_first, x, y)
    return x.code.choose(x.is_nan(), y, x.code.choose(y.is_nan(), x, chosen))


@formula(NUMBERS, is_exact=True, keeps=True)
def relu(x: Value) -> Value:
    """x where it is not negative, else 0."""
    return at_least(x, 0)


@formula(NUMBERS, is_exact=True, keeps=True)
def clamp(x: Value, low: Value, high: Value) -> Value:
    """x between two bounds, of which the upper one wins; NaN if one of the three is."""
    if not x.kind.is_real:
        return minimum(high, maximum(low, x))
    choose = x.code.choose
    larger = choose(low > x, low, x)
    made = choose(high < larger, high, larger)
    # of bounds that are the same everywhere this is found out once
    return choose(low.is_nan() | high.is_nan(), choose(high.is_nan(), high, low), made)


@formula(FLOATS_ONLY, is_exact=True)
def relu6(x: Value) -> Value:
    """x between 0 and 6."""
    return clamp(x, x.taken(0.0), x.taken(6.0))


@formula(NUMBERS, is_exact=True, keeps=True)
def clamp_low(x: Value, low: Value) -> Value:
    """x, or the bound where x is below."""
    return maximum(low, x)


@formula(NUMBERS, is_exact=True, keeps=True)
def clamp_high(x: Value, high: Value) -> Value:
    """x, or the bound where x is above."""
    return minimum(high, x)


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def leaky_relu(x: Value, slope: Value) -> Value:
    """x where it is positive, else a part of it."""
    return x.code.choose(x > 0.0, x, x * slope)


@formula(FLOATS_ONLY, is_exact=True)
def hardsigmoid(x: Value) -> Value:
    """A line from 0 at -3 to 1 at 3."""
    return at_most(at_least(x + 3.0, 0.0), 6.0) / 6.0


@formula(FLOATS_ONLY, is_exact=True)
def hardswish(x: Value) -> Value:
    """x times `hardsigmoid`."""
    return x * at_most(at_least(x + 3.0, 0.0), 6.0) / 6.0


@formula("fdbhilB", is_exact=True, keeps=True)
def sign(x: Value) -> Value:
    """1 of what is positive, -1 of what is negative, else 0."""
    below = x.taken(0) if x.kind.unsigned else x.code.choose(x < 0, x.taken(-1), 0)
    return x.code.choose(x > 0, 1, below)


@formula(FLOATS_ONLY, is_exact=True)
def frac(x: Value) -> Value:
    """What comes after the point."""
    return x - called("trunc", x)


@formula(FLOATS_ONLY, is_exact=True, keeps=True)
def copysign(x: Value, y: Value) -> Value:
    """x with the sign of y."""
    return x.code.call(f"llvm.copysign.{x.kind.suffix}", x.kind, [x, y])


@formula(is_exact=True, in_halves=False)
def scaled_by_two(x: Value, power: Value) -> Value:
    """x times two to a whole power, rounded once: in float64 the product is exact."""
    lanes = x.kind.lanes
    near = as_kind(at_most(at_least(power, -_FAR), _FAR), INT64.of_lanes(lanes))
    factor = ((near + 1023) << 52).bits(DOUBLE.of_lanes(lanes))
    return as_kind(as_kind(x, factor.kind) * factor, x.kind)


_FAR: Final = 400.0
"""Powers of two beyond that make 0 and infinity of every float32."""


@formula(FLOATS_ONLY, is_exact=True)
def deg2rad(x: Value) -> Value:
    """Degrees as radians."""
    return x * (pi / 180)


@formula(FLOATS_ONLY, is_exact=True)
def rad2deg(x: Value) -> Value:
    """Radians as degrees."""
    return x * (180 / pi)


@formula(NUMBERS, is_exact=True, takes_whole=True)
def threshold(x: Value, level: Value, other: Value) -> Value:
    """x above a level, else another number."""
    return x.code.choose(x <= level, other, x)


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def softshrink(x: Value, width: Value) -> Value:
    """x nearer to 0 by a width, as far as that."""
    outer = x.code.choose(x < 0, x + width, x - width)
    return x.code.choose(x.code.absolute(x) <= width, x * 0.0, outer)


@formula(FLOATS_ONLY, is_exact=True, keeps=True)
def hardshrink(x: Value, width: Value) -> Value:
    """x, or 0 where it is not further away than a width."""
    return x.code.choose((x >= -width) & (x <= width), x.taken(0), x)


@formula(FLOATS_ONLY, is_exact=True)
def without_nan(x: Value, known: Value, high: Value, low: Value) -> Value:
    """x with numbers in place of NaN and of infinities."""
    made = x.code.choose(x.is_nan(), known, x)
    return x.code.choose(x.equals(inf), high, x.code.choose(x.equals(-inf), low, made))


# ----------------------------------------------------------------------------------- three operands


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def lerp(x: Value, end: Value, weight: Value) -> Value:
    """From x to the end, exact at both."""
    way = end - x
    near = x + weight * way
    far = end - way * (1.0 - weight)
    return x.code.choose(x.code.absolute(weight) < 0.5, near, far)


@formula(NUMBERS, is_exact=True)
def add_products(x: Value, a: Value, b: Value) -> Value:
    """x and a product."""
    return x + a * b


@formula(NUMBERS, is_exact=True)
def add_scaled(x: Value, y: Value, scale: Value) -> Value:
    """`x + y * scale`."""
    return x + y * scale


@formula(NUMBERS, is_exact=True)
def subtract_scaled(x: Value, y: Value, scale: Value) -> Value:
    """`x - y * scale`."""
    return x - y * scale


@formula(NUMBERS, is_exact=True, takes_whole=True)
def add_scaled_products(x: Value, a: Value, b: Value, scale: Value) -> Value:
    """`x + a * scale * b`."""
    return x + a * scale * b


@formula(FLOATS_ONLY)
def multiply_add(x: Value, factor: Value, term: Value) -> Value:
    """A product and a term, rounded once where the CPU can."""
    return x.code.multiply_add(x, factor, term)


@formula(FLOATS_ONLY, is_exact=True)
def add_quotients(x: Value, a: Value, b: Value) -> Value:
    """x and a quotient."""
    return x + a / b


@formula(FLOATS_ONLY, is_exact=True, takes_whole=True)
def add_scaled_quotients(x: Value, a: Value, b: Value, scale: Value) -> Value:
    """`x + a * scale / b`."""
    return x + a * scale / b
