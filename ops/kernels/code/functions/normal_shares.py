"""The normal distribution's share below a number, its logarithm and its inverse, and what the
complement of the error function is without its decay."""

from __future__ import annotations

from math import inf, nan, pi, sqrt
from typing import Final

from ..language.text import Value
from . import doubles
from .arithmetic import at_least, at_most, called
from .formulas import SPECIAL, by_doubles, formula, to_double, to_float
from .series import chebyshev, either, polynomial, with_sign

_ROOT: Final = sqrt(0.5)


def _right_erfcx(size: Value, unit: str) -> Value:
    """`exp(x * x) * erfc(x)` from 0 on."""

    def far() -> Value:
        inverse = 1.0 / at_least(size, 100.0)
        steps = inverse * inverse
        inner = 1.0 - steps * (0.5 - steps * (0.75 - steps * 1.875))
        return inverse * inner * (1 / sqrt(pi))

    return either(size > 100.0, far, lambda: chebyshev("erfcx", 4.0 / (size + 4.0), unit))


def _erfcx(x: Value, unit: str) -> Value:
    code = x.code
    right = _right_erfcx(code.absolute(x), unit)

    def left() -> Value:
        held = at_least(x, -30.0)
        square = held * held
        lost = code.multiply_add(held, held, -square)
        power = doubles.exp(square)
        power = power * 2.0 + code.choose(power < inf, power * 2.0 * lost, 0.0)
        return power - right

    made = either(x < 0.0, left, lambda: right)
    return code.choose(x.is_nan(), x, made)


def _ndtr(x: Value, _: str) -> Value:
    """The share of the normal distribution below a number."""
    return doubles.erfc(x * -_ROOT) * 0.5


def _log_ndtr(x: Value, unit: str) -> Value:
    def left() -> Value:
        held = at_most(x, 0.0)
        rest = doubles.natural_log(_right_erfcx(held * -_ROOT, unit) * 0.5)
        return x.code.choose(x.equals(-inf), x, rest - held * held * 0.5)

    def right() -> Value:
        return doubles.log1p(doubles.erfc(at_least(x, -1.0) * _ROOT) * -0.5)

    return either(x < -1.0, left, right)


def _quantile(from_middle: Value, tail: Value, unit: str) -> Value:
    """Where the normal distribution's share below is `1 / 2 + from_middle`; the `tail` is what is
    less on the nearer side, 0 at the ends and negative beyond."""
    code = from_middle.code
    size = code.absolute(from_middle)

    def outer() -> Value:
        level = called("sqrt", -doubles.natural_log(at_least(tail, 5e-324)))
        ratio = either(
            level > 5.0,
            lambda: chebyshev("quantile_far", 1.0 / at_least(level, 5.0), unit),
            lambda: chebyshev("quantile_tail", level, unit),
        )
        made = code.choose(tail.equals(0.0), inf, code.choose(tail < 0.0, nan, level * ratio))
        return with_sign(made, from_middle)

    def inner() -> Value:
        return from_middle * chebyshev("quantile", size * size, unit)

    return either(size > 0.425, outer, inner)


def _ndtri(p: Value, unit: str) -> Value:
    """The inverse of `ndtr`."""
    from_middle = p - 0.5
    return _quantile(from_middle, p.code.choose(p > 0.5, 1.0 - p, p), unit)


_CENTRE: Final = (
    *(-1.976789695627931e-11, 1.2359563027184245e-10, 8.062062197277288e-10),
    *(-1.0863845453745598e-08, 1.3874312524344226e-08, 4.787017089472164e-07),
    *(-3.41769452187571e-06, -4.996029874118223e-06, 0.0002182514751339356),
    *(-0.0012527079276452439, -0.00417731823787498, 0.24664027674025882, 1.5014093511463882),
)
_OUTER: Final = (
    *(-3.84011465275973e-06, -2.3631072510222142e-05, 0.00016562234745368627),
    *(-0.0002870337229690604, -0.00012236031195516142, 0.0014806533691505475),
    *(-0.00356660487564642, 0.005686357818065738, -0.007642826149801669),
    *(0.009445417677813994, 1.001675240488825, 2.832976799923927),
)


def _long_erfinv(x: Value) -> Value:
    half = x * 0.5
    return _quantile(half, 0.5 - x.code.absolute(half), "double") * _ROOT


@formula(double=_long_erfinv, among=SPECIAL)
def erfinv(x: Value) -> Value:
    """The number whose error function it is; infinite at -1 and 1, NaN beyond."""
    code, wide = x.code, to_double(x)
    size = code.absolute(wide)
    level = -doubles.natural_log((1.0 - size) * (size + 1.0))
    root = called("sqrt", at_least(at_most(level, 20.0), 5.0))
    held = at_most(level, 5.0)
    near = polynomial(held - 2.5, *_CENTRE)
    made = code.choose(level < 5.0, near, polynomial(root - 3.0, *_OUTER)) * wide
    made = code.choose(size.equals(1.0), with_sign(made.taken(inf), wide), made)
    return to_float(code.choose(size > 1.0, nan, made))


by_doubles("erfcx", _erfcx)
by_doubles("ndtr", _ndtr)
by_doubles("log_ndtr", _log_ndtr)
by_doubles("ndtri", _ndtri)
