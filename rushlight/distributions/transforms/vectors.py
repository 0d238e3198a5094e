"""Transforms of vectors into shares and matrices."""

from __future__ import annotations

import math

from ...nn.functional import logsigmoid, pad, softplus
from ...ops.gradients.table.rows import aten
from ...ops.tensors.construct import finfo
from ...ops.tensors.tensor import Tensor
from .. import constraints
from ..utils import tril_matrix_to_vec, vec_to_tril_matrix
from .base import Shape, Transform, check_length
from .pointwise import inside_unit

__all__ = [
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "SoftmaxTransform",
    "StickBreakingTransform",
]


def _shifted(values: Tensor) -> Tensor:
    """A 1 in front, the last one dropped."""
    shifted: Tensor = pad(values[..., :-1], [1, 0], value=1)
    return shifted


class CorrCholeskyTransform(Transform):
    """n (n - 1) / 2 real numbers as the Cholesky factor of an n x n matrix of correlations.

    The tanh of each is a partial correlation; a row's squares sum up to 1 by taking each from what
    those before have left (Lewandowski, Kurowicka and Joe, "Generating random correlation matrices
    based on vines and extended onion method", 2009).
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        edge = 1 - finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(min=-edge, max=edge), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        ones = aten.eye(partial.shape[-1], dtype=partial.dtype, device=partial.device)
        return (partial + ones) * _shifted(left)

    def _inverse(self, y: Tensor) -> Tensor:
        left = _shifted(1 - (y * y).cumsum(-1))
        entries, left = tril_matrix_to_vec(y, diag=-1), tril_matrix_to_vec(left, diag=-1)
        partial = entries / left.sqrt()
        return (partial.log1p() - (-partial).log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: object = None) -> Tensor:
        del intermediates  # what forward would have to keep; torch does not look at it either
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        of_rows = 0.5 * left.log().sum(-1)
        doubled: Tensor = softplus(-2 * x)
        return of_rows - 2 * (x + doubled - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Shape) -> Shape:
        check_length(len(shape) >= 1)
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Shape) -> Shape:
        check_length(len(shape) >= 2)
        rows, columns = shape[-2:]
        if rows != columns:
            raise ValueError("Input is not square")
        return (*shape[:-2], rows * (rows - 1) // 2)


class SoftmaxTransform(Transform):
    """y = exp(x) divided by its sum; back to logarithms, one of many ways."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    _is_told_by_arguments = True

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Shape) -> Shape:
        check_length(len(shape) >= 1)
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        check_length(len(shape) >= 1)
        return shape


def _remaining(like: Tensor) -> Tensor:
    """log n, log (n - 1) ... log 1: what makes zeros into equal shares."""
    return (like.shape[-1] + 1 - aten.ones_like(like).cumsum(-1)).log()


class StickBreakingTransform(Transform):
    """n numbers as n + 1 shares: each one's sigmoid says how much of the rest is taken.

    As in Stan's reference manual, "Unit simplex": shifted such that zeros give equal shares.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True
    _is_told_by_arguments = True

    def _call(self, x: Tensor) -> Tensor:
        taken = inside_unit((x - _remaining(x)).sigmoid())
        rest: Tensor = pad((1 - taken).cumprod(-1), [1, 0], value=1)
        return pad(taken, [0, 1], value=1) * rest

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        rest = (1 - shares.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return shares.log() - rest.log() + _remaining(shares)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        shifted = x - _remaining(x)
        return (logsigmoid(shifted) - shifted + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Shape) -> Shape:
        check_length(len(shape) >= 1)
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Shape) -> Shape:
        check_length(len(shape) >= 1)
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Transform):
    """Matrices as lower triangular ones: what is below the diagonal, and exp of the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky
    _is_told_by_arguments = True

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Matrices as products L L^T of the lower triangular ones made of them."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite
    _is_told_by_arguments = True

    def _call(self, x: Tensor) -> Tensor:
        factor: Tensor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        result: Tensor = LowerCholeskyTransform().inv(aten.linalg_cholesky(y))
        return result
