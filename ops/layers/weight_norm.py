"""Weights given by a direction and a length for each slice."""

from __future__ import annotations

import numpy as np

from ..linear_algebra.distance import vector_length
from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange
from ..table.pointwise import as_array
from ..table.table import operator

__all__: list[str] = []


@operator("aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor")
def norm_except_dim(v: Array, pow: int, dim: int) -> Array:
    """The norm over all dimensions but one, which stay with size 1; over all of them for -1."""
    if dim == -1:
        return vector_length(v.reshape(-1), pow, -1)
    if not 0 <= dim < v.ndim:
        raise IndexOutOfRange(
            f"Dimension out of range (expected to be in range of [{-v.ndim}, {v.ndim - 1}], "
            f"but got {dim})"
        )
    others = tuple(axis for axis in range(v.ndim) if axis != dim)
    return vector_length(v, pow, others, True) if others else as_array(np.abs(v))


@operator("aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)")
def weight_norm_and_norms(v: Array, g: Array, dim: int) -> tuple[Array, Array]:
    """The weight `v * (g / norm)` and the norms."""
    norms = norm_except_dim(v, 2, dim)
    return as_array(v * (g / norms)), norms


@operator("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor")
def weight_norm(v: Array, g: Array, dim: int) -> Array:
    return weight_norm_and_norms(v, g, dim)[0]
