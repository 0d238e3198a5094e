"""Matrices that may be told by themselves, by their inverses or by their Cholesky factors."""

from __future__ import annotations

from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["Covariance", "half_log_det", "matrix_times_vector", "squared_length", "tril_of_inverse"]


def matrix_times_vector(matrices: Tensor, vectors: Tensor) -> Tensor:
    """(*, m, n) times (*, n)."""
    return (matrices @ vectors.unsqueeze(-1)).squeeze(-1)


def half_log_det(tril: Tensor) -> Tensor:
    """Half of log |L L^T|."""
    return tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def squared_length(tril: Tensor, vectors: Tensor) -> Tensor:
    """x^T (L L^T)^-1 x, of vectors (+, *, n) and factors (*, n, n).

    All vectors of one factor are solved together, as columns.
    """
    more = max(vectors.dim() + 1 - tril.dim(), 0)
    drawn, batch = vectors.shape[:more], vectors.shape[more:]
    columns = vectors.reshape((-1, *batch)).movedim(0, -1)
    solved = aten.linalg_solve_triangular(tril, columns, upper=False)
    squares = solved.pow(2).sum(-2).movedim(-1, 0)
    return squares.reshape((*drawn, *squares.shape[1:]))


def tril_of_inverse(precision: Tensor) -> Tensor:
    """The Cholesky factor of P^-1, from the factor of P with rows and columns turned round."""
    turned = aten.linalg_cholesky(precision.flip((-2, -1))).flip((-2, -1)).mT
    ones = aten.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return aten.linalg_solve_triangular(turned, ones, upper=False)


class Covariance(Distribution):
    """A law with a covariance matrix: one form is given, the others computed when asked for."""

    _unbroadcasted_scale_tril: Tensor

    def _keep_tril(self, name: str, value: Tensor) -> None:
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = value
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = aten.linalg_cholesky(value)
        else:
            self._unbroadcasted_scale_tril = tril_of_inverse(value)

    def _matrix_shape(self) -> Size:
        size = self._event_shape[-1]
        return self._batch_shape + (size, size)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """L, the lower Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """L L^T."""
        tril = self._unbroadcasted_scale_tril
        return (tril @ tril.mT).expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return aten.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._matrix_shape())
