"""Orthogonal polynomials, by their three-term recurrences: the degree is an operand as well, so a
loop goes on to the highest one of a vector, and each element stops at its own.

All is computed in the operands' own precision. Who asks sees to it that degrees can be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Final

from ..language.text import Value
from .angles import acos, cos, sin
from .arithmetic import called
from .formulas import FLOATS_ONLY, SPECIAL, formula
from .series import either

Step = Callable[[Value, Value, Value, Value], Value]
"""(k, x, value of degree k, value of degree k - 1) -> value of degree k + 1."""

_LARGEST: Final = 2.0**63
"""Degrees from here on, and NaN, count as negative."""
_MOST: Final = 2.0**18


def _recurrence(x: Value, n: Value, first: Value, step: Step) -> Value:
    """The value of degree n at x: 1 for 0, `first` for 1, 0 below."""
    code = x.code
    begin = code.choose(n.equals(0.0), x.taken(1.0), code.choose(n.equals(1.0), first, 0.0))
    result, k = code.variable(begin), code.variable(x.taken(1.0))
    last, before = code.variable(first), code.variable(x.taken(1.0))

    def is_open() -> Value:
        now = k.now
        return (n > now) & (last.now.is_nan() ^ 1) & (now < _MOST)

    with code.repeated(lambda: code.any_of(is_open())):
        now, old = k.now, last.now
        made = step(now, x, old, before.now)
        k.set(now + 1.0)
        before.set(old)
        last.set(made)
        result.set(code.choose(n.equals(now + 1.0), made, result.now))
    # which is NaN where the loop did not get to the degree
    return code.choose((n > 1.0) & last.now.is_nan() & (n > k.now), last.now, result.now)


def _by_angle(
    x: Value, n: Value, above: float, value: Callable[[], Value], at_ends: Value, first: Value
) -> Value:
    """A value inside -1..1 for degrees above a limit, `at_ends` at the ends, else the recurrence
    that begins with `first`."""
    code, size = x.code, x.code.absolute(x)
    inside, ends = (size < 1.0) & (n > above), size.equals(1.0)
    degree = code.choose(inside | ends, 0.0, n)

    def recurrence() -> Value:
        return _recurrence(x, degree, first, lambda _, x, last, before: (x + x) * last - before)

    made = either(inside, value, recurrence, x.kind)
    return code.choose(n < 0.0, 0.0, code.choose(ends, at_ends, made))


def _is_odd(n: Value) -> Value:
    half = n * 0.5
    return called("trunc", half).differs(half)


def _signed(x: Value, n: Value, even: Value, odd: Value) -> Value:
    """The first number where x is positive or the degree is even, else the second one."""
    return x.code.choose((x > 0.0) | (_is_odd(n) ^ 1), even, odd)


def _chebyshev_t(x: Value, n: Value) -> Value:
    ends = _signed(x, n, x.taken(1.0), x.taken(-1.0))
    return _by_angle(x, n, 6.0, lambda: cos(n * acos(x)), ends, x)


def _chebyshev_u(x: Value, n: Value) -> Value:
    def inner() -> Value:
        angle = acos(x)
        return sin((n + 1.0) * angle) / sin(angle)

    return _by_angle(x, n, 8.0, inner, _signed(x, n, n + 1.0, -(n + 1.0)), x + x)


def _chebyshev_v(x: Value, n: Value) -> Value:
    def inner() -> Value:
        angle = acos(x)
        return cos((n + 0.5) * angle) / cos(angle / 2.0)

    wide = n + n + 1.0
    left = x.code.choose(_is_odd(n), -wide, wide)
    ends = x.code.choose(x > 0.0, 1.0, left)
    return _by_angle(x, n, 8.0, inner, ends, x + x - 1.0)


def _chebyshev_w(x: Value, n: Value) -> Value:
    def inner() -> Value:
        angle = acos(x)
        return sin((n + 0.5) * angle) / sin(angle / 2.0)

    left = x.code.choose(_is_odd(n), x.taken(-1.0), 1.0)
    ends = x.code.choose(x > 0.0, n + n + 1.0, left)
    return _by_angle(x, n, 8.0, inner, ends, x + x + 1.0)


def _within_limit(x: Value, n: Value, first: Value, step: Step) -> Value:
    """C. Hermite's polynomials, given up where they overflow: at degree 128, in double 512."""
    limit = 128.0 if x.kind.element == "float" else 512.0
    made = _recurrence(x, x.code.choose(n > limit, 0.0, n), first, step)
    return x.code.choose(n > limit, nan, made)


def _hermite_h(x: Value, n: Value) -> Value:
    def step(k: Value, x: Value, last: Value, before: Value) -> Value:
        return (x + x) * last - (k + k) * before

    return _within_limit(x, n, x + x, step)


def _hermite_he(x: Value, n: Value) -> Value:
    return _within_limit(x, n, x, lambda k, x, last, before: x * last - k * before)


def _laguerre_l(x: Value, n: Value) -> Value:
    def step(k: Value, x: Value, last: Value, before: Value) -> Value:
        return ((k + k + 1.0 - x) * last - k * before) / (k + 1.0)

    made = _recurrence(x, n, 1.0 - x, step)
    return x.code.choose(x.equals(0.0) & (n >= 0.0), 1.0, made)


def _legendre_p(x: Value, n: Value) -> Value:
    def step(k: Value, x: Value, last: Value, before: Value) -> Value:
        return ((k + k + 1.0) * x * last - k * before) / (k + 1.0)

    made = _recurrence(x, n, x, step)
    is_end = x.code.absolute(x).equals(1.0) & (n >= 0.0)
    return x.code.choose(is_end, _signed(x, n, x.taken(1.0), x.taken(-1.0)), made)


_PLAIN: Final = {
    **{"chebyshev_polynomial_t": _chebyshev_t, "chebyshev_polynomial_u": _chebyshev_u},
    **{"chebyshev_polynomial_v": _chebyshev_v, "chebyshev_polynomial_w": _chebyshev_w},
    **{"hermite_polynomial_h": _hermite_h, "hermite_polynomial_he": _hermite_he},
    **{"laguerre_polynomial_l": _laguerre_l, "legendre_polynomial_p": _legendre_p},
}
_ZERO_AT_NAN: Final = frozenset("chebyshev_polynomial_u chebyshev_polynomial_w".split()) | {
    *("laguerre_polynomial_l", "legendre_polynomial_p")
}
"""Polynomials whose recurrence torch does not begin where x is not a number."""


def _declare(name: str, compute: Callable[[Value, Value], Value], *, shifted: bool) -> None:
    """Declare one, or the same on 0..1 in place of -1..1."""

    def polynomial(x: Value, n: Value) -> Value:
        code = x.code
        degree = code.choose(code.absolute(n) < _LARGEST, called("trunc", n), -1.0)
        made = compute(x + x - 1.0 if shifted else x, degree)
        if name in _ZERO_AT_NAN:
            made = code.choose(x.is_nan() & (degree > 1.0), 0.0, made)
        return made

    polynomial.__name__ = f"shifted_{name}" if shifted else name
    formula(FLOATS_ONLY, in_halves=False, among=SPECIAL)(polynomial)


for _name, _compute in _PLAIN.items():
    _declare(_name, _compute, shifted=False)
    if _name.startswith("chebyshev"):
        _declare(_name, _compute, shifted=True)
