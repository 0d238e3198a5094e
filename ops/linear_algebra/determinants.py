"""Determinants, and their logarithms."""

from __future__ import annotations

import numpy as np

from ..kernels import blas
from ..memory.dtype import Array
from ..table.out_dtypes import SAME
from ..table.refusals import Refusal
from ..table.table import operator
from .decompositions import determinants, log_determinants
from .matrix_checks import check_floating, check_lapack, check_square
from .small_systems import small_determinants, small_log_determinants
from .triangular import lu_factor


def _check_determinant(A: Array, name: str) -> None:
    check_square(A, name)
    check_floating(A, name)
    check_lapack(A, "lu_cpu")


@operator(
    "aten::det(Tensor self) -> Tensor",
    first_name="linalg_det",
    out="",
    prepared=True,
    cost="matrices",
)
@operator(
    "aten::linalg_det(Tensor A) -> Tensor",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    on_slices="matrices",
)
def linalg_det(A: Array) -> Array:
    _check_determinant(A, "linalg.det")
    quick = small_determinants(A)
    if quick is None:
        quick = determinants(A)
    if quick is not None:
        return quick
    found = np.asarray(blas.det(A)).astype(A.dtype, copy=False)
    singular = found == 0
    if singular.any():
        found = found.copy()
        found[singular] = _zeros_of_singular(A, singular, as_sign=False)
    return found


def _zeros_of_singular(A: Array, singular: Array, *, as_sign: bool) -> Array:
    """Which zeros the determinants of singular matrices are: products of U's diagonal, or of the
    signs on it, negative after an odd number of exchanges.

    torch factors real matrices in one piece by columns, as they lie.
    """
    matrices = A[singular]
    if A.dtype.kind == "f" and A.flags.c_contiguous:
        matrices = matrices.swapaxes(-1, -2)
    factors, pivots, _ = lu_factor(matrices)
    diagonal = np.diagonal(factors, 0, -2, -1)
    if as_sign:
        sizes = np.abs(diagonal)
        diagonal = np.where(sizes == 0, 0, diagonal / np.where(sizes == 0, 1, sizes))
    exchanges = (pivots != np.arange(1, pivots.shape[-1] + 1)).sum(-1)
    product = diagonal.prod(-1) * np.where(exchanges % 2, -1, 1).astype(matrices.dtype)
    zeros = np.where(product == 0, product, np.copysign(0, product.real))
    return np.asarray(zeros).astype(matrices.dtype)


@operator(
    "aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    cost="matrices",
    out="result",
)
def linalg_det_with_factors(A: Array) -> tuple[Array, Array, Array]:
    return linalg_det(A), *lu_factor(A)[:2]


@operator(
    "aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", prepared=True, cost="matrices"
)
@operator(
    "aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    prepared=True,
    refuses=Refusal(
        "", fails=("h", "linalg.slogdet: Low precision dtypes not supported. Got {word}")
    ),
    cost="matrices",
    out_dtype=SAME,
    on_slices="matrices",
)
def linalg_slogdet(A: Array) -> tuple[Array, Array]:
    _check_determinant(A, "linalg.slogdet")
    quick = small_log_determinants(A)
    if quick is None:
        quick = log_determinants(A)
    if quick is not None:
        return quick
    sign, size = blas.slogdet(A)
    if A.dtype.kind == "f":  # NumPy's sign is that of a comparison
        sign = np.where(np.isnan(size), A.dtype.type(0), sign)
    else:
        size = np.where(np.isnan(sign), size.dtype.type(np.nan), size)
    signs, singular = np.asarray(sign), np.isneginf(size)
    if singular.any():
        signs = signs.copy()
        signs[singular] = _zeros_of_singular(A, singular, as_sign=True)
    return signs, np.asarray(size)


@operator(
    "aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    cost="matrices",
    out="sign",
)
def linalg_slogdet_with_factors(A: Array) -> tuple[Array, Array, Array, Array]:
    return *linalg_slogdet(A), *lu_factor(A)[:2]


@operator(
    "aten::logdet(Tensor self) -> Tensor",
    refuses=Refusal("", fails=("h", "logdet: Low precision dtypes not supported. Got {word}")),
    out="",
    cost="matrices",
)
def logdet(self: Array) -> Array:
    _check_determinant(self, "logdet")
    sign, size = linalg_slogdet(self)
    if self.dtype.kind == "c":
        found = np.asarray(np.log(sign) + size).astype(self.dtype, copy=False)
        return np.where(np.isneginf(size), self.dtype.type(complex(-np.inf, np.nan)), found)
    return np.asarray(np.where(sign == -1, np.nan, size)).astype(self.dtype, copy=False)
