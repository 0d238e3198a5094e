"""Normal vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from ..ops.eager.namespace import broadcast_shapes
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .covariances import Covariance, half_log_det
from .covariances import matrix_times_vector as _batch_mv
from .covariances import squared_length as _batch_mahalanobis
from .covariances import tril_of_inverse as _precision_to_scale_tril
from .distribution import Distribution as Distribution  # packages take it from here
from .utils import _standard_normal

__all__ = ["MultivariateNormal"]

_OLD_NAMES = (_precision_to_scale_tril,)
"""Kept because packages import it from here."""


class MultivariateNormal(Covariance):
    """exp(-(x - loc)^T C^-1 (x - loc) / 2) / sqrt(|2 pi C|).

    Args:
        loc: means, (*, n).
        covariance_matrix, precision_matrix, scale_tril: C, its inverse or its lower Cholesky
            factor, (*, n, n); exactly one of them.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = {"loc": 1, "covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2}

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        forms = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [(name, value) for name, value in forms.items() if value is not None]
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril "
                "may be specified."
            )
        ((name, matrix),) = given
        if matrix.dim() < 2:
            raise ValueError(
                f"{name.replace('tril', 'tril matrix')} must be at least two-dimensional, "
                "with optional leading batch dimensions"
            )
        batch = Size(broadcast_shapes(matrix.shape[:-2], loc.shape[:-1]))
        vars(self)[name] = matrix.expand(batch + (-1, -1))
        self.loc = loc.expand(batch + (-1,))
        super().__init__(batch, Size(self.loc.shape[-1:]), validate_args=validate_args)
        self._keep_tril(name, matrix)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, drawn)

    def log_prob(self, value: Tensor) -> Tensor:
        tril, off = self._unbroadcasted_scale_tril, self._checked(value) - self.loc
        distance = _batch_mahalanobis(tril, off)
        spread = half_log_det(tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - spread

    def entropy(self) -> Tensor:
        of_unit = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (of_unit + half_log_det(self._unbroadcasted_scale_tril)).expand(self._batch_shape)
