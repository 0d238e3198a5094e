"""How draws of gamma and beta laws move with the laws' parameters.

A draw z with P(Z <= z; a) held fixed moves by dz/da = -(dF/da) / f, F the distribution function and
f the density (Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients",
arXiv:1805.08498).  dF/da is the integral of f (d log f / da) from the nearer end up to z, or less
that beyond z.  With t = z exp(-u), or t = z exp(u), the integrand's first factor is 1 at u = 0 and
falls from there, so trapezoids over u = L exp(s - exp(-s)) (Takahasi and Mori, "Double exponential
formulas for numerical integration", 1974) give some 12 digits, on the side where the other factor
keeps its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..memory.dtype import Array
from .gamma import digamma

__all__ = ["beta_derivative", "gamma_derivative"]

_COUNT: Final = 161
_STEPS: Final = np.arange(_COUNT) / (_COUNT - 1)
_START, _END = -3.6, 6.4
"""Where s begins, and where it ends if the integrand falls over one length only."""
_LARGE: Final = 1e300
_AT_ONCE: Final = 4096
"""Elements whose integrals are done together; each takes 161 numbers."""


def _integral(scale: Array, tail: Array, integrand: Callable[[Array], Array]) -> Array:
    """The integral from 0 to infinity of what falls off over lengths of about `scale` at first, and
    of no more than `tail` in the end; all of shape (n, 1)."""
    span = _END - _START + np.log(np.maximum(tail / scale, 1))
    s = _START + span * _STEPS
    drop = np.exp(-s)
    u = scale * np.exp(s - drop)
    with np.errstate(all="ignore"):
        values = integrand(u) * u * (1 + drop)
    area: Array = np.where(np.isfinite(values), values, 0.0).sum(-1, keepdims=True)
    return np.multiply(area, span / (_COUNT - 1))


def _fall(slope: Array, curve: Array) -> Array:
    """The u > 0 with slope u + curve u^2 / 2 = 1."""
    length: Array = 2 / (slope + np.hypot(slope, np.sqrt(2 * np.minimum(curve, _LARGE))))
    return length


def _gamma_part(z: Array, a: Array) -> Array:
    centre = np.log(z) - digamma(a)
    scale = np.where(z < 1, (1 + z) / a, _fall(np.abs(a - z), z))
    scale = np.where((z < 1) & (z > a), np.log1p(1 / z), scale)
    side = np.where(z <= a, -1.0, 1.0)  # the end that the integral goes to

    def beyond(u: Array) -> Array:
        values: Array = (centre + side * u) * np.exp(side * a * u - z * np.expm1(side * u))
        return values

    result: Array = side * z * _integral(scale, scale, beyond)
    return result


def _beta_part(x: Array, a: Array, b: Array) -> Array:
    """By symmetry x is the share, near 0, of which the integral goes to 0: of the other parameter
    where 1 - x is."""
    mean_log = digamma(a) - digamma(a + b)
    is_low = np.log(x) <= mean_log
    near, far = np.where(is_low, x, 1 - x), np.where(is_low, 1 - x, x)
    own, other = np.where(is_low, a, b), np.where(is_low, b, a)
    odds = near / far
    slope = np.maximum(own - (other - 1) * odds, 0)
    scale = _fall(slope, np.abs(other - 1) * odds / far + own * own)

    def beyond(u: Array) -> Array:
        rest = np.where(near < 0.5, np.log1p(-near * np.exp(-u)), np.log(far - near * np.expm1(-u)))
        logarithm = np.where(is_low, np.log(x) - u, rest)
        power = (other - 1) * np.log1p(-odds * np.expm1(-u))
        values: Array = (logarithm - mean_log) * np.exp(power - own * u)
        return values

    area = _integral(np.minimum(scale, 2 / own), 1 / own, beyond)
    result: Array = np.where(is_low, -x / (1 - x), 1.0) * area
    return result


def _in_pieces(part: Callable[..., Array], *arrays: Array) -> Array:
    wide = np.broadcast_arrays(*(array.astype(np.float64) for array in arrays))
    flat = [array.reshape(-1, 1) for array in wide]
    pieces = [
        part(*(each[start : start + _AT_ONCE] for each in flat))
        for start in range(0, len(flat[0]), _AT_ONCE)
    ]
    return np.concatenate([np.empty((0, 1)), *pieces]).reshape(wide[0].shape)


def gamma_derivative(concentration: Array, draws: Array) -> Array:
    """dz / d concentration of draws z with rate 1; float64, of the common shape."""
    return _in_pieces(_gamma_part, draws, concentration)


def beta_derivative(draws: Array, first: Array, second: Array) -> Array:
    """dx / d first of draws x of Beta(first, second), divided by 1 - x; float64."""
    return _in_pieces(_beta_part, draws, first, second)
