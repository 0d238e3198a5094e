"""The error function, its complement and its inverse, vectorised.

Double precision follows W. J. Cody, "Rational Chebyshev approximations for the error function",
Math. Comp. 23 (1969); float32 a rational function of the square fitted for this file, within six
units in the last place.  The inverse starts from M. Giles' "Approximating the erfinv function"
(2010) and takes three Newton steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..memory.dtype import Array
from ..memory.order import dims_in_memory
from ..table.layouts import in_own_order
from ..table.pointwise import as_array

__all__ = ["erf", "erfc", "erfinv"]

_BLOCK: Final = 8192
_SMALL: Final = 0.46875

_ERF_TOP: Final = (
    *(1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2),
    *(3.77485237685302021e2, 3.20937758913846947e3),
)
_ERF_BOTTOM: Final = (
    *(1.0, 2.36012909523441209e1, 2.44024637934444173e2),
    *(1.28261652607737228e3, 2.84423683343917062e3),
)
_MIDDLE_TOP: Final = (
    *(2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0),
    *(6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2),
    *(1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
)
_MIDDLE_BOTTOM: Final = (
    *(1.0, 1.57449261107098347e1, 1.17693950891312499e2),
    *(5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3),
    *(4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)
_TAIL_TOP: Final = (
    *(1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1),
    *(1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
)
_TAIL_BOTTOM: Final = (
    *(1.0, 2.56852019228982242e0, 1.87295284992346725e0),
    *(5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3),
)
_SINGLE_LIMIT: Final = np.float32(3.925)
_ONE: Final = np.float32(1)
_SINGLE_TOP: Final = (
    *(2.045965175057063e-06, 0.00028483616188168526, 0.0037724715657532215),
    *(0.05276905372738838, 0.1905926913022995, 1.1283791065216064),
)
_SINGLE_BOTTOM: Final = (
    *(3.804673906415701e-05, 0.0011638278374448419, 0.01498305145651102),
    *(0.11418218910694122, 0.5022410750389099, 1.0),
)
_CENTRE: Final = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_OUTER: Final = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """The value of a polynomial, highest power first."""
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result *= x
        result += coefficient
    return result


_FEW: Final = 256
"""Up to so many numbers are computed one by one: vectors have their price too."""


def _single_erf(x: Array) -> Array:
    if x.size <= _FEW:
        return np.fromiter(map(math.erf, x.tolist()), np.float32, x.size)
    inner = np.clip(x, -_SINGLE_LIMIT, _SINGLE_LIMIT)
    square = inner * inner
    inner *= _polynomial(_SINGLE_TOP, square)
    inner /= _polynomial(_SINGLE_BOTTOM, square)
    np.copysign(_ONE, x, out=inner, where=np.abs(x) >= _SINGLE_LIMIT)
    return inner


def _near_zero(x: Array) -> Array:
    """erf(x) for |x| up to 0.46875."""
    square = x * x
    return x * _polynomial(_ERF_TOP, square) / _polynomial(_ERF_BOTTOM, square)


def _exponential_of_square(y: Array) -> Array:
    """`exp(-y * y)` with the rounding error of the square taken out."""
    high = np.trunc(y * 16) / 16
    return as_array(np.exp(-high * high) * np.exp(-(y - high) * (y + high)))


def _complement(y: Array) -> Array:
    """erfc(y) for y of at least 0.46875."""
    result = np.empty_like(y)
    far = y > 4
    middle, tail = y[~far], y[far]
    result[~far] = (
        _exponential_of_square(middle)
        * _polynomial(_MIDDLE_TOP, middle)
        / _polynomial(_MIDDLE_BOTTOM, middle)
    )
    tail = np.minimum(tail, 30.0)
    inverse = 1 / (tail * tail)
    part = inverse * _polynomial(_TAIL_TOP, inverse) / _polynomial(_TAIL_BOTTOM, inverse)
    result[far] = _exponential_of_square(tail) * (1 / math.sqrt(math.pi) - part) / tail
    return result


def _double(x: Array, complement: bool) -> Array:
    result = np.array(x)
    size = np.abs(x)
    near, away = size <= _SMALL, size > _SMALL  # NaN is neither
    inner = _near_zero(x[near])
    result[near] = 1 - inner if complement else inner
    outer = _complement(size[away])
    negative = x[away] < 0
    if complement:
        result[away] = np.where(negative, 2 - outer, outer)
    else:
        result[away] = np.where(negative, outer - 1, 1 - outer)
    return result


def _in_blocks(kernel: Callable[[Array], Array], x: Array) -> Array:
    """`kernel` over pieces that stay in the processor's cache."""
    if not x.flags.c_contiguous:  # keep the layout: compute in the order of memory
        axes = dims_in_memory(x)
        ordered = _in_blocks(kernel, np.ascontiguousarray(x.transpose(axes)))
        return ordered.transpose(np.argsort(axes))
    flat = x.reshape(-1)
    if x.size <= _BLOCK:
        return kernel(flat).reshape(x.shape)
    result = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        result[start : start + _BLOCK] = kernel(flat[start : start + _BLOCK])
    return result.reshape(x.shape)


def erf(x: object) -> Array:
    """`2 / sqrt(pi)` times the integral of `exp(-t * t)` from 0 to x, for float32 and float64."""
    x = in_own_order(as_array(x))
    kernel = _single_erf if x.dtype == np.float32 else lambda part: _double(part, False)
    return _in_blocks(kernel, x)


def erfc(x: object) -> Array:
    """`1 - erf(x)`, exact to the last places where it is small."""
    x = in_own_order(as_array(x))
    wide = x.astype(np.float64, copy=False)
    return _in_blocks(lambda part: _double(part, True), wide).astype(x.dtype, copy=False)


def _far_start(rest: Array) -> Array:
    """A first guess of where the complement is `rest`, from its leading term."""
    level = -np.log(np.clip(rest, 2.0**-53, 1e-3) * math.sqrt(math.pi))
    x = np.sqrt(level)
    for _ in range(3):
        x = np.sqrt(level - np.log(x))
    return as_array(x)


def _inverse(y: Array) -> Array:
    size = np.abs(y)
    log = -np.log1p(-np.minimum(size, 1 - 2.0**-53)) - np.log1p(size)
    start = np.where(
        log < 5,
        _polynomial(_CENTRE, log - 2.5),
        _polynomial(_OUTER, np.sqrt(np.maximum(log, 5)) - 3),
    )
    x = np.where(log < 16, start * size, _far_start(1 - size))
    for _ in range(3):
        outer = x > _SMALL
        miss = np.where(outer, (1 - size) - _double(x, True), _double(x, False) - size)
        x -= miss * (math.sqrt(math.pi) / 2) * np.exp(x * x)
    x = np.where(size < 1, x, np.where(size == 1, np.inf, np.nan))
    return np.copysign(x, y)


def erfinv(x: object) -> Array:
    """The number whose error function is x; infinite at -1 and 1, NaN beyond."""
    x = in_own_order(as_array(x))
    wide = x.astype(np.float64, copy=False)
    return _in_blocks(_inverse, wide).astype(x.dtype, copy=False)
