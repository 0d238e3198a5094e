"""Formulas of any kind of numbers: arithmetic, comparisons, logic, choice.

Each is what NumPy computes, to the bit; whole numbers wrap.
"""

from __future__ import annotations

from math import inf, nan, pi
from typing import Final

from .formulas import FLOATS_ONLY, NUMBERS, WHOLE, as_kind, formula
from .series import TO_WHOLE, TO_WHOLE_BITS
from .target import host
from .text import DOUBLE, INT64, Kind, Value

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
    return called("floor", x)


@formula(FLOATS_ONLY, is_exact=True)
def ceil(x: Value) -> Value:
    """Rounded up."""
    return called("ceil", x)


@formula(FLOATS_ONLY, is_exact=True)
def trunc(x: Value) -> Value:
    """Without what comes after the point."""
    return called("trunc", x)


@formula(FLOATS_ONLY, is_exact=True)
def rint(x: Value) -> Value:
    """Rounded to the nearest, of two to the even one."""
    return called("rint", x)


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


# ------------------------------------------------------------------------ division of whole numbers

_REAL: Final = "fd" if host().has_fma else "f"
"""The floats that are divided with a rest: float64 needs fused operations for that."""
_LONG_ROUNDS: Final = 24
"""How often quotients of float64 are cut, by more than 50 bits each."""

_SHORT: Final = 51
"""Bits of whole numbers that float64 divides rightly, sums and products of them included."""


def _as_double(x: Value) -> Value:
    """A whole number of at most so many bits; there is no one instruction for that everywhere."""
    return (x + TO_WHOLE_BITS).bits(DOUBLE.of_lanes(x.kind.lanes)) - TO_WHOLE


def _as_whole(x: Value) -> Value:
    """The way back of what has nothing behind the point."""
    return (x + TO_WHOLE).bits(INT64.of_lanes(x.kind.lanes)) - TO_WHOLE_BITS


def _quotient(x: Value, y: Value) -> tuple[Value, Value]:
    """The quotient cut to a whole number and what is left; where y is 0 they are 0 and x.

    Of short numbers the rounded quotient of two floats has the whole part of the exact one: that is
    at least 1/y away from any number it does not reach, more than half a unit of the float.
    """
    code, is_short = x.code, _width(x.kind) < _SHORT
    wide = INT64.of_lanes(x.kind.lanes)
    x, y = as_kind(x, wide), as_kind(y, wide)
    real, divisor = _as_double(x), _as_double(y)
    cut = called("trunc", real / divisor)
    is_zero = y.equals(0)
    found = code.variable(code.choose(is_zero, 0, _as_whole(cut)))
    left = code.variable(code.choose(is_zero, x, _as_whole(real - cut * divisor)))
    if not is_short:
        reach = 1 << _SHORT
        beyond = ((x + reach) | (y + reach)).unsigned_shift(_SHORT + 1).differs(0)
        with code.when(code.any_of(beyond), rarely=True):
            odd = is_zero | y.equals(-1)  # which the instruction does not take with every x
            slow = code.choose(y.equals(-1), -x, x / code.choose(odd, 1, y))
            found.set(code.choose(is_zero, 0, slow))
            left.set(x - found.now * y)
    return found.now, left.now


@formula(WHOLE + _REAL, is_exact=True)
def floor_divide(x: Value, y: Value) -> Value:
    """The quotient, rounded down."""
    code, kind = x.code, x.kind
    if kind.is_real:
        return _floor_divide_floats(x, y)
    cut, rest = _quotient(x, y)
    x, y = as_kind(x, rest.kind), as_kind(y, rest.kind)
    is_above = rest.differs(0) & ((x ^ y) < 0)
    return as_kind(code.choose(is_above, cut - 1, cut), kind)


@formula(WHOLE, is_exact=True)
def trunc_divide(x: Value, y: Value) -> Value:
    """The quotient without what comes after the point."""
    return as_kind(_quotient(x, y)[0], x.kind)


def _floor_divide_floats(x: Value, y: Value) -> Value:
    """The quotient of what the remainder leaves, which is whole but for its rounding."""
    code, plain = x.code, x / y
    rest = fmod(x, y)
    whole = (x - rest) / y
    is_above = rest.differs(0) & ((y < 0) ^ (rest < 0))
    whole = code.choose(is_above, whole - 1.0, whole)
    low = called("floor", whole)
    low = code.choose((whole - low) > 0.5, low + 1.0, low)
    sign = code.call(f"llvm.copysign.{x.kind.suffix}", x.kind, [x.taken(0.0), plain])
    return code.choose(y.equals(0), plain, code.choose(whole.equals(0), sign, low))


_NEAR: Final = float(1 << 28)
"""Below that a whole number times a float32 is exact in float64."""
_ROUNDS: Final = 10
"""How often a quotient of float32 can be cut by that."""


@formula(_REAL, is_exact=True)
def fmod(x: Value, y: Value) -> Value:
    """What is left of the division of floats, with the sign of the dividend: exact.

    A multiple of the divisor is taken away, of not more bits than leave products and differences
    exact in float64, until less than the divisor is left.
    """
    code, kind = x.code, x.kind
    if kind.element == "double":
        return _fmod_doubles(x, y)
    wide, words = DOUBLE.of_lanes(kind.lanes), INT64.of_lanes(kind.lanes)
    dividend, divisor = as_kind(x, wide), as_kind(y, wide)
    quotient = called("trunc", dividend / divisor)
    rest = code.variable(dividend - quotient * divisor)
    far = code.absolute(quotient) >= _NEAR
    with code.when(code.any_of(far), rarely=True):
        rest.set(dividend)
        with code.counted(code.constant(INT64, 0), code.constant(INT64, _ROUNDS)):
            cut = called("trunc", rest.now / divisor)
            short = (cut.bits(words) & -(1 << 24)).bits(wide)
            rest.set(rest.now - short * divisor)
    left = code.choose(code.absolute(dividend) < code.absolute(divisor), dividend, rest.now)
    return as_kind(code.choose(left.equals(0), dividend * 0.0, left), kind)


def _fmod_doubles(x: Value, y: Value) -> Value:
    """The same of float64: what is taken away at once is rounded only where it is too much by one
    divisor, since a quotient and its product are of 53 bits each and the difference is fused.

    Quotients beyond that are cut in several rounds, those beyond all numbers first by a multiple of
    the divisor.
    """
    code = x.code
    dividend, divisor = code.absolute(x), code.absolute(y)
    quotient = called("trunc", dividend / divisor)
    rest = code.variable(code.multiply_add(-quotient, divisor, dividend))
    with code.when(code.any_of(quotient >= 2.0**52), rarely=True):
        rest.set(dividend)
        for times in (2, 1, 0):
            whole = divisor
            for _ in range(times):
                whole = whole * 2.0**600
            is_part = whole < inf
            with code.counted(code.constant(INT64, 0), code.constant(INT64, _LONG_ROUNDS)):
                cut = called("trunc", rest.now / whole)
                less = code.multiply_add(-cut, whole, rest.now)
                is_cut = is_part & (code.absolute(cut) < inf)
                rest.set(code.choose(is_cut, less, rest.now))
    left = rest.now
    left = code.choose(left < 0.0, left + divisor, left)
    left = code.choose(left >= divisor, left - divisor, left)
    left = code.choose(dividend < divisor, dividend, left)
    unknown = x.is_nan() | y.is_nan() | dividend.equals(inf) | divisor.equals(0.0)
    left = code.choose(unknown, nan, left)
    return code.call(f"llvm.copysign.{x.kind.suffix}", x.kind, [left, x])


@formula(WHOLE + _REAL, is_exact=True)
def remainder(x: Value, y: Value) -> Value:
    """What is left of the division, with the sign of the divisor."""
    code, kind = x.code, x.kind
    if kind.is_real:
        left = fmod(x, y)
        is_other = left.differs(0) & ((left < 0) ^ (y < 0))
        return code.choose(is_other, left + y, left)
    _, rest = _quotient(x, y)
    y = as_kind(y, rest.kind)
    is_wrong = rest.differs(0) & ((rest ^ y) < 0)
    return as_kind(code.choose(is_wrong, rest + y, rest), kind)


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


def _width(kind: Kind) -> int:
    return int(kind.element[1:])


@formula(WHOLE, is_exact=True)
def shift_left(x: Value, y: Value) -> Value:
    """Shifted by y bits; 0 where that is not a place of the number."""
    return x.code.choose(y.below(_width(x.kind)), x << y, 0)


@formula(WHOLE, is_exact=True)
def shift_right(x: Value, y: Value) -> Value:
    """Shifted by y bits; nothing but the sign where that is not a place of the number."""
    code, last = x.code, _width(x.kind) - 1
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


@formula(NUMBERS, is_exact=True, keeps=True)
def relu(x: Value) -> Value:
    """x where it is not negative, else 0."""
    return at_least(x, 0)


@formula(NUMBERS, is_exact=True, keeps=True)
def clamp(x: Value, low: Value, high: Value) -> Value:
    """x between two bounds, of which the upper one wins; NaN if one of the three is."""
    return minimum(high, maximum(low, x))


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
