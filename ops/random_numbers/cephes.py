"""Logarithm, sine and cosine of float32 numbers by Cephes' polynomials (logf, sinf, cosf by Stephen
Moshier), with the products and sums fused that torch's AVX2 build fuses."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..arithmetic.fused import fused_float
from ..memory.dtype import Array

__all__ = ["log", "sine_and_cosine"]

F: Final = np.float32
_LOG: Final = (
    *(-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)


def log(x: Array) -> Array:
    """The natural logarithm of normal float32 numbers, by Cephes' logf."""
    x = np.maximum(x, F(1.17549435e-38))
    bits = x.view(np.int32)
    exponent = ((bits >> 23) - 127).astype(F) + F(1)
    mantissa = ((bits & ~0x7F800000) | 0x3F000000).astype(np.int32).view(F)
    low = mantissa < F(0.707106781186547524)
    x = (mantissa - F(1)) + np.where(low, mantissa, F(0))
    exponent = exponent - low.astype(F)
    square = x * x
    y = np.full_like(x, F(7.0376836292e-2))
    for c in _LOG:
        y = fused_float(y, x, F(c))
    y = fused_float(y * x, square, exponent * F(-2.12194440e-4))
    y = fused_float(-square, F(0.5), y)
    return fused_float(exponent, F(0.693359375), x + y)


def sine_and_cosine(x: Array) -> tuple[Array, Array]:
    """Sine and cosine of float32 numbers in [0, 2 pi), by Cephes' sinf and cosf."""
    octant = ((x * F(1.27323954473516)).astype(np.int32) + 1) & ~1
    y = octant.astype(F)
    for c in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8):
        x = fused_float(y, F(c), x)
    z = x * x
    cosine = fused_float(np.full_like(z, F(2.443315711809948e-5)), z, F(-1.388731625493765e-3))
    cosine = fused_float(cosine, z, F(4.166664568298827e-2))
    cosine = fused_float(cosine * z, z, -(z * F(0.5))) + F(1)
    sine = fused_float(np.full_like(z, F(-1.9515295891e-4)), z, F(8.3321608736e-3))
    sine = fused_float(sine, z, F(-1.6666654611e-1))
    sine = fused_float(sine * z, x, x)
    straight = (octant & 2) == 0
    upper, across = np.where(straight, sine, cosine), np.where(straight, cosine, sine)
    sine = np.where(octant & 4, -upper, upper).astype(F)
    return sine, np.where((octant - 2) & 4, across, -across).astype(F)
