"""Transforms of single numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...nn.functional import softplus
from ...ops.eager.namespace import broadcast_shapes
from ...ops.gradients.table.rows import aten
from ...ops.tensors.construct import finfo
from ...ops.tensors.tensor import Tensor
from .. import constraints
from ..constraints import Constraint
from ..utils import _sum_rightmost, broadcast_all
from .base import Shape, Transform

if TYPE_CHECKING:
    from ..distribution import Distribution

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
]


class _Increasing(Transform):
    """A bijective map of real numbers that takes larger ones to larger ones."""

    domain = constraints.real
    bijective = True
    _arguments = ()
    _is_told_by_arguments = True

    @property
    def sign(self) -> int:
        return 1


class ExpTransform(_Increasing):
    """y = exp(x)."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """y = x ** exponent, of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _arguments = ("exponent",)
    _is_told_by_arguments = True

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Tensor:
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Shape) -> Shape:
        return broadcast_shapes(shape, self.exponent.shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return broadcast_shapes(shape, self.exponent.shape)


def inside_unit(share: Tensor) -> Tensor:
    """Numbers kept off 0 and 1."""
    known = finfo(share.dtype)
    return share.clamp(min=known.tiny, max=1.0 - known.eps)


def _clipped_sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), never quite 0 or 1."""
    return inside_unit(x.sigmoid())


class SigmoidTransform(_Increasing):
    """y = 1 / (1 + exp(-x)), never quite 0 or 1."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        share = inside_unit(y)
        return share.log() - (-share).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        lower: Tensor = softplus(-x)
        return -lower - softplus(x)


class SoftplusTransform(_Increasing):
    """y = log(1 + exp(x)), the identity above 20."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        result: Tensor = softplus(x)
        return result

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        rest: Tensor = softplus(-x)
        return -rest


class TanhTransform(_Increasing):
    """y = tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # log(1 - tanh(x)^2) without cancellation
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|; back to the positive one of two."""

    domain = constraints.real
    codomain = constraints.positive
    _arguments = ()
    _is_told_by_arguments = True

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """y = loc + scale * x.

    Args:
        loc, scale: numbers or tensors.
        event_dim: how many last dimensions make one value.
    """

    bijective = True
    _arguments = ("loc", "scale", "event_dim")
    _is_told_by_arguments = True

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> Constraint:
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    @property
    def codomain(self) -> Constraint:
        return self.domain

    @property
    def sign(self) -> Tensor | int:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            each = self.scale.abs().log()
        else:
            each = aten.full_like(x, math.log(abs(self.scale)))
        kept = x.shape[: x.dim() - self.event_dim]
        if isinstance(self.scale, Tensor) and self.event_dim:
            each = each.expand(broadcast_shapes(each.shape, x.shape))
        return _sum_rightmost(each, self.event_dim).expand(kept)

    def _shape(self, shape: Shape) -> Shape:
        given = (getattr(each, "shape", ()) for each in (self.loc, self.scale))
        return broadcast_shapes(shape, *given)

    def forward_shape(self, shape: Shape) -> Shape:
        return self._shape(shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return self._shape(shape)


class CumulativeDistributionTransform(Transform):
    """y = P(X <= x) for a law of numbers: back by its quantiles."""

    bijective = True
    codomain = constraints.unit_interval
    _arguments = ("distribution",)

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def sign(self) -> int:
        return 1

    @property
    def domain(self) -> Constraint:
        support: Constraint = self.distribution.support
        return support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
