"""Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import _standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """A normal number over the root of a mean of `df` squares, times `scale`, plus `loc`."""

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _batched = {"df": 0, "loc": 0, "scale": 0}
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self._take(validate_args, df=df, loc=loc, scale=scale)
        self._chi2 = Chi2(self.df)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new._chi2 = self._chi2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return finite.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = _standard_normal(shape, self.df.dtype, self.df.device)
        squares = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (drawn * (squares / self.df).rsqrt())

    def _log_beta(self) -> Tensor:
        """log B(1/2, df/2)."""
        half = 0.5 * self.df
        return half.lgamma() + 0.5 * math.log(math.pi) - (half + 0.5).lgamma()

    def log_prob(self, value: Tensor) -> Tensor:
        off = (self._checked(value) - self.loc) / self.scale
        normalizer = self.scale.log() + 0.5 * self.df.log() + self._log_beta()
        return -0.5 * (self.df + 1.0) * (off**2.0 / self.df).log1p() - normalizer

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        between = (half + 0.5).digamma() - half.digamma()
        normalizer = self.scale.log() + 0.5 * self.df.log() + self._log_beta()
        return normalizer + (half + 0.5) * between
