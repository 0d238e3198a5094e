"""The Gumbel law of largest values."""

from __future__ import annotations

import math

from ..ops.gradients.table.rows import aten
from ..ops.tensors.construct import finfo
from ..ops.tensors.tensor import Tensor
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """exp(-z - exp(-z)) / scale, z = (x - loc) / scale: loc - scale log(-log u) of uniform u."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _batched = {"loc": 0, "scale": 0}

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        known = finfo(self.loc.dtype)
        low, high = aten.full_like(self.loc, known.tiny), aten.full_like(self.loc, 1 - known.eps)
        super().__init__(
            Uniform(low, high, validate_args=validate_args),
            [
                ExpTransform().inv,
                AffineTransform(loc=0, scale=-aten.ones_like(self.scale)),
                ExpTransform().inv,
                AffineTransform(loc=loc, scale=-self.scale),
            ],
            validate_args=validate_args,
        )

    def log_prob(self, value: Tensor) -> Tensor:
        off = (self.loc - self._checked(value)) / self.scale
        return off - off.exp() - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
