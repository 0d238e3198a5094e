"""Random covariance matrices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Self

from ..ops.eager.namespace import broadcast_shapes
from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .chi2 import Chi2
from .constraints import Constraint
from .covariances import Covariance, half_log_det
from .exp_family import ExponentialFamily

__all__ = ["Wishart"]


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of log Gamma_p: the sum of digammas at x, x - 1/2 ..."""
    steps = aten.arange(p, dtype=x.dtype, device=x.device)
    return (x.unsqueeze(-1) - steps / 2).digamma().sum(-1)


class Wishart(Covariance, ExponentialFamily):
    """The law of the sum of outer products of `df` normal vectors.

    Args:
        df: how many, above n - 1; it may be a fraction.
        covariance_matrix, precision_matrix, scale_tril: of the vectors, (*, n, n); exactly one.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"df": 0, "covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2}
    df: Tensor

    def __init__(
        self,
        df: Tensor | float,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        forms = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [(name, value) for name, value in forms.items() if value is not None]
        if len(given) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril "
                "may be specified."
            )
        ((name, matrix),) = given
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, "
                "with optional leading batch dimensions"
            )
        size = matrix.shape[-1]
        number = df if isinstance(df, Tensor) else aten.tensor(df, dtype=matrix.dtype)
        batch = Size(broadcast_shapes(matrix.shape[:-2], number.shape))
        self.df = number.expand(batch)
        vars(self)[name] = matrix.expand(batch + (-1, -1))
        if self.df.le(size - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        self._batch_dims = [-(x + 1) for x in range(len(batch))]
        super().__init__(batch, Size((size, size)), validate_args=validate_args)
        if self.df.lt(size).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur "
                "for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        self._keep_tril(name, matrix)
        each = self.df.unsqueeze(-1) - aten.arange(size, dtype=matrix.dtype, device=matrix.device)
        self._dist_chi2 = Chi2(df=each)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new._batch_dims = [-(x + 1) for x in range(len(batch_shape))]
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new._dist_chi2 = self._dist_chi2.expand(batch_shape + self._event_shape[:1])

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        whole = self.covariance_matrix
        diagonal = whole.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * (whole.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """L A A^T L^T: chi on A's diagonal, normal numbers below it (Bartlett, 1933)."""
        size = self._event_shape[-1]
        inner = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        rows, columns = aten.tril_indices(size, size, -1).unbind()
        shape = Size(sample_shape) + self._batch_shape + (size * (size - 1) // 2,)
        inner[..., rows, columns] = aten.randn(shape, dtype=inner.dtype, device=inner.device)
        factor = self._unbroadcasted_scale_tril @ inner
        return factor @ factor.mT

    def rsample(
        self,
        sample_shape: Sequence[int] = Size(),
        max_try_correction: int | None = None,
    ) -> Tensor:
        """Draws; what seems singular is drawn again, at most `max_try_correction` times (10).

        PyTorch takes the first draws for singular where they are not.  So does this, or the same
        seed would give other numbers.
        """
        drawn = self._bartlett_sampling(Size(sample_shape))
        again = self._of_batch(self.support.check(drawn))
        if again.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not again.any():
                break
            fresh = self._bartlett_sampling(again[again].shape)
            drawn = drawn.index_put((again,), fresh)
            lost = self._of_batch(~self.support.check(fresh))
            again = aten.zeros_like(again).masked_scatter(again, lost)
        return drawn

    def _of_batch(self, flags: Tensor) -> Tensor:
        """Of each draw whether it is so of any matrix of its batch."""
        return flags.amax(self._batch_dims) if self._batch_dims else flags

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        nu, size, tril = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        normalizer = nu * (size * math.log(2) / 2 + half_log_det(tril)) + (nu / 2).mvlgamma(size)
        _, log_det = aten.linalg_slogdet(value)
        solved = aten.cholesky_solve(value, tril)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        return (nu - size - 1) / 2 * log_det - trace / 2 - normalizer

    def entropy(self) -> Tensor:
        nu, size, tril = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        spread = (size + 1) * (size * math.log(2) / 2 + half_log_det(tril))
        slope = (nu - size - 1) / 2 * _mvdigamma(nu / 2, size)
        return spread + (nu / 2).mvlgamma(size) - slope + nu * size / 2

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        size = self._event_shape[-1]
        return -self.precision_matrix / 2, (self.df - size - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        size = self._event_shape[-1]
        _, log_det = aten.linalg_slogdet(-2 * x)
        half = y + (size + 1) / 2
        return half * (size * math.log(2) - log_det) + half.mvlgamma(size)
