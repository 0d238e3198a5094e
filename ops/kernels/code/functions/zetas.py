"""Hurwitz' zeta function, the derivatives of `digamma`, and the multivariate gamma function's
logarithm, by way of float64."""

from __future__ import annotations

from math import factorial, inf, log, nan, pi
from typing import Final

from ..language.text import Value
from . import doubles
from .arithmetic import at_most, called
from .formulas import by_doubles
from .gammas import long_lgamma, turned
from .long_powers import positive_power
from .series import polynomial

_BERNOULLI: Final = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510),
    *(43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730),
)
"""The Bernoulli numbers of even index from 2 on."""
_LEAST, _TERMS = 10.0, 9
"""Terms are added one by one up to there, and so many at least."""
_FAR: Final = 1000.0
"""As many below zero are added so."""
_FEW: Final = 6
"""Terms of the series behind them that float32 needs."""


def _power(a: Value, s: Value) -> Value:
    """`a ** -s`, where a is positive or s is whole."""
    code, size = a.code, a.code.absolute(a)
    made = positive_power(code.choose(size > 0.0, size, 1.0), -s)
    half = s * 0.5
    is_odd = called("trunc", half).differs(half)
    made = code.choose((a < 0.0) & is_odd, -made, made)
    return code.choose(size.equals(0.0), inf, made)


def _sum(s: Value, begin: Value, unit: str) -> Value:
    """The sum of `(k + begin) ** -s` (L. Euler, C. Maclaurin), where that is not far below 0."""
    code = s.code
    a, total = code.variable(begin), code.variable(s.taken(0.0))
    count = code.variable(s.taken(0.0))
    with code.repeated(lambda: code.any_of((a.now < _LEAST) | (count.now < float(_TERMS)))):
        # a lane's terms do not depend on what others need
        is_open = (a.now < _LEAST) | (count.now < float(_TERMS))
        total.set(code.choose(is_open, total.now + _power(a.now, s), total.now))
        a.set(code.choose(is_open, a.now + 1.0, a.now))
        count.set(count.now + 1.0)
    last, sums = a.now, total.now
    power = _power(last, s)
    made = sums + power * last / (s - 1.0) + power * 0.5
    inverse = 1.0 / last
    square, factor, power_left = inverse * inverse, s, power * inverse
    terms = _BERNOULLI if unit == "double" else _BERNOULLI[:_FEW]
    for index, each in enumerate(terms, 1):
        made = made + factor * power_left * (each / factorial(2 * index))
        factor = factor * (s + (2 * index - 1.0)) * (s + 2.0 * index)
        power_left = power_left * square
    # what follows adds nothing
    is_over = code.absolute(sums).equals(inf) | (power.equals(0.0) & sums.differs(0.0))
    return code.choose(is_over, sums, made)


def _zeta(x: Value, q: Value, unit: str) -> Value:
    """Infinite for x = 1 and at whole q up to 0; NaN for x below 1."""
    code = x.code
    is_whole, is_left = called("floor", q).equals(q), q <= 0.0
    pole = is_left & is_whole
    usable = (x > 1.0) & (pole ^ 1) & ((is_left & called("floor", x).differs(x)) ^ 1)
    usable = usable & (q.is_nan() ^ 1)
    s, a = code.choose(usable, x, 2.0), code.choose(usable, q, 1.0)
    far = a < -_FAR
    begin, passed = code.variable(a), code.variable(a.taken(0.0))
    with code.when(code.any_of(far), rarely=True):
        # reflected the terms below are a difference of two sums, since s is whole there
        size = code.choose(far, -a, 0.5)
        rest = size - called("floor", size)
        half = s * 0.5
        is_odd = called("trunc", half).differs(half)
        less = _sum(s, rest + 1.0, unit) - _sum(s, size + 1.0, unit)
        passed.set(code.choose(far, code.choose(is_odd, -less, less), 0.0))
        begin.set(code.choose(far, -rest, a))
    made = passed.now + _sum(s, begin.now, unit)
    pole = x.equals(1.0) | (pole & ((x < 1.0) ^ 1))
    made = code.choose(usable, made, code.choose(pole, x.taken(inf), nan))
    return code.choose(q.equals(inf) & (x > 1.0), nan, made)


# ------------------------------------------------------------------------------- its relatives

_RAISED: Final = 10
_DERIVATIVE: Final = tuple(_BERNOULLI[:9][::-1])


def _trigamma(x: Value, _unit: str) -> Value:
    """The derivative of `digamma`; infinite at whole numbers up to 0."""
    code, is_left = x.code, x < 0.5
    y = code.choose(is_left, 1.0 - x, x)
    above, below = y.taken(0.0), y.taken(1.0)  # the sum of what is passed by, as one fraction
    for _ in range(_RAISED):
        is_low, square = y < float(_RAISED), y * y
        above = code.choose(is_low, code.multiply_add(above, square, below), above)
        below = code.choose(is_low, below * square, below)
        y = code.choose(is_low, y + 1.0, y)
    inverse = 1.0 / y
    square = inverse * inverse
    series = polynomial(square, *_DERIVATIVE) * (square * inverse)
    made = (series + square * 0.5) + inverse + above / below
    sine = code.choose(is_left, turned(x)[0], 1.0)
    sine = code.choose(x.equals(-inf), nan, sine)
    return code.choose(is_left, pi * pi / (sine * sine) - made, made)


def _polygamma(x: Value, n: Value, unit: str) -> Value:
    """The derivative of `digamma` of an order from 2 on."""
    code = x.code
    factor, order = code.variable(n.taken(1.0)), code.variable(n.taken(1.0))
    most = at_most(n, 171.0)  # its factorial is beyond all numbers
    with code.repeated(lambda: code.any_of(order.now <= most)):
        factor.set(code.choose(order.now <= most, factor.now * order.now, factor.now))
        order.set(order.now + 1.0)
    half = n * 0.5
    is_even = called("trunc", half).equals(half)
    made = factor.now * _zeta(n + 1.0, x, unit)
    return code.choose(is_even, -made, made)


def _mvlgamma(x: Value, p: Value, _unit: str) -> Value:
    """The logarithm of the multivariate gamma function of dimension p: the sum of
    `lgamma(x - j / 2)` for all j below p, of which those a whole number apart follow from the first
    of them by logarithms."""
    code = x.code
    halves = called("floor", p * 0.5)
    total = code.variable(x.taken(0.0))
    for count, first in ((p - halves, x), (halves, x - 0.5)):
        made = code.choose(count > 0.0, long_lgamma(first) * count, 0.0)
        total.set(total.now + made)
        step = code.variable(x.taken(1.0))
        with code.repeated(lambda: code.any_of(step.now < count)):  # noqa: B023
            passed = doubles.natural_log(code.absolute(first - step.now))
            less = passed * (count - step.now)
            total.set(code.choose(step.now < count, total.now - less, total.now))
            step.set(step.now + 1.0)
    made = total.now + p * (p - 1.0) * (log(pi) / 4)
    return code.choose(code.absolute(x).equals(inf), inf, made)


by_doubles("zeta", _zeta)
by_doubles("trigamma", _trigamma)
by_doubles("polygamma", _polygamma, takes_whole=True)
by_doubles("mvlgamma", _mvlgamma, takes_whole=True)
