"""The absolute values of numbers of the Cauchy law."""

from __future__ import annotations

import math

from ..ops.gradients.table.rows import aten
from ..ops.tensors.tensor import Tensor
from .cauchy import Cauchy
from .folded import FoldedAtZero

__all__ = ["HalfCauchy"]


class HalfCauchy(FoldedAtZero):
    """|x| for x of `Cauchy(0, scale)`."""

    _batched = {}
    base_dist: Cauchy

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return aten.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance
