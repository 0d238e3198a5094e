"""The F law of Fisher and Snedecor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from ..ops.tensors.construct import finfo
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .gamma import Gamma

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The mean of `df1` squares of normal numbers over the mean of `df2` others."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _batched = {"df1": 0, "df2": 0}
    df1: Tensor
    df2: Tensor

    def __init__(
        self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self._take(validate_args, df1=df1, df2=df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, math.nan)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        above = 2 * self.df2.pow(2) * (self.df1 + self.df2 - 2)
        below = self.df1 * (self.df2 - 2).pow(2) * (self.df2 - 4)
        return (above / below).masked_fill(self.df2 <= 4, math.nan)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        above, below = (each.rsample(sample_shape) for each in (self._gamma1, self._gamma2))
        tiny = finfo(below.dtype).tiny
        below.detach().clamp_(min=tiny)
        ratio = above / below
        ratio.detach().clamp_(min=tiny)
        return ratio

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        log_beta = half1.lgamma() + half2.lgamma() - (half1 + half2).lgamma()
        powers = half1 * ratio.log() + (half1 - 1) * value.log()
        return powers - (half1 + half2) * (ratio * value).log1p() - log_beta
