"""One over numbers of the gamma law."""

from __future__ import annotations

import math

from ..ops.gradients.table.rows import aten
from ..ops.tensors.tensor import Tensor
from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x for x of `Gamma(concentration, rate)`."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    _batched = {}
    base_dist: Gamma

    def __init__(
        self,
        concentration: Tensor | float,
        rate: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        gamma = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(-gamma.rate.new_ones(()))
        super().__init__(gamma, power, validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The gamma law's."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The gamma law's."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        finite = self.rate / (self.concentration - 1)
        return aten.where(self.concentration > 1, finite, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        below_mean, shape = self.concentration - 1, self.concentration
        finite = self.rate.square() / (below_mean.square() * (shape - 2))
        return aten.where(shape > 2, finite, math.inf)

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape + self.rate.log() + shape.lgamma() - (1 + shape) * shape.digamma()
