"""The Bessel functions of orders 0 and 1 as torch computes them, on float64 arrays.

Up to 5 each is a rational function of the square, about its zeros; farther out it is a wave whose
slowly changing parts are rational functions of the inverse square.  The coefficients are those of
S. L. Moshier's Cephes library (j0.c, j1.c).  Several denominators there begin with x**n; torch
leaves that term out, which costs it up to seven digits near 5, and so it is left out here.
"""

from __future__ import annotations

import numpy as np

from ..kernels.code.functions.fitted import polynomials
from ..memory.dtype import Doubles

__all__ = ["j0", "j1", "y0", "y1"]

_SCALE = 0.7978845608028654  # the square root of 2 / pi


def _polynomial(name: str, x: Doubles) -> Doubles:
    """The value of a polynomial, the highest power's coefficient first."""
    first, *rest = polynomials()[name]
    total = np.full_like(x, first)
    for coefficient in rest:
        total = total * x + coefficient
    return total


def _ratio(order: int, above: str, below: str, x: Doubles) -> Doubles:
    return _polynomial(f"j{order}_{above}", x) / _polynomial(f"j{order}_{below}", x)


def _waves(order: int, x: Doubles) -> tuple[Doubles, Doubles]:
    """Both waves from 5 on: the function of the first and of the second kind."""
    inverse = 5 / x
    square = inverse * inverse
    even, odd = _ratio(order, "pp", "pq", square), _ratio(order, "qp", "qq", square) * inverse
    angle = x - np.pi * (0.25 if order == 0 else 0.75)
    sine, cosine = np.sin(angle), np.cos(angle)
    scale = _SCALE / np.sqrt(x)
    return (even * cosine - odd * sine) * scale, (even * sine + odd * cosine) * scale


def j0(x: Doubles) -> Doubles:
    """The Bessel function of the first kind of order 0."""
    x = np.abs(x)
    square = np.minimum(x, 5) ** 2
    zeros = (square - 5.78318596294678452118) * (square - 30.4712623436620863991)
    near = np.where(x < 1e-5, 1 - x * x / 4, zeros * _ratio(0, "rp", "rq", square))
    return np.where(x <= 5, near, _waves(0, np.maximum(x, 5))[0])


def j1(x: Doubles) -> Doubles:
    """The Bessel function of the first kind of order 1."""
    size = np.abs(x)
    held = np.minimum(size, 5)
    square = held * held
    zeros = (square - 14.6819706421238932572) * (square - 49.2184563216946036703)
    near = _ratio(1, "rp", "rq", square) * held * zeros
    result = np.where(size <= 5, near, _waves(1, np.maximum(size, 5))[0])
    return np.where(x < 0, -result, result)


def _second_kind(x: Doubles, near: Doubles, order: int) -> Doubles:
    result = np.where(x <= 5, near, _waves(order, np.maximum(x, 5))[1])
    return np.where(x > 0, result, np.where(x == 0, -np.inf, np.nan))


def y0(x: Doubles) -> Doubles:
    """The Bessel function of the second kind of order 0; NaN below zero."""
    held = np.clip(x, 1e-300, 5)
    near = _ratio(0, "yp", "yq", held * held) + 2 / np.pi * np.log(held) * j0(held)
    return _second_kind(x, near, 0)


def y1(x: Doubles) -> Doubles:
    """The Bessel function of the second kind of order 1; NaN below zero."""
    held = np.clip(x, 1e-300, 5)
    near = held * _ratio(1, "yp", "yq", held * held)
    near = near + 2 / np.pi * (j1(held) * np.log(held) - 1 / held)
    return _second_kind(x, near, 1)
