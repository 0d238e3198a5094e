"""The regularised incomplete gamma functions, of float64 arrays.

Power series (DLMF 8.7.1, 8.7.3), Legendre's continued fraction (DLMF 8.9.2), and Temme's uniform
expansion where both arguments are large and near each other (Gil, Segura and Temme, "Efficient and
accurate algorithms for the computation and inversion of the incomplete gamma function ratios",
SIAM J. Sci. Comput. 34, 2012, section 2.5).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..kernels.code.functions.fitted import uniform_expansion
from ..memory.dtype import Doubles
from .error_functions import erfc
from .gamma import lgamma
from .series import series

__all__ = ["igamma", "igammac"]

_TERMS: Final = 3000
_EPSILON: Final = 2.0**-53
_NEAR: Final = 0.3
_UNIFORM: Final = 26


# --------------------------------------------------------------------------- series and fraction


def _lower_series(a: Doubles, x: Doubles) -> Doubles:
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


def _front(a: Doubles, x: Doubles) -> Doubles:
    """`x ** a * exp(-x) / gamma(a)`; near x = a with the large terms cancelled by hand."""
    ratio = (x - a) / a
    plain = a * np.log(x) - x - lgamma(a)
    tail = 1 / 12 / a - 1 / 360 / a**3 + 1 / 1260 / a**5 - 1 / 1680 / a**7
    level = a * (np.log1p(ratio) - ratio) + 0.5 * np.log(a / (2 * math.pi)) - tail
    return np.exp(np.where(a > 20, level, plain))


def _upper_fraction(a: Doubles, x: Doubles) -> Doubles:
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


def _upper_series(a: Doubles, x: Doubles, unit: type[np.floating]) -> Doubles:
    """The upper function where both arguments are small: what is left of 1 by the power series.

    As in torch, `1 + a` is rounded in the dtype `unit` before its gamma function is looked at.
    """
    rounded = (1 + a.astype(unit)).astype(np.float64) - 1
    log = a * np.log(x) - series("log_gamma", rounded) * rounded
    term, total = np.ones_like(x), np.zeros_like(x)
    for n in range(1, 60):
        term = term * -x / n
        total = total + term / (a + n)
    left: Doubles = -np.expm1(log) - a * np.exp(log) * total
    return left


# --------------------------------------------------------------------------- near each other


def _excess(mu: Doubles) -> Doubles:
    """`mu - log(1 + mu)` of small numbers, by its power series."""
    total = np.zeros_like(mu)
    for n in range(40, 1, -1):
        total = total * -mu + 1 / n
    return total * mu * mu


def _uniform(a: Doubles, x: Doubles) -> tuple[Doubles, Doubles]:
    """The lower and the upper function of large arguments near each other."""
    mu = (x - a) / a
    excess = _excess(mu)
    eta = np.copysign(np.sqrt(2 * excess), mu)
    f = uniform_expansion(_UNIFORM + 1)
    beta = [np.zeros_like(a)] * _UNIFORM
    beta[-1], beta[-2] = beta[-1] + f[_UNIFORM], beta[-2] + f[_UNIFORM - 1]
    for n in range(_UNIFORM - 2, 0, -1):
        beta[n - 1] = f[n] + (n + 1) * beta[n + 1] / a
    total = np.zeros_like(a)
    for each in reversed(beta):
        total = total * eta + each
    total = total / (1 + beta[1] / a)
    rest = np.exp(-a * excess) / np.sqrt(2 * math.pi * a) * total
    way = eta * np.sqrt(a / 2)
    return 0.5 * erfc(-way) - rest, 0.5 * erfc(way) + rest


# --------------------------------------------------------------------------- both


def _incomplete(a: Doubles, x: Doubles, unit: type[np.floating]) -> tuple[Doubles, Doubles]:
    """The regularised lower and upper incomplete gamma functions."""
    a, x = np.broadcast_arrays(a, x)
    usable = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    order, point = np.where(usable, a, 1.0), np.where(usable, x, 1.0)
    near = (order > 20) & (np.abs(point - order) < _NEAR * order)
    small = ~near & (point <= 1) & (order * -np.log(np.minimum(point, 0.5)) < 0.4)
    left = ~near & ~small & (point < order + 1)
    right = ~(near | small | left)
    below, above = np.empty(order.shape), np.empty(order.shape)
    if near.any():
        below[near], above[near] = _uniform(order[near], point[near])
    if left.any():
        below[left] = _lower_series(order[left], point[left])
        above[left] = 1 - below[left]
    if right.any():
        above[right] = _upper_fraction(order[right], point[right])
        below[right] = 1 - above[right]
    if small.any():
        above[small] = _upper_series(order[small], point[small], unit)
        below[small] = 1 - above[small]
    edge = np.where((a == 0) & (x > 0), 1.0, np.nan)
    edge = np.where(np.isinf(x) & ~np.isinf(a), 1.0, edge)
    edge = np.where(np.isinf(a) & ~np.isinf(x), 0.0, edge)
    edge = np.where((x == 0) & (a != 0), 0.0, edge)
    edge = np.where((a < 0) | (x < 0), np.nan, edge)
    return np.where(usable, below, edge), np.where(usable, above, 1 - edge)


def igamma(a: Doubles, x: Doubles, unit: type[np.floating] = np.float64) -> Doubles:
    """The regularised lower incomplete gamma function; `unit` is the dtype torch computes in."""
    return _incomplete(a, x, unit)[0]


def igammac(a: Doubles, x: Doubles, unit: type[np.floating] = np.float64) -> Doubles:
    """The regularised upper incomplete gamma function; `unit` is the dtype torch computes in."""
    return _incomplete(a, x, unit)[1]
