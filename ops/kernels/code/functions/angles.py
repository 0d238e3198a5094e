"""Sine, cosine, tangent and their inverses, of float32 numbers, to 2.5 units in the last place.

Angles are reduced to a quarter turn in three parts of pi / 2 (W. J. Cody, W. Waite, "Software
Manual for the Elementary Functions", 1980), large ones by as many bits of 2 / pi as their exponent
asks for (M. Payne, R. Hanek, 1983).  Polynomials are fitted for the least relative error of the
result.
"""

from __future__ import annotations

from math import inf, nan, pi
from typing import Final

from ..language.text import DOUBLE, INT32, Kind, Value
from . import doubles
from .formulas import as_kind, formula
from .quarter_turns import INVERSE, Reduced, reduced_by
from .series import polynomial, with_sign

_TO_WHOLE: Final = 12582912.0  # 1.5 * 2**23: adding it rounds to a whole number
_QUARTER: Final = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
"""Pi / 2, in parts that are float32; with fused operations they do for angles below `_FAR`."""
_FAR: Final = 131072.0
_SMALL: Final = 0.78
"""Smaller angles need no reduction."""

_SINE: Final = (-0.0001950727690529361, 0.008332102227211062, -0.16666653692520397)
_COSINE: Final = (2.4424007292288604e-05, -0.0013887236797783537, 0.04166664406580587)
_TANGENT: Final = (
    *(0.004511180491080644, -0.00017978028581010179, 0.011044673539985677),
    *(0.02120311865065561, 0.05407491104596126, 0.1333253406729163, 0.3333335341402327),
)
_ARCSINE: Final = (
    *(0.04222601387531929, 0.024146612357267772, 0.045476555072790026),
    *(0.07495252563642088, 0.16666753485368638),
)
_ARCTANGENT: Final = (
    *(-0.0017935590964913253, 0.010914304055212674, -0.031177235771868723, 0.05795692238334496),
    *(-0.0840340680741242, 0.10952168954812981, -0.14264237959089351, 0.1999854786342078),
    -0.33333299071131023,
)


# -------------------------------------------------------------------------------------- reduction

_INVERSE: Final = (
    0,
    *(half for word in INVERSE[1:5] for half in (word >> 32, word & 0xFFFFFFFF)),
)[:8]
"""The bits of 2 / pi behind the point, after 32 that are zero."""


def _reduced(x: Value) -> Reduced:
    """An angle of float32."""
    if x.code.target.has_fma:
        return reduced_by(x, _of_near, _FAR, _of_far)
    return reduced_by(x, _of_small, _SMALL, _of_far)


def _of_near(x: Value) -> Reduced:
    """The same by fused operations, of which the first is exact."""
    code, (high, middle, low) = x.code, _QUARTER
    shifted = code.multiply_add(x, 2 / pi, _TO_WHOLE)
    number = shifted - _TO_WHOLE
    rest = code.multiply_add(number, -high, x)
    angle = code.multiply_add(number, -low, code.multiply_add(number, -middle, rest))
    wide = DOUBLE.of_lanes(x.kind.lanes)
    whole, rest, rounded = (as_kind(each, wide) for each in (number, rest, angle))
    lost = code.multiply_add(whole, -(middle + low), rest) - rounded
    return shifted.bits(INT32.of_lanes(x.kind.lanes)), angle, as_kind(lost, x.kind)


def _of_small(x: Value) -> Reduced:
    """The same of what needs no reduction."""
    return x.code.constant(INT32.of_lanes(x.kind.lanes), 0), x, x.taken(0.0)


def _of_far(x: Value) -> Reduced:
    """The same of numbers from 0.5 on: their 24 bits times those bits of 2 / pi that count.

    The product is taken modulo 4 in units of 2**-62, with 32 bits more of the factor.
    """
    code, lanes = x.code, x.kind.lanes
    words, short = Kind("i64", lanes, unsigned=True), INT32.of_lanes(lanes)
    bits = code.absolute(x).bits(short)
    exponent = (bits >> 23).converted("zext", words)
    digits = ((bits & 0x7FFFFF) | 0x800000).converted("zext", words)
    first = code.choose(exponent < 120, 0, exponent - 120)
    place, shift = first >> 5, first & 31
    upper, lower = (code.constant(words, _pair(at)) for at in (0, 2))
    for at in range(1, len(_INVERSE) - 3):
        upper = code.choose(place.equals(at), _pair(at), upper)
        lower = code.choose(place.equals(at), _pair(at + 2), lower)
    factor = (upper << shift) | ((lower >> 1) >> (63 - shift))
    product = digits * factor + ((digits * ((lower << shift) >> 32)) >> 32)
    turns = (product + (1 << 61)) >> 62
    left = (product - (turns << 62)).converted("sitofp", DOUBLE.of_lanes(lanes))
    left = left * code.choose(x < 0.0, left.taken(-pi / 2 / 2**62), pi / 2 / 2**62)
    angle = as_kind(left, x.kind)
    lost = as_kind(left - as_kind(angle, left.kind), x.kind)
    number = turns.converted("trunc", short)
    number = code.choose(x < 0.0, -number, number)
    return number, code.choose(code.absolute(x).equals(inf), nan, angle), lost


def _pair(at: int) -> int:
    return _INVERSE[at] << 32 | _INVERSE[at + 1]


# ----------------------------------------------------------------------------------- of an angle


def _wave(quarter: Value, angle: Value) -> Value:
    """The sine of an angle after so many quarter turns."""
    code, square = angle.code, angle * angle
    sine = code.multiply_add(angle * square, polynomial(square, *_SINE), angle)
    near = code.multiply_add(square, -0.5, angle.taken(1.0))
    cosine = code.multiply_add(square * square, polynomial(square, *_COSINE), near)
    made = code.choose((quarter & 1).equals(0), sine, cosine)
    return (made.bits(quarter.kind) ^ ((quarter & 2) << 30)).bits(angle.kind)


@formula(double=doubles.sin)
def sin(x: Value) -> Value:
    """The sine."""
    quarter, angle, _ = _reduced(x)
    return x.code.choose(x.equals(0.0), x, _wave(quarter, angle))


@formula("fd")
def sinc(x: Value) -> Value:
    """`sin(pi x) / (pi x)`, 1 at 0."""
    angle = x * pi
    return x.code.choose(x.equals(0.0), 1.0, sin(angle) / angle)


@formula(double=doubles.cos)
def cos(x: Value) -> Value:
    """The cosine."""
    quarter, angle, _ = _reduced(x)
    return _wave(quarter + 1, angle)


@formula(double=doubles.tan)
def tan(x: Value) -> Value:
    """The tangent; after an odd number of quarter turns `-1 / tan`."""
    code = x.code
    quarter, angle, lost = _reduced(x)
    square = angle * angle
    made = code.multiply_add(angle * square, polynomial(square, *_TANGENT), angle)
    made = code.multiply_add(lost, code.multiply_add(made, made, made.taken(1.0)), made)
    made = code.choose((quarter & 1).equals(0), made, -1.0 / made)
    return code.choose(x.equals(0.0), x, made)


# ----------------------------------------------------------------------------------------- inverses


def _arcsine(x: Value) -> tuple[Value, Value]:
    """Whether |x| is above one half, and the arcsine of |x|; above, half the arccosine."""
    code, size = x.code, x.code.absolute(x)
    is_large = size > 0.5
    square = code.choose(is_large, (1.0 - size) * 0.5, size * size)
    root = code.call(f"llvm.sqrt.{x.kind.suffix}", x.kind, [square])
    size = code.choose(is_large, root, size)
    made = code.multiply_add(size * square, polynomial(square, *_ARCSINE), size)
    return is_large, made


@formula(double=doubles.asin)
def asin(x: Value) -> Value:
    """The angle from -pi / 2 to pi / 2 whose sine it is."""
    code = x.code
    is_large, made = _arcsine(x)
    far = code.multiply_add(made, -2.0, _QUARTER[0]) + _QUARTER[1]
    return with_sign(code.choose(is_large, far, made), x)


@formula(double=doubles.acos)
def acos(x: Value) -> Value:
    """The angle from 0 to pi whose cosine it is."""
    code = x.code
    is_large, made = _arcsine(x)
    twice, is_negative = made + made, x < 0.0
    far = code.choose(is_negative, (2 * _QUARTER[0] - twice) + 2 * _QUARTER[1], twice)
    return code.choose(is_large, far, (_QUARTER[0] - with_sign(made, x)) + _QUARTER[1])


def _arctangent(x: Value) -> Value:
    """Of a number from 0 to 1."""
    square = x * x
    return x.code.multiply_add(x * square, polynomial(square, *_ARCTANGENT), x)


@formula(double=doubles.atan)
def atan(x: Value) -> Value:
    """The angle from -pi / 2 to pi / 2 whose tangent it is."""
    code, size = x.code, x.code.absolute(x)
    is_large = size > 1.0
    made = _arctangent(code.choose(is_large, 1.0 / size, size))
    return with_sign(code.choose(is_large, (_QUARTER[0] - made) + _QUARTER[1], made), x)


@formula(double=doubles.atan2)
def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y), from -pi to pi."""
    code = x.code
    high, wide = code.absolute(y), code.absolute(x)
    is_steep, is_left = high > wide, x.bits(INT32.of_lanes(x.kind.lanes)) < 0
    above, below = code.choose(is_steep, high, wide), code.choose(is_steep, wide, high)
    slope = code.choose(below.equals(above), 1.0, below / above)
    made = _arctangent(code.choose(above.equals(0.0), 0.0, slope))
    made = code.choose(is_steep ^ is_left, -made, made)
    for part in _QUARTER[:2]:
        half = code.choose(is_left, x.taken(2 * part), 0.0)
        made = made + code.choose(is_steep, part, half)
    made = with_sign(made, y)
    return code.choose(x.is_nan() | y.is_nan(), x + y, made)
