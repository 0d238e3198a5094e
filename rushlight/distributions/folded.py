"""The absolute values of numbers of a law that is even about zero."""

from __future__ import annotations

import math

from ..ops.gradients.table.rows import aten
from ..ops.tensors.tensor import Tensor
from . import constraints
from .cauchy import Cauchy
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform

__all__ = ["FoldedAtZero"]


class FoldedAtZero(TransformedDistribution):
    """|x| for x of a law whose two halves are alike."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    _batched = {}
    base_dist: Cauchy | Normal

    def __init__(self, whole: Cauchy | Normal, validate_args: bool | None = None) -> None:
        super().__init__(whole, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of the law whose halves are laid on each other."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return aten.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        value = aten.as_tensor(
            self._checked(value), dtype=self.scale.dtype, device=self.scale.device
        )
        doubled = self.base_dist.log_prob(value) + math.log(2)
        return aten.where(value >= 0, doubled, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return 2 * self.base_dist.cdf(self._checked(value)) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
