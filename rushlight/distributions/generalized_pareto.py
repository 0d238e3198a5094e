"""The law of what is above a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .constraints import Constraint
from .distribution import Distribution

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """P(X > x) = (1 + k z)^(-1 / k), z = (x - loc) / scale, k the concentration; exp(-z) if k = 0.

    Hosking and Wallis, "Parameter and quantile estimation for the generalized Pareto
    distribution" (1987), with the other sign of k.
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _batched = {"loc": 0, "scale": 0, "concentration": 0}
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self._take(validate_args, loc=loc, scale=scale, concentration=concentration)

    def _by_concentration(self, curved: Callable[[Tensor], Tensor], straight: Tensor) -> Tensor:
        """`curved(k)` where k is not 0, else `straight`."""
        is_zero = aten.isclose(self.concentration, self.concentration.new_zeros(()))
        safe = aten.where(is_zero, aten.ones_like(self.concentration), self.concentration)
        return aten.where(is_zero, straight, curved(safe))

    def _z(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(aten.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._z(self._checked(value))
        curve = self._by_concentration(lambda k: (1 + 1 / k) * (k * z).log1p(), z)
        return -self.scale.log() - curve

    def log_survival_function(self, value: Tensor) -> Tensor:
        """log P(X > x)."""
        z = self._z(self._checked(value))
        return self._by_concentration(lambda k: -(k * z).log1p() / k, -z)

    def log_cdf(self, value: Tensor) -> Tensor:
        """log P(X <= x)."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        above = (-value).log1p()
        z = self._by_concentration(lambda k: (-k * above).expm1() / k, -above)
        return self.loc + self.scale * z

    def _below(self, value: Tensor, limit: float) -> Tensor:
        """A moment, which there is for concentrations below a limit."""
        return value.masked_fill(self.concentration >= limit, math.nan)

    @property
    def mean(self) -> Tensor:
        return self._below(self.loc + self.scale / (1 - self.concentration), 1)

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        return self._below(self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), 0.5)

    def entropy(self) -> Tensor:
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        k = self.concentration
        end = self.loc - self.scale / k
        return constraints.interval(self.loc, aten.where(k < 0, end, math.inf))
