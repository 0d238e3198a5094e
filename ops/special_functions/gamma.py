"""The gamma function's relatives, of float64 arrays."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

__all__ = ["digamma", "igamma", "igammac", "lgamma", "polygamma", "zeta"]

_SHIFT: Final = 10.0
_BERNOULLI: Final = tuple(
    top / bottom
    for top, bottom in (
        *((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)),
        *((43867, 798), (-174611, 330), (854513, 138), (-236364091, 2730)),
    )
)
"""The Bernoulli numbers of even index from 2 on."""

_TERMS: Final = 3000
_EPSILON: Final = 2.0**-53


def _raised(x: Any) -> tuple[Any, Any, Any]:
    """x plus a whole number so that it is at least 10; the product and harmonic sum passed by."""
    product, total = np.ones_like(x), np.zeros_like(x)
    for _ in range(int(_SHIFT)):
        low = x < _SHIFT
        step = np.where(low, x, 1.0)
        product = product * step
        total = total + np.where(low, 1 / step, 0.0)
        x = np.where(low, x + 1, x)
    return x, product, total


def lgamma(x: Any) -> Any:
    """The logarithm of the size of the gamma function: Stirling's series, and reflection."""
    right = np.where(x < 0.5, 1 - x, x)
    y, product, _ = _raised(right)
    inverse = 1 / y
    square, term, tail = inverse * inverse, inverse, np.zeros_like(y)
    for index, bernoulli in enumerate(_BERNOULLI[:8], 1):
        tail = tail + bernoulli / (2 * index * (2 * index - 1)) * term
        term = term * square
    log = np.log(y)
    value = (y - 0.5) * log - y + 0.5 * math.log(2 * math.pi) + tail - np.log(product)
    turned = math.log(math.pi) - np.log(np.abs(_sin_pi(x))) - value
    result = np.where(x < 0.5, turned, value)
    result = np.where((x == 1) | (x == 2), 0.0, result)
    pole = (x <= 0) & (x == np.floor(x))
    return np.where(pole | np.isinf(x), np.inf, result)


def _sin_pi(x: Any) -> Any:
    return np.sin(math.pi * (x - 2 * np.round(x / 2)))


def digamma(x: Any) -> Any:
    """The derivative of `lgamma`; at 0 infinite against the sign, NaN at the other poles."""
    right = np.where(x < 0, 1 - x, x)
    y, _, total = _raised(np.where(right == 0, 1.0, right))
    square = 1 / (y * y)
    term, tail = square, np.zeros_like(y)
    for index, bernoulli in enumerate(_BERNOULLI[:8], 1):
        tail = tail + bernoulli / (2 * index) * term
        term = term * square
    value = np.log(y) - 0.5 / y - tail - total
    turned = value - math.pi / np.tan(math.pi * (x - np.round(x)))
    result = np.where(x < 0, np.where(x == np.floor(x), np.nan, turned), value)
    return np.where(x == 0, np.copysign(np.inf, -x), result)


def zeta(x: Any, q: Any) -> Any:
    """Hurwitz' zeta function, the sum of `(k + q) ** -x`, after Euler and Maclaurin.

    Infinite for x = 1 and at whole q up to 0; NaN for x below 1.
    """
    x, q = np.broadcast_arrays(x, q)
    usable = (x > 1) & ~((q <= 0) & (q == np.floor(q))) & ~((q <= 0) & (x != np.floor(x)))
    usable &= ~np.isnan(q)
    s, a = np.where(usable, x, 2.0), np.where(usable, q, 1.0)
    total = np.zeros_like(s)
    low = a < _SHIFT
    while low.any():
        total = total + np.where(low, np.power(a, -s), 0.0)
        a = np.where(low, a + 1, a)
        low = a < _SHIFT
    sums, power = total, np.power(a, -s)
    is_over = np.isinf(sums) | ((power == 0) & (sums != 0))  # what follows adds nothing
    total = total + power * a / (s - 1) + 0.5 * power
    factor, power = s, power / a
    for index, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * index) * factor * power
        factor = factor * (s + 2 * index - 1) * (s + 2 * index)
        power = power / (a * a)
    pole = (x == 1) | (~(x < 1) & (q <= 0) & (q == np.floor(q)))
    result = np.where(usable, total, np.where(pole, np.inf, np.nan))
    result = np.where(usable & is_over, sums, result)
    return np.where(np.isinf(q) & (q > 0) & (x > 1), np.nan, result)


def polygamma(n: int, x: Any) -> Any:
    """The nth derivative of `digamma`."""
    if n == 0:
        return digamma(x)
    if n == 1:
        return _trigamma(x)
    sign = 1.0 if n % 2 else -1.0
    return sign * math.gamma(n + 1) * zeta(np.float64(n + 1), x)


def _trigamma(x: Any) -> Any:
    right = np.where(x < 0.5, 1 - x, x)
    value = zeta(np.float64(2), right)
    sine = np.sin(math.pi * x)
    return np.where(x < 0.5, math.pi**2 / (sine * sine) - value, value)


# --------------------------------------------------------------------------- incomplete


def _lower_series(a: Any, x: Any) -> Any:
    """The lower function by its power series, for x up to about a."""
    term = total = 1 / a
    n = a
    for _ in range(_TERMS):
        n = n + 1
        term = term * x / n
        total = total + term
        if not (np.abs(term) > _EPSILON * np.abs(total)).any():
            break
    return total * _front(a, x)


def _front(a: Any, x: Any) -> Any:
    """`x ** a * exp(-x) / gamma(a)`; near x = a with the large terms cancelled by hand."""
    ratio = (x - a) / a
    plain = a * np.log(x) - x - lgamma(a)
    stirling = a + 1 / 12 / a - 1 / 360 / a**3 + 1 / 1260 / a**5 - 1 / 1680 / a**7
    level = a * (np.log1p(ratio) - ratio) + 0.5 * np.log(a / (2 * math.pi)) - (stirling - a)
    return np.exp(np.where(a > 20, level, plain))


def _upper_fraction(a: Any, x: Any) -> Any:
    """The upper function by Legendre's continued fraction (Lentz), for x above about a."""
    tiny = 1e-300
    b = x + 1 - a
    c = np.full_like(x, 1 / tiny)
    d = 1 / np.where(b == 0, tiny, b)
    value = d
    for index in range(1, _TERMS):
        step = -index * (index - a)
        b = b + 2
        d = step * d + b
        d = 1 / np.where(np.abs(d) < tiny, tiny, d)
        c = b + step / c
        c = np.where(np.abs(c) < tiny, tiny, c)
        change = c * d
        value = value * change
        if not (np.abs(change - 1) > 4 * _EPSILON).any():
            break
    return value * _front(a, x)


def _incomplete(a: Any, x: Any) -> tuple[Any, Any]:
    """The regularised lower and upper incomplete gamma functions."""
    a, x = np.broadcast_arrays(a, x)
    usable = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    order, point = np.where(usable, a, 1.0), np.where(usable, x, 1.0)
    left = point < order + 1
    lower = _lower_series(np.where(left, order, 1.0), np.where(left, point, 1.0))
    upper = _upper_fraction(np.where(left, 1.0, order), np.where(left, 2.0, point))
    below = np.where(left, lower, 1 - upper)
    above = np.where(left, 1 - lower, upper)
    edge = np.where((a == 0) & (x > 0), 1.0, np.nan)
    edge = np.where(np.isinf(x) & ~np.isinf(a), 1.0, edge)
    edge = np.where(np.isinf(a) & ~np.isinf(x), 0.0, edge)
    edge = np.where((x == 0) & (a != 0), 0.0, edge)
    edge = np.where((a < 0) | (x < 0), np.nan, edge)
    return np.where(usable, below, edge), np.where(usable, above, 1 - edge)


def igamma(a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function."""
    return _incomplete(a, x)[0]


def igammac(a: Any, x: Any) -> Any:
    """The regularised upper incomplete gamma function."""
    return _incomplete(a, x)[1]
