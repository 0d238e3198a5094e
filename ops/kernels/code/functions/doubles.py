"""Functions of float64 numbers, right to 2.5 units in the last place.

Those of float32 are in `scalars`, `angles` and `powers`, which take these where numbers are longer.
Arguments are reduced as there, with what a step is rounded by kept where it counts; polynomials are
fitted for the least relative error of the result.
"""

from __future__ import annotations

from math import inf, log, nan, pi
from typing import Final

from ..language.text import INT64, Value
from .arithmetic import at_least, at_most, called
from .quarter_turns import reduced
from .series import TO_WHOLE, TO_WHOLE_BITS, polynomial, with_sign, words_of

__all__ = [
    *("acos", "acosh", "asin", "asinh", "at_ends", "atan", "atan2", "atanh", "cos", "cosh", "erf"),
    *("erfc", "exp", "exp2", "expm1", "hypot", "log10", "log1p", "log2", "logaddexp"),
    *("logaddexp2", "natural_log", "power_and_rest"),
    *("sin", "sine_and_cosine", "sinh", "tan", "tanh", "waves"),
]

_ONE_BITS, _HALF_ROOT_BITS = 0x3FF0000000000000, 0x3FE6A09E667F3BCD
_EXPONENT_BITS: Final = 0x4330000000000000  # of 2**52, whose last bit is worth 1
_LOG2_E: Final = 1 / log(2)
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""The logarithm of 2: a part of 32 bits, of which small multiples are exact, and the rest."""


# ------------------------------------------------------------------------------------- powers

_EXP: Final = (
    *(2.092158794838977e-09, 2.5105217609736546e-08, 2.7557252912941005e-07),
    *(2.755725539854808e-06, 2.4801587347343323e-05, 0.00019841269874822207),
    *(0.0013888888888874394, 0.008333333333326134, 0.041666666666666685),
    *(0.1666666666666667, 0.5),
)


def _split(x: Value) -> tuple[Value, Value]:
    """x = n ln 2 + r: the bits of n + 1.5 * 2**52, and r between -ln 2 / 2 and ln 2 / 2."""
    code = x.code
    shifted = code.multiply_add(x, _LOG2_E, TO_WHOLE)
    n = shifted - TO_WHOLE
    rest = code.multiply_add(n, -_LN2_HIGH, x)
    return shifted.bits(words_of(x)), code.multiply_add(n, -_LN2_LOW, rest)


def _less_one(r: Value) -> Value:
    """`e ** r - 1` of a small number."""
    return r.code.multiply_add(r * r, polynomial(r, *_EXP), r)


def _scaled(value: Value, power: Value) -> Value:
    """Times a power of two, by two factors that are normal numbers."""
    biased = power - (TO_WHOLE_BITS - 2046)
    half = biased >> 1
    for part in (half, biased - half):
        value = value * (part << 52).bits(value.kind)
    return value


def exp(x: Value) -> Value:
    """`e ** x`; tiny results are denormal, not zero."""
    power, r = _split(at_least(at_most(x, 710.0), -746.0))
    return _scaled(polynomial(r, *_EXP, 1.0, 1.0), power)


def _half_exp(x: Value) -> Value:
    """Half of it, which does not overflow before twice that is above the largest number."""
    power, r = _split(at_most(x, 711.0))
    return _scaled(polynomial(r, *_EXP, 1.0, 1.0) * 0.5, power)


def expm1(x: Value) -> Value:
    """`e ** x - 1`, by half the power, which does not overflow before the result does."""
    code = x.code
    power, r = _split(at_least(at_most(x, 710.0), -50.0))
    half = ((power - (TO_WHOLE_BITS - 1022)) << 52).bits(x.kind)
    made = code.multiply_add(half, _less_one(r), half - 0.5) * 2.0
    return code.choose(code.absolute(x) < 2.0**-54, x, made)


def exp2(x: Value) -> Value:
    """Two to the power of x."""
    bounded = at_least(at_most(x, 1025.0), -1080.0)
    shifted = bounded + TO_WHOLE
    r = (bounded - (shifted - TO_WHOLE)) * log(2)
    return _scaled(polynomial(r, *_EXP, 1.0, 1.0), shifted.bits(words_of(x)))


def tanh(x: Value) -> Value:
    """The hyperbolic tangent, by `p = e ** 2|x| - 1`: p / (p + 2), or 1 - 2 / (p + 2)."""
    code = x.code
    size = at_most(code.absolute(x), 20.0)
    p = expm1(size + size)
    is_large = p > 2.0
    part = code.choose(is_large, -2.0, p) / (p + 2.0)
    return with_sign(code.choose(is_large, part + 1.0, part), x)


def sinh(x: Value) -> Value:
    """`(e ** x - e ** -x) / 2`, by `e ** x - 1`."""
    code, size = x.code, x.code.absolute(x)
    less_one = expm1(at_most(size, 30.0))
    near = (less_one + less_one / (less_one + 1.0)) * 0.5
    return with_sign(code.choose(size < 20.0, near, _half_exp(size)), x)


def cosh(x: Value) -> Value:
    """`(e ** x + e ** -x) / 2`."""
    half = _half_exp(x.code.absolute(x))
    return half + 0.25 / half


# --------------------------------------------------------------------------------- logarithms

_LOG: Final = (
    *(0.1321179338091368, 0.13254897229347853, 0.15386855153981385, 0.18181781740762298),
    *(0.22222222559600394, 0.28571428569767693, 0.40000000000003644, 0.6666666666666666),
)
_LOG10_2_HIGH, _LOG10_2_LOW = 0.3010299950838089, 5.801722962879576e-10


def power_and_rest(x: Value) -> tuple[Value, Value]:
    """x = 2**n (1 + f) of a normal number: n, and f of at most about 0.42."""
    bits = x.bits(words_of(x))
    exponent = (bits + (_ONE_BITS - _HALF_ROOT_BITS)) >> 52
    n = (exponent | _EXPONENT_BITS).bits(x.kind) - (2.0**52 + 1023)
    return n, (bits - (exponent << 52) + _ONE_BITS).bits(x.kind) - 1.0


def _parts(x: Value) -> tuple[Value, Value, Value]:
    """x = 2**n (1 + f): n, f, and what the logarithm of 1 + f is less than f."""
    code = x.code
    is_tiny = x < 2.2250738585072014e-308
    n, f = power_and_rest(code.choose(is_tiny, x * 2.0**54, x))
    s, half = f / (f + 2.0), f * f * 0.5
    square = s * s
    less = half - s * code.multiply_add(square, polynomial(square, *_LOG), half)
    return code.choose(is_tiny, n - 54.0, n), f, less


def at_ends(x: Value, made: Value) -> Value:
    """A logarithm, also of 0, of negative numbers and of those without end."""
    code = x.code
    made = code.choose(x.equals(0.0), -inf, code.choose(x < 0.0, nan, made))
    return code.choose(x.equals(inf) | x.is_nan(), x, made)


def natural_log(x: Value) -> Value:
    """The natural logarithm."""
    n, f, less = _parts(x)
    add = x.code.multiply_add
    return at_ends(x, add(n, _LN2_HIGH, f - add(n, -_LN2_LOW, less)))


def log2(x: Value) -> Value:
    """The logarithm to the base 2."""
    code = x.code
    n, f, less = _parts(x)
    made = _in_base(f, less, _LOG2_E, 2.0355273740931033e-17)
    return at_ends(x, code.choose(f.equals(0.0), n, n + made))


def log10(x: Value) -> Value:
    """The logarithm to the base 10."""
    add = x.code.multiply_add
    n, f, less = _parts(x)
    made = _in_base(f, less, 1 / log(10), 1.098319650216765e-17)
    return at_ends(x, add(n, _LOG10_2_HIGH, add(n, _LOG10_2_LOW, made)))


def _in_base(f: Value, less: Value, high: float, low: float) -> Value:
    """`f - less` times a number of two parts."""
    add, made = f.code.multiply_add, f - less
    lost = (f - made) - less
    return add(made, high, add(made, low, lost * high))


def log1p(x: Value) -> Value:
    """`log(1 + x)`, with what the sum is rounded by made good (W. Kahan)."""
    code = x.code
    grown = x + 1.0
    is_large = x > 1.0
    one = code.choose(is_large, 1.0, x)
    lost = one - (grown - code.choose(is_large, x, 1.0))
    made = natural_log(grown) + lost / grown
    known = code.choose(x.equals(inf), x, code.choose(grown.equals(0.0), -inf, made))
    return code.choose(x.equals(0.0), x, known)


def asinh(x: Value) -> Value:
    """The number whose hyperbolic sine it is."""
    code, size = x.code, x.code.absolute(x)
    held = at_most(size, 1e10)
    square = held * held
    root = called("sqrt", square + 1.0)
    near = log1p(held + square / (root + 1.0))
    far = natural_log(size) + log(2)
    return with_sign(code.choose(size < 1e10, near, far), x)


def acosh(x: Value) -> Value:
    """The number from 0 on whose hyperbolic cosine it is."""
    code = x.code
    above = at_most(x, 1e10) - 1.0
    near = log1p(above + called("sqrt", above * (above + 2.0)))
    far = natural_log(x) + log(2)
    return code.choose(x < 1.0, nan, code.choose(x < 1e10, near, far))


def atanh(x: Value) -> Value:
    """The number whose hyperbolic tangent it is."""
    size = x.code.absolute(x)
    return with_sign(log1p((size + size) / (1.0 - size)) * 0.5, x)


# ------------------------------------------------------------------------------------- angles

_HALF_TURN_REST: Final = 6.123233995736766e-17
"""What the nearest number is less than pi / 2."""
_SINE: Final = (
    *(-7.578812891893648e-13, 1.6058369130168016e-10, -2.5052104933112546e-08),
    *(2.755731921428295e-06, -0.00019841269841255272, 0.008333333333333323),
    -0.16666666666666666,
)
_COSINE: Final = (
    *(4.739187734612283e-14, -1.1470319474435061e-11, 2.0876754622157344e-09),
    *(-2.7557319216653923e-07, 2.4801587301574904e-05, -0.0013888888888888879),
    0.041666666666666664,
)
_ARCTANGENT: Final = (
    *(-0.017994307471402876, 0.038148835971032344, -0.05042837465331722, 0.05848729499932233),
    *(-0.0666322873009948, 0.07692072172212717, -0.09090898499773264, 0.11111110812437594),
    *(-0.14285714280863615, 0.19999999999961507, -0.3333333333333323),
)
_ARCSINE: Final = (
    *(0.03251226443284206, -0.020798782855451767, 0.021554440008724578, 0.003774749574528649),
    *(0.010760469134070721, 0.011402800437504577, 0.013980292311047108, 0.017351661550793346),
    *(0.022372211841874018, 0.030381942837668898, 0.0446428571713733, 0.0749999999997504),
    0.1666666666666674,
)


def sine_and_cosine(angle: Value, lost: Value) -> tuple[Value, Value]:
    """Sine and cosine of a small angle, and what it was rounded by."""
    code, square = angle.code, angle * angle
    part = code.multiply_add(angle * square, polynomial(square, *_SINE), lost)
    half = square * 0.5
    near = 1.0 - half
    rest = code.multiply_add(square * square, polynomial(square, *_COSINE), -(angle * lost))
    return angle + part, near + (((1.0 - near) - half) + rest)


def _wave(x: Value, more: int) -> Value:
    """The sine, after so many quarter turns more."""
    quarter, angle, lost = reduced(x)
    sine, cosine = sine_and_cosine(angle, lost)
    quarter = quarter + more
    made = x.code.choose((quarter & 1).equals(0), sine, cosine)
    return (made.bits(quarter.kind) ^ ((quarter & 2) << 62)).bits(x.kind)


def waves(x: Value) -> tuple[Value, Value]:
    """Sine and cosine of an angle of any size."""
    code = x.code
    quarter, angle, lost = reduced(x)
    sine, cosine = sine_and_cosine(angle, lost)
    is_even = (quarter & 1).equals(0)
    pair = code.choose(is_even, sine, cosine), code.choose(is_even, cosine, sine)
    words = (quarter & 2) << 62, ((quarter + 1) & 2) << 62
    sine, cosine = (
        (size.bits(sign.kind) ^ sign).bits(x.kind) for size, sign in zip(pair, words, strict=True)
    )
    return sine, cosine


def sin(x: Value) -> Value:
    """The sine."""
    return x.code.choose(x.equals(0.0), x, _wave(x, 0))


def cos(x: Value) -> Value:
    """The cosine."""
    return _wave(x, 1)


def tan(x: Value) -> Value:
    """The tangent; after an odd number of quarter turns `-cos / sin`."""
    code = x.code
    quarter, angle, lost = reduced(x)
    sine, cosine = sine_and_cosine(angle, lost)
    is_even = (quarter & 1).equals(0)
    made = code.choose(is_even, sine, -cosine) / code.choose(is_even, cosine, sine)
    return code.choose(x.equals(0.0), x, made)


def _arctangent(size: Value) -> Value:
    """Of a number from 0 on."""
    code = size.code
    is_large, is_middle = size > 2.414213562373095, size > 0.41421356237309503
    above = code.choose(is_large, -1.0, code.choose(is_middle, size - 1.0, size))
    below = code.choose(is_large, size, code.choose(is_middle, size + 1.0, 1.0))
    slope = code.choose(size.equals(inf), 0.0, above / below)
    square = slope * slope
    made = slope * square * polynomial(square, *_ARCTANGENT)
    rest = code.choose(is_middle, size.taken(_HALF_TURN_REST / 2), 0.0)
    start = code.choose(is_middle, size.taken(pi / 4), 0.0)
    rest = code.choose(is_large, _HALF_TURN_REST, rest)
    start = code.choose(is_large, pi / 2, start)
    return start + (slope + (made + rest))


def atan(x: Value) -> Value:
    """The angle from -pi / 2 to pi / 2 whose tangent it is."""
    return with_sign(_arctangent(x.code.absolute(x)), x)


def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y), from -pi to pi."""
    code = x.code
    high, wide = code.absolute(y), code.absolute(x)
    is_left = x.bits(INT64.of_lanes(x.kind.lanes)) < 0
    both = high.equals(wide)
    slope = code.choose(both, 1.0, high / wide)
    made = _arctangent(code.choose(both & high.equals(0.0), 0.0, slope))
    turned = (pi - made) + _HALF_TURN_REST * 2
    made = with_sign(code.choose(is_left, turned, made), y)
    return code.choose(x.is_nan() | y.is_nan(), x + y, made)


_FAR: Final = 2.0**500
"""Squares of numbers up to that, and down to its inverse, are no larger or smaller than floats."""


def hypot(x: Value, y: Value) -> Value:
    """The distance of the point (x, y)."""
    code = x.code
    one, other = code.absolute(x), code.absolute(y)
    large, small = code.choose(one > other, one, other), code.choose(one > other, other, one)
    is_far, is_near = large > _FAR, large < 1 / _FAR
    scale = code.choose(is_near, x.taken(2.0**600), code.choose(is_far, x.taken(2.0**-600), 1.0))
    back = code.choose(is_near, x.taken(2.0**-600), code.choose(is_far, x.taken(2.0**600), 1.0))
    made = _length(large * scale, small * scale) * back
    is_infinite = one.equals(inf) | other.equals(inf)
    unknown = code.choose(x.is_nan() | y.is_nan(), x + y, made)
    return code.choose(is_infinite, inf, unknown)


def _length(large: Value, small: Value) -> Value:
    """The same of numbers whose squares are floats; one step of Newton's with exact squares."""
    code = large.code
    made = called("sqrt", code.multiply_add(large, large, small * small))
    if not code.target.has_fma:
        return made
    squares = [each * each for each in (large, small, made)]
    rests = [
        code.multiply_add(each, each, -square)
        for each, square in zip((large, small, made), squares, strict=True)
    ]
    missing = ((squares[0] - squares[2]) + squares[1]) + ((rests[0] - rests[2]) + rests[1])
    return made + missing / code.choose(made.equals(0.0), 1.0, made + made)


def logaddexp(x: Value, y: Value) -> Value:
    """The logarithm of the sum of `e ** x` and `e ** y`."""
    code = x.code
    above = code.choose(x > y, x, y)
    made = above + log1p(exp(-code.absolute(x - y)))
    made = code.choose(x.equals(y) & code.absolute(x).equals(inf), x, made)
    return code.choose(x.is_nan() | y.is_nan(), x + y, made)


def logaddexp2(x: Value, y: Value) -> Value:
    """The logarithm to the base 2 of the sum of powers of 2."""
    code = x.code
    above = code.choose(x > y, x, y)
    made = above + log1p(exp2(-code.absolute(x - y))) * _LOG2_E
    made = code.choose(x.equals(y) & code.absolute(x).equals(inf), x, made)
    return code.choose(x.is_nan() | y.is_nan(), x + y, made)


def _arcsine(x: Value) -> tuple[Value, Value, Value]:
    """Whether |x| is above one half, and the arcsine of |x|, in two parts; above, half the
    arccosine."""
    code, size = x.code, x.code.absolute(x)
    is_large = size > 0.5
    square = code.choose(is_large, (1.0 - size) * 0.5, size * size)
    root = called("sqrt", square)
    miss = code.multiply_add(-root, root, square) / code.choose(root.equals(0.0), 1.0, root + root)
    start = code.choose(is_large, root, size)
    rest = code.choose(is_large & (root > 0.0), miss, 0.0)
    return is_large, start, code.multiply_add(start * square, polynomial(square, *_ARCSINE), rest)


def asin(x: Value) -> Value:
    """The angle from -pi / 2 to pi / 2 whose sine it is."""
    code = x.code
    is_large, start, rest = _arcsine(x)
    far = (pi / 2 - 2.0 * start) - (2.0 * rest - _HALF_TURN_REST)
    return with_sign(code.choose(is_large, far, start + rest), x)


def acos(x: Value) -> Value:
    """The angle from 0 to pi whose cosine it is."""
    code = x.code
    is_large, start, rest = _arcsine(x)
    twice = 2.0 * (start + rest)
    left = (pi - 2.0 * start) - (2.0 * rest - 2 * _HALF_TURN_REST)
    far = code.choose(x < 0.0, left, twice)
    start, rest = with_sign(start, x), code.choose(x < 0.0, -rest, rest)
    return code.choose(is_large, far, pi / 2 - (start - (_HALF_TURN_REST - rest)))


# -------------------------------------------------------------------------- the error function

_ERF: Final = (
    *(5.959351997788533e-11, -1.137418904357459e-09, 1.466013618898846e-08),
    *(-1.6350368501636725e-07, 1.646100595197171e-06, -1.49255956205199e-05),
    *(0.00012055331126896275, -0.0008548326981266605, 0.005223977624825796),
    *(-0.026866170645077618, 0.11283791670954883, -0.3761263890318375, 0.1283791670955126),
)
_ERFC: Final = (
    *(-6.871459178937831e-09, 7.400901506512067e-08, 5.199490574894436e-08),
    *(-7.813981891287625e-07, 3.174639296446577e-07, 5.678601528732589e-06),
    *(-1.1236519188447131e-05, -2.4385492370911916e-05, 0.00015062717247942036),
    *(-0.00019926055402525673, -0.0007577745940426454, 0.005031970663648125),
    *(-0.016197733868135077, 0.0371675154637824, -0.06633036582805804, 0.09373283500272973),
    *(-0.10103906603563381, 0.06809705425457264, 0.015379652102608781),
    *(-0.13962111684056153, 1.2329951186255526),
)


def _near_erf(size: Value) -> Value:
    """The error function of a number from 0 to 1."""
    return size.code.multiply_add(polynomial(size * size, *_ERF), size, size)


def _far_erfc(size: Value) -> Value:
    """`1 - erf` from 0.45 on: `e ** -x**2` times what changes slowly."""
    code = size.code
    square = size * size
    lost = code.multiply_add(size, size, -square)
    grown = polynomial((size - 4.0) / (size + 4.0), *_ERFC) / (size * 2.0 + 1.0)
    return exp(-square) * (grown - grown * lost)


def erf(x: Value) -> Value:
    """The error function."""
    code, size = x.code, at_most(x.code.absolute(x), 6.0)
    near = _near_erf(at_most(size, 1.0))
    return with_sign(code.choose(size < 1.0, near, 1.0 - _far_erfc(size)), x)


def erfc(x: Value) -> Value:
    """`1 - erf(x)`, also where that is small."""
    code, size = x.code, at_most(x.code.absolute(x), 28.0)
    near = 1.0 - with_sign(_near_erf(at_most(size, 1.0)), x)
    far = _far_erfc(size)
    return code.choose(size < 0.46875, near, code.choose(x < 0.0, 2.0 - far, far))
