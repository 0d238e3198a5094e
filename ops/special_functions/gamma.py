"""The gamma function's relatives, of float64 arrays."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..memory.dtype import Array, Doubles

__all__ = ["digamma", "lgamma", "multigamma", "polygamma", "zeta"]

_SHIFT: Final = 10.0
_TERMS: Final = 9
"""Terms of zeta that are added one by one at least."""
_BERNOULLI: Final = tuple(
    top / bottom
    for top, bottom in (
        *((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)),
        *((43867, 798), (-174611, 330), (854513, 138), (-236364091, 2730)),
    )
)
"""The Bernoulli numbers of even index from 2 on."""

_BLOCK: Final = 1 << 15
"""Logarithms that are taken at once."""

_FAR: Final = 1000.0
"""Terms that are added one by one."""


def _raised(x: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """x plus a whole number so that it is at least 10; the product and harmonic sum passed by."""
    product, total = np.ones_like(x), np.zeros_like(x)
    for _ in range(int(_SHIFT)):
        low = x < _SHIFT
        step = np.where(low, x, 1.0)
        product = product * step
        total = total + np.where(low, 1 / step, 0.0)
        x = np.where(low, x + 1, x)
    return x, product, total


def lgamma(x: Doubles) -> Doubles:
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


def multigamma(x: Doubles, p: int) -> Doubles:
    """The logarithm of the multivariate gamma function of dimension p.

    Its terms are `lgamma(x - j / 2)` for all j below p.  Those a whole number apart follow from the
    first of them by logarithms, of which only some are held at a time.
    """
    with np.errstate(all="ignore"):
        total = _falling(x, (p + 1) // 2) + _falling(x - 0.5, p // 2)
    return np.where(np.isinf(x), np.inf, total + p * (p - 1) / 4 * math.log(math.pi))


def _falling(x: Doubles, count: int) -> Doubles:
    """The sum of `lgamma(x - k)` for all k below the count."""
    if not count:
        return np.zeros_like(x)
    total, each = count * lgamma(x), max(_BLOCK // max(x.size, 1), 1)
    for start in range(1, count, each):
        steps = np.arange(start, min(start + each, count), dtype=np.float64)
        passed = np.log(np.abs(np.asarray(x)[..., None] - steps))
        total = total - ((count - steps) * passed).sum(-1)
    return total


def _sin_pi(x: Doubles) -> Doubles:
    return np.sin(math.pi * (x - 2 * np.round(x / 2)))


def digamma(x: Doubles) -> Doubles:
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


def _passed_by(s: Array, a: Array, far: Array) -> tuple[Array, Array]:
    """The terms below -1 where `a` is far below, and where the sum goes on: reflected they are a
    difference of two sums that begin above 0, since `s` is whole there."""
    rest = np.where(far, -a - np.floor(-a), 0.5)
    sign = np.where(np.fmod(s, 2) == 0, 1.0, -1.0)
    passed = zeta(s, 1 + rest) - zeta(s, np.where(far, 1 - a, 1.5))
    return np.where(far, sign * passed, 0.0), np.where(far, -rest, a)


def zeta(x: Doubles, q: Doubles) -> Doubles:
    """Hurwitz' zeta function, the sum of `(k + q) ** -x`, after Euler and Maclaurin.

    Infinite for x = 1 and at whole q up to 0; NaN for x below 1.
    """
    x, q = np.broadcast_arrays(x, q)
    usable = (x > 1) & ~((q <= 0) & (q == np.floor(q))) & ~((q <= 0) & (x != np.floor(x)))
    usable &= ~np.isnan(q)
    s, a = np.where(usable, x, 2.0), np.where(usable, q, 1.0)
    total = np.zeros_like(s)
    far = a < -_FAR
    if far.any():
        total, a = _passed_by(s, a, far)
    count, low = 0, a < _SHIFT
    while count < _TERMS or low.any():
        low = low | (count < _TERMS)
        total = total + np.where(low, np.power(a, -s), 0.0)
        a = np.where(low, a + 1, a)
        count, low = count + 1, a < _SHIFT
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


def polygamma(n: int, x: Doubles) -> Doubles:
    """The nth derivative of `digamma`."""
    if n == 0:
        return digamma(x)
    if n == 1:
        return _trigamma(x)
    sign = 1.0 if n % 2 else -1.0
    return sign * (math.gamma(n + 1) if n <= 170 else math.inf) * zeta(np.float64(n + 1), x)


def _trigamma(x: Doubles) -> Doubles:
    right = np.where(x < 0.5, 1 - x, x)
    value = zeta(np.float64(2), right)
    sine = np.sin(math.pi * x)
    return np.where(x < 0.5, math.pi**2 / (sine * sine) - value, value)
