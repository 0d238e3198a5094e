"""The Cauchy law."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .distribution import Distribution

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """1 / (pi scale (1 + ((x - loc) / scale)^2)), which has no mean."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _batched = {"loc": 0, "scale": 0}
    loc: Tensor
    scale: Tensor

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self._take(validate_args, loc=loc, scale=scale)

    def _everywhere(self, number: float) -> Tensor:
        shape = self._extended_shape()
        return aten.full(shape, number, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mean(self) -> Tensor:
        return self._everywhere(math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._everywhere(math.inf)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        drawn = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        off = (self._checked(value) - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - off.pow(2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        off = (self._checked(value) - self.loc) / self.scale
        return off.atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
