"""Transcendental functions of float32, in float32, written so that loops over them vectorise.

Errors are at most a few units in the last place; infinities and NaN give what they should.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bits import bits_of, float_of
from .compile import inlined

__all__ = ["erf32", "exp32", "sigmoid32", "tanh32"]

F = np.float32
_LOG2E = F(1.4426950408889634)
_LN2_HIGH = F(0.693359375)
_LN2_LOW = F(-2.12194440e-4)
_ROUND = F(12582912.0)  # 1.5 * 2**23: adding it rounds to a whole number
_SIGN = np.int32(-2147483648)
_BIAS, _PLACES = np.int32(127), np.int32(23)
_ROUND_BITS = np.int32(0x4B400000)
_E0, _E1, _E2 = F(1.9875691500e-4), F(1.3981999507e-3), F(8.3334519073e-3)
_E3, _E4, _E5 = F(4.1665795894e-2), F(1.6666665459e-1), F(5.0000001201e-1)
_TOP, _BOTTOM = F(89.0), F(-104.0)
_ONE, _HALF, _TWO = F(1), F(0.5), F(2)


@inlined
def exp32(x: Any) -> Any:
    """`e ** x`; denormal results are right to within a unit."""
    # written so that NaN stays: both comparisons are false for it
    y = _TOP if x > _TOP else x
    y = _BOTTOM if y < _BOTTOM else y
    shifted = y * _LOG2E + _ROUND
    n = shifted - _ROUND
    r = (y - n * _LN2_HIGH) - n * _LN2_LOW
    p = _E0 * r + _E1
    p = p * r + _E2
    p = p * r + _E3
    p = p * r + _E4
    p = p * r + _E5
    p = p * (r * r) + r + _ONE
    # 2**n in two factors, each of which is a normal number
    whole = np.int32(bits_of(shifted) - _ROUND_BITS)
    half = np.int32(whole >> np.int32(1))
    rest = np.int32(whole - half)
    a = float_of(np.int32(np.int32(half + _BIAS) << _PLACES))
    b = float_of(np.int32(np.int32(rest + _BIAS) << _PLACES))
    return p * a * b


@inlined
def sigmoid32(x: Any) -> Any:
    """`1 / (1 + e ** -x)`."""
    return _ONE / (_ONE + exp32(-x))


_T0, _T1, _T2 = F(-5.70498872745e-3), F(2.06390887954e-2), F(-5.37397155531e-2)
_T3, _T4 = F(1.33314422036e-1), F(-3.33332819422e-1)
_NEAR = F(0.625)


@inlined
def tanh32(x: Any) -> Any:
    """The hyperbolic tangent: a polynomial near zero, by `exp` elsewhere."""
    z = x * x
    p = _T0 * z + _T1
    p = p * z + _T2
    p = p * z + _T3
    p = p * z + _T4
    size = abs(x)
    far = _ONE - _TWO / (exp32(size + size) + _ONE)
    result = p * z * size + size if size < _NEAR else far
    return float_of(np.int32(bits_of(result) | np.int32(bits_of(x) & _SIGN)))


_A0, _A1, _A2 = F(2.045965175057063e-06), F(0.00028483616188168526), F(0.0037724715657532215)
_A3, _A4, _A5 = F(0.05276905372738838), F(0.1905926913022995), F(1.1283791065216064)
_B0, _B1, _B2 = F(3.804673906415701e-05), F(0.0011638278374448419), F(0.01498305145651102)
_B3, _B4 = F(0.11418218910694122), F(0.5022410750389099)
_LIMIT = F(3.925)


@inlined
def erf32(x: Any) -> Any:
    """The error function: the rational function of `ops.error_functions`."""
    y = _LIMIT if x > _LIMIT else x
    y = -_LIMIT if y < -_LIMIT else y
    z = y * y
    top = _A0 * z + _A1
    top = top * z + _A2
    top = top * z + _A3
    top = top * z + _A4
    top = top * z + _A5
    low = _B0 * z + _B1
    low = low * z + _B2
    low = low * z + _B3
    low = low * z + _B4
    low = low * z + _ONE
    result = y * top / low
    result = _ONE if result > _ONE else result
    return -_ONE if result < -_ONE else result
