"""Slices of a tensor, scaled down to a norm."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..kernels import blas, family
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import OperatorError
from ..table.out_dtypes import SAME
from ..table.pointwise import as_array, in_place
from ..table.promotion import kind
from ..table.table import operator
from .matrix_norms import vector_norm

_FLOAT64: Final = np.dtype(np.float64)
_KERNELS: Final = {np.dtype(np.float32): "f", _FLOAT64: "d"}
_FACTOR: Final = [
    *(("add", "d", (0, 2)), ("divide", "d", (1, 4))),
    *(("greater", "d", (0, 1)), ("choose", "d", (6, 5, 3))),
]
"""Steps of formulas, of norms, the largest one, what is added before dividing by norms, and 1."""


def _check(self: Array, p: Scalar, maxnorm: Scalar) -> None:
    if isinstance(p, complex):
        raise OperatorError("renorm: p must be real-valued")
    if not p > 0:
        raise OperatorError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise OperatorError("renorm: maxnorm must be real-valued")
    if not maxnorm >= 0:
        raise OperatorError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise OperatorError(
            f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions",
            code="shape-mismatch",
        )
    if kind(self.dtype) < 2:
        raise OperatorError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{dtype_of(self).scalar_name}",
            code="dtype-mismatch",
        )


@operator(
    "aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    autocast_in_graphs="full",
    cost="reads",
    prepared=True,
    out_dtype=SAME,
    layout="C",
)
def renorm(self: Array, p: Scalar, dim: int, maxnorm: Scalar) -> Array:
    """The slices along a dimension, those of a larger norm scaled down to `maxnorm`."""
    _check(self, p, maxnorm)
    axis = wrap_dim(dim, self.ndim)
    others = tuple(d for d in range(self.ndim) if d != axis)
    x, order, most = self[...], float(p.real), float(maxnorm.real)
    letter, arrays = _KERNELS.get(x.dtype), family("elementwise.arrays") if x.size else None
    if letter is not None and arrays is not None and math.isfinite(most):
        norms = vector_norm(x, order, others, True)
        factors = arrays.evaluate(_FACTOR, letter, norms, most, 1e-7, 1.0)
        made: Array = arrays.evaluate([("multiply", letter, (0, 1))], letter, x, factors)
        return made
    sizes = np.abs(x.astype(np.complex128 if x.dtype.kind == "c" else _FLOAT64))
    norms = blas.vector_norm(sizes, axis=others, keepdims=True, ord=order)
    factors = np.where(norms > most, most / (norms + 1e-7), 1.0)
    if x.itemsize < 4:
        return as_array(x * factors.astype(x.dtype))
    return as_array(x * factors.astype(sizes.dtype)).astype(x.dtype)


operator("aten::renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)")(
    in_place(renorm)
)
