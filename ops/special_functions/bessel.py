"""Modified and spherical Bessel functions and the Airy function, of float64 arrays.

Near zero each is a Chebyshev series, with its logarithm apart where it has one; far out it is a
decay or a wave whose slowly changing parts are series in the inverse argument.
"""

from __future__ import annotations

import math

import numpy as np

from ..memory.dtype import Doubles
from .series import series

__all__ = [
    *("airy_ai", "i0", "i0e", "i1", "i1e"),
    *("k0", "k0e", "k1", "k1e", "spherical_bessel_j0"),
]


def i0e(x: Doubles) -> Doubles:
    """`exp(-|x|) * I0(x)`."""
    size = np.abs(x)
    inverse = 1 / np.maximum(size, 8)
    tail = series("i0_tail", inverse) * np.sqrt(inverse)
    return np.where(size > 8, tail, series("i0", size))


def i1e(x: Doubles) -> Doubles:
    """`exp(-|x|) * I1(x)`."""
    size = np.abs(x)
    inverse = 1 / np.maximum(size, 8)
    tail = series("i1_tail", inverse) * np.sqrt(inverse)
    return np.copysign(np.where(size > 8, tail, series("i1", size) * size), x)


def i0(x: Doubles) -> Doubles:
    """The modified Bessel function of the first kind of order 0; NaN at infinity."""
    half = np.exp(np.abs(x) / 2)
    return i0e(x) * half * half


def i1(x: Doubles) -> Doubles:
    """The modified Bessel function of the first kind of order 1."""
    half = np.exp(np.abs(x) / 2)
    return i1e(x) * half * half


def _second_kind(order: int, x: Doubles) -> Doubles:
    """`exp(x) * K(x)`."""
    near = np.clip(x, 0, 2)
    log = np.log(near / 2)
    if order:
        inner = series("k1", near * near) / near + log * i1(near)
    else:
        inner = series("k0", near * near) - log * i0(near)
    inverse = 1 / np.maximum(x, 2)
    tail = series(f"k{order}_tail", inverse) * np.sqrt(inverse)
    result = np.where(x > 2, tail, inner * np.exp(near))
    return np.where(x > 0, result, np.where(x == 0, np.inf, np.nan))


def k0e(x: Doubles) -> Doubles:
    """`exp(x) * K0(x)`; infinite at 0, NaN below."""
    return _second_kind(0, x)


def k1e(x: Doubles) -> Doubles:
    """`exp(x) * K1(x)`; infinite at 0, NaN below."""
    return _second_kind(1, x)


def k0(x: Doubles) -> Doubles:
    """The modified Bessel function of the second kind of order 0."""
    return k0e(x) * np.exp(-x)


def k1(x: Doubles) -> Doubles:
    """The modified Bessel function of the second kind of order 1."""
    return k1e(x) * np.exp(-x)


def spherical_bessel_j0(x: Doubles) -> Doubles:
    """`sin(x) / x`, 1 at 0."""
    safe = np.where(x == 0, 1.0, x)
    result = np.where(x == 0, 1.0, np.sin(safe) / safe)
    return np.where(np.isinf(x), 0.0, result)


def airy_ai(x: Doubles) -> Doubles:
    """The Airy function Ai; NaN at infinity."""
    size = np.maximum(np.abs(x), 2)
    zeta = 2 / 3 * size * np.sqrt(size)
    inverse = 1 / zeta
    height = 1 / (math.sqrt(math.pi) * np.sqrt(np.sqrt(size)))
    decay = series("airy_tail", inverse) * np.exp(-zeta) * height / 2
    p, q = series("airy_p", inverse * inverse), series("airy_q", inverse * inverse) * inverse
    phase = zeta + math.pi / 4
    wave = height * (p * np.sin(phase) + q * np.cos(phase))
    result = np.where(x > 2, decay, np.where(x < -2, wave, series("airy", x)))
    return np.where(np.isinf(x), np.nan, result)
