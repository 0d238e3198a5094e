"""Weights given by a direction and a length for each slice."""

from __future__ import annotations

import numpy as np

from ..linear_algebra.distance import vector_length
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..table.pointwise import as_array
from ..table.table import operator

__all__: list[str] = []


@operator("aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", out="")
def norm_except_dim(v: Array, pow: int, dim: int) -> Array:
    """The norm over all dimensions but one, which stay with size 1; over all of them for -1."""
    axis = wrap_dim(dim, v.ndim)
    if dim != -1 and not v.ndim:
        raise IndexOutOfRange(f"Dimension specified as {dim} but tensor has no dimensions")
    if v.dtype.kind in "biu":
        raise OperatorError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {dtype_of(v).scalar_name} instead.",
            code="dtype-mismatch",
        )
    if dim == -1:
        return vector_length(v.reshape(-1), pow, -1)
    others = tuple(other for other in range(v.ndim) if other != axis)
    return vector_length(v, pow, others, True) if others else as_array(np.abs(v))


@operator("aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)")
def weight_norm_and_norms(v: Array, g: Array, dim: int) -> tuple[Array, Array]:
    """The weight `v * (g / norm)` and the norms."""
    norms = norm_except_dim(v, 2, dim)
    if g.size == norms.size and dim in (0, v.ndim - 1):
        g = g.reshape(norms.shape)
    return as_array(v * (g / norms)), norms


@operator("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", out="")
def weight_norm(v: Array, g: Array, dim: int) -> Array:
    return weight_norm_and_norms(v, g, dim)[0]
