"""Cholesky factors of random correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from ..ops.gradients.table.rows import aten
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.construct import finfo
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices M with density |M|^(concentration - 1).

    Drawn by the onion method of Lewandowski, Kurowicka and Joe (2009): row i is a direction of the
    sphere times the root of a beta number.

    Args:
        dim: rows of the matrices, at least 2.
        concentration: above 1 nearer to the identity.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _batched = {"concentration": 0}

    def __init__(
        self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        like = {"dtype": self.concentration.dtype, "device": self.concentration.device}
        rows = aten.arange(dim - 1, **like)
        before = aten.cat([rows.new_zeros((1,)), rows])
        edge = (self.concentration + 0.5 * (dim - 2)).unsqueeze(-1)
        self._beta = Beta(before + 0.5, edge - 0.5 * before)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new.dim = self.dim
        new._beta = self._beta.expand(batch_shape + (self.dim,))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            square = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = aten.randn(
                self._extended_shape(sample_shape), dtype=square.dtype, device=square.device
            ).tril(-1)
            direction = normal / normal.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)  # the first row has nothing before its diagonal
            rows = square.sqrt() * direction
            left = (1 - rows.pow(2).sum(-1)).clamp(min=finfo(rows.dtype).tiny)
            return rows + left.sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        diagonal = self._checked(value).diagonal(dim1=-1, dim2=-2)[..., 1:]
        eta, last = self.concentration, self.dim - 1
        order = aten.arange(2, self.dim + 1, device=eta.device)
        powers = 2 * (eta - 1).unsqueeze(-1) + self.dim - order
        density = (powers * diagonal.log()).sum(-1)
        edge = eta + 0.5 * last
        normalizer = 0.5 * last * math.log(math.pi) + (edge - 0.5).mvlgamma(last)
        return density - (normalizer - edge.lgamma() * last)
