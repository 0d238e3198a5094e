"""How draws of the gamma and beta laws move with their parameters, by way of float64.

A draw x with P(X <= x; a) held fixed moves by -(dP/da) / f, f the density (Figurnov, Mohamed and
Mnih, arXiv:1805.08498).  The front that power series and continued fraction of P are multiplied
with is x f, or x f / a, so that what is left are these, their derivatives, which are computed along
with them, and the front's logarithmic derivative, `log(x) - digamma`.
"""

from __future__ import annotations

from math import nan
from typing import Final

from ..language.text import Value
from . import doubles
from .formulas import by_doubles
from .gammas import long_digamma
from .series import either

_ENOUGH: Final = {"float": 2.0**-30, "double": 2.0**-52}
"""Parts of a sum that do not count, by what it is rounded to in the end."""
_TERMS: Final = 3000.0
_MOST: Final = 1e6
_HUGE: Final = 2.0**300
_TOGETHER: Final = 4
"""Steps of the fraction that are made before one looks how much they change."""


def _by_series(a: Value, x: Value, unit: str) -> Value:
    """For x up to about a: the sum of `x ** n / ((a + 1) ... (a + n))`, whose terms move by the
    sum of `-1 / (a + k)`."""
    code, enough = a.code, _ENOUGH[unit]
    zero, one = x.taken(0.0), x.taken(1.0)
    n, term, passed = code.variable(a), code.variable(one), code.variable(zero)
    total, moved = code.variable(one), code.variable(zero)

    def is_open() -> Value:
        # terms of both sums fall in the end
        return (term.now * (passed.now + 1.0) > total.now * enough) & (n.now < _TERMS)

    with code.repeated(lambda: code.any_of(is_open())):
        going = is_open()
        now = n.now + 1.0
        inverse = 1.0 / now
        part, less = term.now * x * inverse, passed.now + inverse
        total.set(code.choose(going, total.now + part, total.now))
        moved.set(code.choose(going, moved.now - part * less, moved.now))
        n.set(code.choose(going, now, n.now))
        term.set(code.choose(going, part, term.now))
        passed.set(code.choose(going, less, passed.now))
    slope = doubles.natural_log(x) - long_digamma(a + 1.0)
    return -(x / a) * code.multiply_add(slope, total.now, moved.now)


def _by_fraction(a: Value, x: Value, unit: str) -> Value:
    """For x above about a: A. Legendre's continued fraction, of whose beginnings numerators and
    denominators are made with their derivatives."""
    code, enough = a.code, _ENOUGH[unit]
    b, zero, one = x + 1.0 - a, x.taken(0.0), x.taken(1.0)
    # each pair of the last two: numerators, denominators, and the derivatives of both
    begin = [zero, one, one, b, zero, zero, zero, -one]
    known = [code.variable(each) for each in begin]
    count, going = code.variable(zero), code.variable(one)
    value, moved = code.variable(1.0 / b), code.variable(zero)
    with code.repeated(lambda: code.any_of(going.now > 0.0)):
        over, over_now, under, under_now, up, up_now, down, down_now = (each.now for each in known)
        n, was_going = count.now, going.now > 0.0
        for _ in range(_TOGETHER):
            n = n + 1.0
            step, level = n * (a - n), code.multiply_add(n, 2.0, b)
            up, up_now = up_now, (level * up_now - over_now) + (step * up + n * over)
            down, down_now = down_now, (level * down_now - under_now) + (step * down + n * under)
            over, over_now = over_now, code.multiply_add(step, over, level * over_now)
            under, under_now = under_now, code.multiply_add(step, under, level * under_now)
        made = over_now / under_now
        change = (up_now - made * down_now) / under_now
        apart = code.absolute(change - moved.now) + code.absolute(made - value.now)
        least = (code.absolute(change) + code.absolute(made)) * (4.0 * enough)
        is_done = (apart <= least) | (n > _TERMS)
        factor = code.choose(under_now > _HUGE, one * (1 / _HUGE), 1.0)
        last = (over, over_now, under, under_now, up, up_now, down, down_now)
        for each, new in zip(known, last, strict=True):
            each.set(code.choose(was_going, new * factor, each.now))
        value.set(code.choose(was_going, made, value.now))
        moved.set(code.choose(was_going, change, moved.now))
        going.set(code.choose(is_done, 0.0, going.now))
        count.set(n)
    slope = doubles.natural_log(x) - long_digamma(a)
    return x * code.multiply_add(slope, value.now, moved.now)


def _slope(a: Value, x: Value, unit: str) -> Value:
    """The derivative of a draw x of concentration a, neither of which is large."""
    code = a.code
    usable = (a > 0.0) & (x > 0.0) & (a < _TERMS) & (x < _MOST)
    left = x < a + 1.0

    def lower() -> Value:
        own = usable & left
        return _by_series(code.choose(own, a, 1.0), code.choose(own, x, 1.0), unit)

    def upper() -> Value:
        own = usable & (left ^ 1)
        return _by_fraction(code.choose(own, a, 1.0), code.choose(own, x, 3.0), unit)

    made = code.choose(usable, either(left, lower, upper), nan)
    return code.choose(x.equals(0.0) & (a > 0.0), 0.0, made)


def _beta_slope(x: Value, a: Value, b: Value, unit: str) -> Value:
    """The derivative of a draw x of parameters a and b by a, divided by 1 - x; neither is large.

    Of the two shares the lesser one z, of parameter p, has the sum of products of
    `z (a + b + k) / (p + 1 + k)`, which a front is multiplied with as above.
    """
    code, enough = x.code, _ENOUGH[unit]
    usable = (a > 0.0) & (b > 0.0) & (a + b < _TERMS) & (x > 0.0) & (x < 1.0)
    x, a, b = (code.choose(usable, each, other) for each, other in ((x, 0.5), (a, 1.0), (b, 1.0)))
    is_low, both = x < 0.5, a + b
    share, own = code.choose(is_low, x, 1.0 - x), code.choose(is_low, a, b)
    moves = code.choose(is_low, x.taken(1.0), 0.0)
    zero, one = x.taken(0.0), x.taken(1.0)
    n, term, passed = code.variable(zero), code.variable(one), code.variable(zero)
    total, moved = code.variable(one), code.variable(zero)

    def is_open() -> Value:
        size = term.now * (code.absolute(passed.now) + 1.0)
        return (size > total.now * enough) & (n.now < 3.0 * _TERMS)

    with code.repeated(lambda: code.any_of(is_open())):
        going, now = is_open(), n.now
        above, below = both + now, own + 1.0 + now
        part = term.now * share * (above / below)
        less = passed.now + (1.0 / above - moves / below)
        total.set(code.choose(going, total.now + part, total.now))
        moved.set(code.choose(going, code.multiply_add(part, less, moved.now), moved.now))
        term.set(code.choose(going, part, term.now))
        passed.set(code.choose(going, less, passed.now))
        n.set(now + 1.0)
    slope = doubles.natural_log(x) + long_digamma(both) - long_digamma(a + moves)
    made = code.multiply_add(slope, total.now, moved.now) * (x / own)
    return code.choose(usable, code.choose(is_low, -made, made), nan)


by_doubles("gamma_slope", _slope)
by_doubles("beta_slope", _beta_slope)
