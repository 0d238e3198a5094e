"""Functions of floats, each written once, for vectors of them.

Transcendental functions are right to 2.5 units in the last place, for denormals, infinities and
NaN too.  Reductions to small arguments follow J.-M. Muller, "Elementary Functions" (2016), chapter
11; polynomials are Taylor's or, for `erf`, fitted for the least relative error of the result.
"""

from __future__ import annotations

from math import inf, nan

from ..language.text import INT32, Value
from . import doubles
from .arithmetic import at_least, at_most
from .formulas import formula
from .series import polynomial, with_sign

__all__ = ["exp", "falling_exp", "half_exp", "log"]


# ------------------------------------------------------------------------------------- powers

_TO_WHOLE = 12582912.0  # 1.5 * 2**23: adding it rounds to a whole number
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693145751953125, 1.42860677e-06
_LN2 = 0.6931471805599453
_LEAST_NORMAL = -87.33654
EXPONENTIAL = (1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2)


def _reduced(x: Value) -> tuple[Value, Value]:
    """x = n ln 2 + r: n, which is whole, and r between -ln 2 / 2 and ln 2 / 2."""
    code = x.code
    n = code.multiply_add(x, _LOG2_E, _TO_WHOLE) - _TO_WHOLE
    rest = code.multiply_add(n, -_LN2_HIGH, x)
    return n, code.multiply_add(n, -_LN2_LOW, rest)


def half_exp(x: Value) -> Value:
    """Half of `e ** x`, for x from -100 to 90."""
    n, r = _reduced(x)
    return x.code.scaled(polynomial(r, *EXPONENTIAL, 1.0, 1.0) * 0.5, n)


_FALLING = (
    *(0.0013843606642218688, 0.008374195624561475, 0.04166800472711706, 0.16666430800274842),
    *(0.4999999419164172, 1.0000000322586526, 1.0),
)


def falling_exp(x: Value) -> Value:
    """`e ** x` of what is at most 0: right to 2 units in the last place, from -10 down to 4; 0 in
    place of denormal numbers."""
    code = x.code
    if x.kind.element == "double":
        return doubles.exp(x)
    if code.target.has_fma:
        n = code.multiply_add(x, _LOG2_E, _TO_WHOLE) - _TO_WHOLE
        r = code.multiply_add(n, -_LN2, x)
    else:
        n, r = _reduced(x)
    return code.choose(x < _LEAST_NORMAL, 0.0, code.scaled(polynomial(r, *_FALLING), n))


@formula(double=doubles.exp)
def exp(x: Value) -> Value:
    """`e ** x`; tiny results are denormal, not zero."""
    n, r = _reduced(at_least(at_most(x, 89.0), -104.5))
    return x.code.scaled(polynomial(r, *EXPONENTIAL, 1.0, 1.0), n)


@formula("fd")
def sigmoid(x: Value) -> Value:
    """`1 / (1 + e ** -x)`, by powers that do not overflow."""
    power = exp(-x.code.absolute(x))
    return x.code.choose(x < 0.0, power, 1.0) / (power + 1.0)


@formula(double=doubles.expm1)
def expm1(x: Value) -> Value:
    """`e ** x - 1`, by half the power, which does not overflow before the result does."""
    code = x.code
    n, r = _reduced(at_least(at_most(x, 89.0), -104.0))
    half = code.scaled(code.constant(x.kind, 0.5), n)
    small = code.multiply_add(r * r, polynomial(r, *EXPONENTIAL), r)
    made = code.multiply_add(half, small, half - 0.5) * 2.0
    return code.choose(x.equals(0.0), x, made)


_HALF_ROOT_BITS = 0x3F3504F3
_LOG = (2 / 9, 2 / 7, 2 / 5, 2 / 3)


@formula(double=doubles.natural_log)
def log(x: Value) -> Value:
    """The natural logarithm: of m 2**n, by the series of `2 artanh((m - 1) / (m + 1))`."""
    code, whole = x.code, INT32.of_lanes(x.kind.lanes)
    tiny = x < 1.1754943508222875e-38
    bits = code.choose(tiny, x * 8388608.0, x).bits(whole)
    n = (bits - _HALF_ROOT_BITS) >> 23
    f = (bits - (n << 23)).bits(x.kind) - 1.0  # between sqrt(1/2) - 1 and sqrt(2) - 1
    s = f / (f + 2.0)
    square, part = s * s, f * f * 0.5
    curve = code.multiply_add(s, part + square * polynomial(square, *_LOG), -part)
    power = code.choose(tiny, n - 23, n).converted("sitofp", x.kind)
    made = code.multiply_add(power, _LN2_LOW, curve) + f
    made = code.multiply_add(power, _LN2_HIGH, made)
    made = code.choose(x.equals(0.0), -inf, code.choose(x < 0.0, nan, made))
    is_large = code.let(x.kind.of("i1"), f"fcmp ueq {x.kind} {x.name}, {x.taken(inf).name}")
    return code.choose(is_large, x, made)


@formula(double=doubles.log1p)
def log1p(x: Value) -> Value:
    """`log(1 + x)`, with what the sum is rounded by made good (W. Kahan)."""
    code = x.code
    grown = x + 1.0
    made = log(grown) + (x - (grown - 1.0)) / grown
    known = code.choose(x.equals(inf), x, code.choose(grown.equals(0.0), -inf, made))
    return code.choose(x.equals(0.0), x, known)


@formula(double=doubles.tanh)
def tanh(x: Value) -> Value:
    """The hyperbolic tangent, by `p = e ** 2|x| - 1`: p / (p + 2), or 1 - 2 / (p + 2)."""
    code = x.code
    bounded = at_most(code.absolute(x), 9.1)
    n, r = _reduced(bounded + bounded)
    power = code.scaled(code.constant(x.kind, 1.0), n)
    small = code.multiply_add(r * r, polynomial(r, *EXPONENTIAL), r)
    less_one = code.multiply_add(power, small, power - 1.0)
    large = less_one > 2.0
    part = code.choose(large, -2.0, less_one) / (less_one + 2.0)
    return with_sign(code.choose(large, part + 1.0, part), x)


_ERF_NEAR = (
    *(7.853857697675015e-05, -0.0008010192518133576, 0.0051883275597235335),
    *(-0.02685381186897636, 0.11283585147028674, -0.3761262582409334, 0.12837916572669017),
)
_ERF_FAR = (
    *(-0.0001863800855163965, 0.00294766680842493, -0.021838097013355498),
    *(0.1031068214600794, 0.638144758075007, 1.1270892338315877, 0.0003415125774735017),
)


@formula(double=doubles.erf)
def erf(x: Value) -> Value:
    """The error function: x + x p(x * x) up to 1, 1 - e ** -q(x) from there."""
    code = x.code
    size = at_most(code.absolute(x), 4.0)
    near = code.multiply_add(polynomial(size * size, *_ERF_NEAR), size, size)
    n, r = _reduced(-polynomial(size, *_ERF_FAR))
    far = 1.0 - code.scaled(polynomial(r, *EXPONENTIAL, 1.0, 1.0), n)
    return with_sign(code.choose(size < 1.0, near, far), x)


# -------------------------------------------------------------------------------- activations


_ERF_ABOVE = (
    *(2.045965175057063e-06, 0.00028483616188168526, 0.0037724715657532215),
    *(0.05276905372738838, 0.1905926913022995, 1.1283791065216064),
)
_ERF_BELOW = (
    *(3.804673906415701e-05, 0.0011638278374448419, 0.01498305145651102),
    *(0.11418218910694122, 0.5022410750389099, 1.0),
)


def _quick_erf(x: Value) -> Value:
    """The error function to 5 units, by the fraction of `ops/special_functions`."""
    bounded = at_least(at_most(x, 3.925), -3.925)
    square = bounded * bounded
    made = bounded * polynomial(square, *_ERF_ABOVE) / polynomial(square, *_ERF_BELOW)
    return at_least(at_most(made, 1.0), -1.0)


@formula("fd")
def gelu(x: Value) -> Value:
    """x times the normal distribution's share below it; of float32 NaN of infinity, as torch's."""
    inner = x * 0.7071067811865476
    if x.kind.element == "double":
        return x * 0.5 * (erf(inner) + 1.0)
    made = x * 0.5 * (_quick_erf(inner) + 1.0)
    return x.code.choose(x.equals(inf), nan, made)


@formula("fd")
def gelu_tanh(x: Value) -> Value:
    """`gelu`, its share approximated by `tanh`."""
    inner = x.code.multiply_add(x * x * x, 0.044715, x) * 0.7978845608028654
    return x * 0.5 * (tanh(inner) + 1.0)


@formula("fd")
def silu(x: Value) -> Value:
    """`x / (1 + e ** -x)`."""
    return x / (exp(-x) + 1.0)


@formula("fd")
def mish(x: Value) -> Value:
    """`x tanh(ln(1 + e ** x))`, as a fraction of powers."""
    grown = exp(at_most(x, 20.0))
    part = grown * (grown + 2.0)
    return x * (part / (part + 2.0))


@formula("fd", takes_whole=True)
def softplus(x: Value, beta: Value, threshold: Value) -> Value:
    """`log(1 + e ** (beta x)) / beta`; x itself where `beta x` is beyond a threshold."""
    scaled = x * beta
    made = log1p(exp(at_most(scaled, threshold))) / beta
    return x.code.choose(scaled > threshold, x, made)


@formula("fd", takes_whole=True)
def elu(x: Value, alpha: Value) -> Value:
    """`alpha (e ** x - 1)` where x is negative, else x, whatever alpha is."""
    return x.code.choose(x < 0.0, expm1(at_most(x, 0.0)) * alpha, x)


@formula("fd", takes_whole=True)
def scaled_elu(x: Value, below: Value, above: Value, inner: Value) -> Value:
    """`elu` with factors: of what is negative, of the rest, and of the exponent."""
    return x.code.choose(x < 0.0, expm1(at_most(x, 0.0) * inner) * below, x * above)


@formula("fd", in_halves=False)
def logit(x: Value) -> Value:
    """`log(x / (1 - x))`."""
    return log(x / (1.0 - x))


@formula("fd", in_halves=False)
def logit_within(x: Value, eps: Value) -> Value:
    """The same of x between eps and 1 - eps."""
    held = at_most(at_least(x, eps), 1.0 - eps)
    return log(held / (1.0 - held))


@formula("fd")
def log_sigmoid(x: Value) -> Value:
    """`-log(1 + e ** -x)`, by powers that do not overflow."""
    return at_most(x, 0.0) - log1p(exp(-x.code.absolute(x)))


# ---------------------------------------------------------------------- products with logarithms


@formula("fd")
def entr(x: Value) -> Value:
    """`-x log(x)`, 0 at 0 and minus infinity below."""
    made = -x * log(x)
    made = x.code.choose(x > 0.0, made, x.code.choose(x.equals(0.0), x.taken(0.0), -inf))
    return x.code.choose(x.is_nan(), x, made)


@formula("fd", in_halves=False)
def xlogy(x: Value, y: Value) -> Value:
    """`x log(y)`, 0 where x is 0, whatever number y is."""
    made = x.code.choose(x.equals(0.0), 0.0, x * log(y))
    return x.code.choose(y.is_nan(), y, made)


@formula("fd", in_halves=False)
def xlog1py(x: Value, y: Value) -> Value:
    """`x log(1 + y)`, 0 where x is 0, whatever number y is."""
    made = x.code.choose(x.equals(0.0), 0.0, x * log1p(y))
    return x.code.choose(y.is_nan(), y, made)
