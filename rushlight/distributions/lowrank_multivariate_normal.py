"""Normal vectors whose covariance is a few outer products and a diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from ..ops.eager.namespace import broadcast_shapes
from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .covariances import half_log_det, matrix_times_vector, squared_length
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """The Cholesky factor of I + W^T D^-1 W."""
    ones = aten.eye(W.shape[-1], dtype=W.dtype, device=W.device)
    return aten.linalg_cholesky(ones + (W.mT / D.unsqueeze(-2)) @ W)


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """log |W W^T + D|, by the matrix determinant lemma."""
    return 2 * half_log_det(capacitance_tril) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """x^T (W W^T + D)^-1 x, by Woodbury's identity."""
    inside = matrix_times_vector(W.mT / D.unsqueeze(-2), x)
    return (x.pow(2) / D).sum(-1) - squared_length(capacitance_tril, inside)


def _check_shapes(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")
    size = loc.shape[-1:]
    if cov_factor.dim() < 2:
        raise ValueError(
            "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
        )
    if cov_factor.shape[-2:-1] != size:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {size[0]} x m")
    if cov_diag.shape[-1:] != size:
        raise ValueError(f"cov_diag must be a batch of vectors with shape {size}")


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of covariance W W^T + D.

    Args:
        loc: means, (*, n).
        cov_factor: W, (*, n, m), m small.
        cov_diag: D's diagonal, (*, n).
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = {"loc": 1, "cov_diag": 1, "cov_factor": 2}

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        _check_shapes(loc, cov_factor, cov_diag)
        try:
            batch = Size(
                broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, "
                f"cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand(batch + (-1,))
        self.cov_factor = cov_factor.expand(batch + (-1, -1))
        self.cov_diag = cov_diag.expand(batch + (-1,))
        super().__init__(batch, Size(loc.shape[-1:]), validate_args=validate_args)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril

    @property
    def _parts(self) -> tuple[Tensor, Tensor, Tensor]:
        return (
            self._unbroadcasted_cov_factor,
            self._unbroadcasted_cov_diag,
            self._capacitance_tril,
        )

    def _matrix_shape(self) -> Size:
        return self._batch_shape + self._event_shape + self._event_shape

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        W, D, _ = self._parts
        return (W.pow(2).sum(-1) + D).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance: sqrt(D) times that of I + D^-1/2 W W^T D^-1/2."""
        W, D, _ = self._parts
        root = D.sqrt().unsqueeze(-1)
        scaled = W / root
        ones = aten.eye(D.shape[-1], dtype=W.dtype, device=W.device)
        return (root * aten.linalg_cholesky(scaled @ scaled.mT + ones)).expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """W W^T + D."""
        W, D, _ = self._parts
        return (W @ W.mT + aten.diag_embed(D)).expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The covariance's inverse, by Woodbury's identity."""
        W, D, tril = self._parts
        inside = aten.linalg_solve_triangular(tril, W.mT / D.unsqueeze(-2), upper=False)
        return (aten.diag_embed(D.reciprocal()) - inside.mT @ inside).expand(self._matrix_shape())

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape, (W, D, _) = self._extended_shape(sample_shape), self._parts
        dtype, device = self.loc.dtype, self.loc.device
        along = _standard_normal(shape[:-1] + W.shape[-1:], dtype=dtype, device=device)
        each = _standard_normal(shape, dtype=dtype, device=device)
        return self.loc + matrix_times_vector(W, along) + D.sqrt() * each

    def log_prob(self, value: Tensor) -> Tensor:
        W, D, tril = self._parts
        distance = _batch_lowrank_mahalanobis(W, D, self._checked(value) - self.loc, tril)
        spread = _batch_lowrank_logdet(W, D, tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + spread + distance)

    def entropy(self) -> Tensor:
        spread = _batch_lowrank_logdet(*self._parts)
        of_unit = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (0.5 * (of_unit + spread)).expand(self._batch_shape)
