"""The regularised incomplete gamma functions, by way of float64.

The ways are those of `ops/special_functions/incomplete_gamma.py`; the power series takes four terms
for a division, the continued fraction none but the last. Loops go on until the last lane of a
vector is done, and leave those alone that are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, inf, nan, pi
from typing import Final

from ..language.text import Value
from . import doubles, fitted
from .arithmetic import at_least, at_most, called
from .formulas import by_doubles, to_double, to_float
from .gammas import long_lgamma
from .series import chebyshev, either, polynomial

_ENOUGH: Final = {"float": 2.0**-31, "double": 2.0**-53}
"""Parts of a sum that do not count, by what it is rounded to in the end."""
_TERMS: Final = 3000.0
_NEAR: Final = 0.3
_UNIFORM: Final = {"float": 12, "double": 26}
_SMALL_TERMS: Final = {"float": 12, "double": 20}
_HUGE: Final = 2.0**400
_TOGETHER: Final = 4
"""Terms that are added before one looks how much they change."""


def _front(a: Value, x: Value) -> Value:
    """`x ** a * exp(-x) / gamma(a)`; near x = a with the large terms cancelled by hand."""

    def level() -> Value:
        order = at_least(a, 20.0)
        ratio, inverse = (x - order) / order, 1.0 / order
        tail = inverse * polynomial(inverse * inverse, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
        begin = doubles.natural_log(order * (0.5 / pi)) * 0.5 - tail
        return order * (doubles.log1p(ratio) - ratio) + begin

    def plain() -> Value:
        return a * doubles.natural_log(x) - x - long_lgamma(at_most(a, 20.0))

    return doubles.exp(either(a > 20.0, level, plain))


def _lower_series(a: Value, x: Value, unit: str) -> Value:
    """The lower function without its front, by its power series, for x up to about a."""
    code, enough = a.code, _ENOUGH[unit]
    first = 1.0 / a
    n, term, total = code.variable(a), code.variable(first), code.variable(first)
    fourth = x * x
    fourth = fourth * fourth
    with code.repeated(lambda: code.any_of(term.now > total.now * enough)):
        now, before, start = term.now, total.now, n.now
        q1, q2, q3, q4 = (start + float(more) for more in (1, 2, 3, 4))
        pair = q3 * q4
        part = x * (q2 * pair + x * (pair + x * (q4 + x)))
        inverse = now / (q1 * q2 * pair)
        is_open = now > before * enough
        total.set(code.choose(is_open, code.multiply_add(part, inverse, before), before))
        term.set(fourth * inverse)
        n.set(q4)
    return total.now


def _upper_fraction(a: Value, x: Value, unit: str) -> Value:
    """The upper function without its front by A. Legendre's continued fraction, for x above about
    a: numerators and denominators of its beginnings, which are made less before they are huge."""
    code, enough = a.code, 4 * _ENOUGH[unit]
    b = x + 1.0 - a
    begin = [x.taken(0.0), x.taken(1.0), x.taken(1.0), b]
    over, over_now, under, under_now = (code.variable(each) for each in begin)
    count, open_ = code.variable(x.taken(0.0)), code.variable(x.taken(1.0))
    with code.repeated(lambda: code.any_of(open_.now > 0.0)):
        top, top_now, low, low_now = over.now, over_now.now, under.now, under_now.now
        n = count.now
        for _ in range(_TOGETHER):
            n = n + 1.0
            step, level = n * (a - n), code.multiply_add(n, 2.0, b)
            top, top_now = top_now, code.multiply_add(step, top, level * top_now)
            low, low_now = low_now, code.multiply_add(step, low, level * low_now)
        count.set(n)
        change = code.absolute(top_now * low - top * low_now)
        is_done = change <= code.absolute(top_now * low) * enough
        factor = code.choose(low_now > _HUGE, low_now.taken(1 / _HUGE), 1.0)
        was_open = open_.now > 0.0
        made = (top, top_now, low, low_now)
        for known, each in zip((over, over_now, under, under_now), made, strict=True):
            known.set(code.choose(was_open, each * factor, known.now))
        open_.set(code.choose(is_done | (n > _TERMS), 0.0, open_.now))
    return over_now.now / under_now.now


def _upper_series(a: Value, x: Value, unit: str) -> Value:
    """The upper function where both arguments are small: what is left of 1 by the power series.

    As in torch, `1 + a` is rounded in the operands' dtype before its gamma function is looked at.
    """
    grown = a + 1.0
    if unit == "float":
        grown = to_double(to_float(grown))
    rounded = grown - 1.0
    logarithm = a * doubles.natural_log(x) - chebyshev("log_gamma", rounded, unit) * rounded
    total, power = x.taken(0.0), x.taken(1.0)
    for n in range(1, _SMALL_TERMS[unit], 2):
        one, other = a + float(n), a + float(n + 1)
        # (-x) ** n / n! / (a + n), two of them as one fraction
        pair = other * (-1 / factorial(n)) + one * x * (1 / factorial(n + 1))
        total = total + power * x * pair / (one * other)
        power = power * x * x
    less = doubles.expm1(logarithm)
    return -less - a * (less + 1.0) * total


def _uniform(a: Value, x: Value, unit: str, *, is_upper: bool) -> Value:
    """Either function of large arguments near each other."""
    code, count = a.code, _UNIFORM[unit]
    inverse = 1.0 / a
    mu = (x - a) * inverse
    powers = [(-1.0) ** n / n for n in range(40 if unit == "double" else 22, 1, -1)]
    excess = polynomial(mu, *powers) * mu * mu
    sign = 1.0 if is_upper else -1.0
    eta = called("sqrt", excess * 2.0)
    eta = code.call(f"llvm.copysign.{x.kind.suffix}", x.kind, [eta, mu])
    f = fitted.uniform_expansion(count + 1)
    beta = [a.taken(0.0)] * count
    beta[-1], beta[-2] = a.taken(f[count]), a.taken(f[count - 1])
    for n in range(count - 2, 0, -1):
        beta[n - 1] = code.multiply_add(beta[n + 1], inverse * (n + 1.0), a.taken(f[n]))
    total = beta[-1]
    for each in reversed(beta[:-1]):
        total = code.multiply_add(total, eta, each)
    total = total / (1.0 + beta[1] * inverse)
    rest = doubles.exp(-a * excess) / called("sqrt", a * (2 * pi)) * total
    way = eta * called("sqrt", a * 0.5)
    return doubles.erfc(way * sign) * 0.5 + rest * sign


def _incomplete(is_upper: bool) -> Callable[[Value, Value, str], Value]:
    def compute(a: Value, x: Value, unit: str) -> Value:
        code = a.code
        usable = (a > 0.0) & (x > 0.0) & (a < inf) & (x < inf)
        order, point = code.choose(usable, a, 1.0), code.choose(usable, x, 1.0)
        near = (order > 20.0) & (code.absolute(point - order) < order * _NEAR)
        small = (near ^ 1) & (point <= 1.0)
        logarithm = doubles.natural_log(at_most(point, 0.5))
        small = small & (order * -logarithm < 0.4)

        def far() -> Value:
            return _far(order, point, small, unit, is_upper=is_upper)

        def uniform() -> Value:
            held = code.choose(near, order, 30.0)
            return _uniform(held, code.choose(near, point, 30.0), unit, is_upper=is_upper)

        made = either(near, uniform, far)
        return code.choose(usable, made, _edge(a, x, is_upper=is_upper))

    return compute


def _far(order: Value, point: Value, small: Value, unit: str, *, is_upper: bool) -> Value:
    code = order.code
    left = (small ^ 1) & (point < order + 1.0)

    def plain() -> Value:
        front = _front(order, point)
        # where that is zero, so is what it is multiplied with: of any numbers
        begins, none = small | front.equals(0.0), point.taken(2.0)

        def lower() -> Value:
            is_own = left & (begins ^ 1)
            held = code.choose(is_own, order, 1.0), code.choose(is_own, point, 1.0)
            return front * _lower_series(*held, unit)

        def upper() -> Value:
            is_own = (left | begins) ^ 1
            held = code.choose(is_own, order, 1.0), code.choose(is_own, point, none)
            return front * _upper_fraction(*held, unit)

        if is_upper:
            return either(left, lambda: 1.0 - lower(), upper)
        return either(left, lower, lambda: 1.0 - upper())

    def beside_zero() -> Value:
        held = code.choose(small, order, 0.5), code.choose(small, point, 0.5)
        made = _upper_series(*held, unit)
        return made if is_upper else 1.0 - made

    return either(small, beside_zero, plain)


def _edge(a: Value, x: Value, *, is_upper: bool) -> Value:
    """What it is at the ends of its arguments; as in torch, a NaN need not show there."""
    code = a.code
    zero, one = (1.0, 0.0) if is_upper else (0.0, 1.0)
    made = code.choose(a.equals(0.0) & (x > 0.0), a.taken(one), nan)
    made = code.choose(x.equals(inf) & code.absolute(a).differs(inf), one, made)
    made = code.choose(a.equals(inf) & code.absolute(x).differs(inf), zero, made)
    made = code.choose(x.equals(0.0) & a.differs(0.0), zero, made)
    return code.choose((a < 0.0) | (x < 0.0), nan, made)


by_doubles("igamma", _incomplete(is_upper=False))
by_doubles("igammac", _incomplete(is_upper=True))
