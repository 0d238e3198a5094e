"""Formulas of quotients that are cut to whole numbers, and of what is left: exact, as NumPy's."""

from __future__ import annotations

from math import inf, nan
from typing import Final

from ..language.target import host
from ..language.text import DOUBLE, INT32, INT64, Value
from .arithmetic import called
from .formulas import WHOLE, as_kind, formula, width_of
from .series import TO_WHOLE, TO_WHOLE_BITS

__all__ = ["fmod"]

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
    code, is_short = x.code, width_of(x.kind) < _SHORT
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


@formula(WHOLE + _REAL, is_exact=True)
def fmod(x: Value, y: Value) -> Value:
    """What is left of the division, with the sign of the dividend: exact.

    Of floats a multiple of the divisor is taken away, of not more bits than leave products and
    differences exact in float64, until less than the divisor is left.
    """
    code, kind = x.code, x.kind
    if not kind.is_real:
        return as_kind(_quotient(x, y)[1], kind)
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


@formula(WHOLE, is_exact=True)
def gcd(x: Value, y: Value) -> Value:
    """The greatest common divisor, by remainders with the sign of what is divided: the lowest
    number, which has no absolute value, counts as it is."""
    code = x.code
    divisor, rest = code.variable(code.absolute(y)), code.variable(code.absolute(x))
    with code.repeated(lambda: code.any_of(rest.now.differs(0))):
        before, by = divisor.now, rest.now
        is_done = by.equals(0)
        whole = code.choose(is_done, 1, by)
        divisor.set(code.choose(is_done, before, by))
        rest.set(code.choose(is_done, by, before - before / whole * whole))
    return divisor.now


@formula(WHOLE, is_exact=True)
def lcm(x: Value, y: Value) -> Value:
    """The least common multiple; products wrap at 32 bits or more."""
    code, kind, divisor = x.code, x.kind, gcd(x, y)
    if width_of(kind) < 32:
        x, y, divisor = (as_kind(each, INT32.of_lanes(kind.lanes)) for each in (x, y, divisor))
    is_back = divisor.equals(-1)  # by which the lowest number is not divided
    by = code.choose(divisor.equals(0) | is_back, 1, divisor)
    quotient = code.choose(is_back, -x, x / by)
    return as_kind(code.absolute(quotient * y), kind)
