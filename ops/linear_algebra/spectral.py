"""Eigenvalues and singular values; pseudo-inverses and ranks made of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ..kernels import blas, family
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..table.out_dtypes import FIELDS_SAFELY, SAFELY, SAME, OutDtype
from ..table.pointwise import as_array
from ..table.refusals import Refusal
from ..table.table import operator
from .decompositions import eigen, eigen_general, singular_parts
from .linalg import matmul
from .matrix_checks import (
    LinAlgError,
    batch_prefix,
    check_floating,
    check_lapack,
    check_matrix,
    check_square,
    real_dtype,
    refuse_not_finite,
)
from .matrix_norms import finite_svd, singular_values
from .products import matrix_power
from .triangular import adjoint, linalg_inv, linalg_solve

__all__ = ["pseudo_inverse", "rank_of"]

_OUT_OF_LINALG_MATRIX_POWER: Final = OutDtype(
    "castable",
    "{base}: Expected result to be safely castable from {result} dtype, but got result "
    "with dtype {out}",
)

_NO_COMPLEX_FORM: Final = Refusal("", fails=("biu", "Unknown Complex ScalarType for {word}"))
_ONLY_FLOATS: Final = Refusal(
    "", fails=("biuh", "This function doesn't handle types other than float and double")
)
_OUT_OF_RANKS: Final = OutDtype("castable", f"torch.{SAFELY.sentence}")


# --------------------------------------------------------------------------- eigenvalues


def _check_triangle(uplo: str) -> None:
    if uplo.upper() not in ("L", "U"):
        raise OperatorError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")


@operator(
    'aten::linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)',
    autocast="full",
    layout="-F",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    out="eigvals eigvals eigvecs",
    on_slices="matrices",
)
def linalg_eigh(self: Array, UPLO: str) -> tuple[Array, Array]:
    return _eigh(self, UPLO, 1)


def _eigh(self: Array, UPLO: str, unfound: int, vectors: bool = True) -> tuple[Array, Array]:
    """Eigenvalues and -vectors; an error tells of all rows but so many as `unfound`."""
    check_square(self, "linalg.eigh")
    _check_triangle(UPLO)
    check_lapack(self, "linalg_eigh_cpu")
    quick = eigen(self, UPLO in "Uu", vectors)
    if quick is not None:
        return quick
    try:
        values, found = blas.eigh(self, "U" if UPLO in "Uu" else "L")
    except np.linalg.LinAlgError:
        raise _not_converged(self, self.shape[-1] - unfound) from None
    return values.astype(real_dtype(self.dtype), copy=False), found.astype(self.dtype, copy=False)


def _not_converged(A: Array, code: int) -> LinAlgError:
    info = np.where(np.isfinite(A).all((-2, -1)), 0, code)
    prefix, code = batch_prefix(info if info.any() else np.full_like(info, code))
    return LinAlgError(
        f"linalg.eigh: {prefix}The algorithm failed to converge because the input matrix is "
        f"ill-conditioned or has too many repeated eigenvalues (error code: {code}).",
        headline="the eigenvalues were not found",
    )


@operator(
    'aten::_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) '
    "-> (Tensor eigenvalues, Tensor eigenvectors)",
    layout="-F",
    cost="matrices",
    out="eigenvalues",
)
def linalg_eigh_or_values(A: Array, UPLO: str, compute_v: bool) -> tuple[Array, Array]:
    values, vectors = linalg_eigh(A, UPLO)
    return values, vectors if compute_v else np.empty(0, A.dtype)


@operator(
    'aten::linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor',
    autocast="full",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    on_slices="matrices",
)
def linalg_eigvalsh(self: Array, UPLO: str) -> Array:
    return _eigh(self, UPLO, 2, vectors=False)[0]


def _complex(array: Array, like: Array) -> Array:
    wide = like.dtype.itemsize == (16 if like.dtype.kind == "c" else 8)
    return array.astype(np.complex128 if wide else np.complex64, copy=False)


def _check_eigen(self: Array, name: str) -> None:
    check_square(self, f"linalg.{name}")
    check_lapack(self, "linalg_eig_cpu")
    if not np.isfinite(self).all():
        raise OperatorError(f"torch.linalg.{name}: input tensor should not contain infs or NaNs.")


@operator(
    "aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    autocast="full",
    refuses=_NO_COMPLEX_FORM,
    layout="-F",
    prepared=True,
    cost="matrices",
    out_dtype=FIELDS_SAFELY,
    on_slices="matrices",
)
def linalg_eig(self: Array) -> tuple[Array, Array]:
    _check_eigen(self, "eig")
    quick = eigen_general(self, True)
    if quick is not None:
        return quick
    values, vectors = blas.eig(self)
    return _complex(values, self), _complex(vectors, self)


@operator(
    "aten::_linalg_eigvals(Tensor self) -> Tensor",
    out="",
    face="operator",
    prepared=True,
    cost="matrices",
)
@operator(
    "aten::linalg_eigvals(Tensor self) -> Tensor",
    autocast="full",
    refuses=_NO_COMPLEX_FORM,
    prepared=True,
    cost="matrices",
    out_dtype=OutDtype(
        "castable",
        "torch.{name}: Expected eigenvalues to be safely castable from {result} dtype, but "
        "got eigenvalues with dtype {out}",
    ),
    on_slices="matrices",
)
def linalg_eigvals(self: Array) -> Array:
    _check_eigen(self, "eigvals")
    quick = eigen_general(self, False)
    if quick is not None:
        return quick[0]
    return _complex(np.asarray(blas.eigvals(self)), self)


# --------------------------------------------------------------------------- singular values


def _check_svd(A: Array, driver: str | None) -> None:
    check_floating(A, "linalg.svd")
    check_matrix(A, "linalg.svd")
    if driver is not None:
        raise OperatorError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )
    check_lapack(A, "linalg_svd_cpu")
    refuse_not_finite(as_array(~np.isfinite(A).all((-2, -1))))


@operator(
    "aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) "
    "-> (Tensor U, Tensor S, Tensor Vh)",
    autocast="full",
    layout="F-F",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    out="U",
    on_slices="matrices",
)
def linalg_svd(A: Array, full_matrices: bool, driver: str | None) -> tuple[Array, Array, Array]:
    _check_svd(A, driver)
    quick = singular_parts(A, "A" if full_matrices else "S")
    if quick is not None:
        return quick
    u, s, v = blas.svd(A, full_matrices)
    dtype = A.dtype
    return (
        u.astype(dtype, copy=False),
        s.astype(real_dtype(dtype), copy=False),
        v.astype(dtype, copy=False),
    )


@operator(
    "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, "
    "str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    layout="F-F",
    prepared=True,
    cost="matrices",
    out="U",
)
def linalg_svd_or_values(
    A: Array, full_matrices: bool, compute_uv: bool, driver: str | None
) -> tuple[Array, Array, Array]:
    if compute_uv:
        return linalg_svd(A, full_matrices, driver)
    _check_svd(A, driver)
    none = np.empty(0, A.dtype)
    return none, singular_values(A), none.copy()


@operator(
    "aten::svd(Tensor self, bool some=True, bool compute_uv=True) "
    "-> (Tensor U, Tensor S, Tensor V)",
    autocast="full",
    layout="F-C",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    out="U",
)
def svd(self: Array, some: bool, compute_uv: bool) -> tuple[Array, Array, Array]:
    if self.ndim < 2:
        raise OperatorError("linalg.svd: input should have at least 2 dimensions")
    if compute_uv:
        u, s, v = linalg_svd(self, not some, None)
        return u, s, adjoint(v)
    _check_svd(self, None)
    batch, (rows, columns) = self.shape[:-2], self.shape[-2:]
    u, v = (np.zeros((*batch, n, n), self.dtype) for n in (rows, columns))
    return u, singular_values(self), v


# --------------------------------------------------------------------------- tolerances


def _tolerances(
    name: str, A: Array, absolute: Array | float | None, relative: Array | float | None
) -> tuple[Array, Array]:
    """What counts as zero among singular values, absolutely and relatively to the largest.

    The relative default is the precision times the larger size; it is 0 where an absolute one was
    given.
    """
    for word, each in (("atol", absolute), ("rtol", relative)):
        if isinstance(each, np.ndarray) and each.dtype.kind == "c":
            raise OperatorError(
                f"{name}: {word} tensor of complex type is not supported. "
                f"Got {dtype_of(each).scalar_name}",
                code="dtype-mismatch",
            )
    real = real_dtype(A.dtype)
    default = float(np.finfo(real).eps) * max(A.shape[-2:])
    if relative is None:
        positive = np.asarray(0.0 if absolute is None else absolute) > 0
        relative = np.asarray(np.where(positive, 0.0, default))
    atol = np.asarray(0.0 if absolute is None else absolute).astype(real)
    return atol, np.asarray(relative).astype(real)


def _threshold(values: Array, atol: Array, rtol: Array) -> Array:
    largest = values.max(-1, initial=0.0)
    return np.asarray(np.maximum(atol, rtol * largest))[..., None]


def rank_of(A: Array, atol: Array, rtol: Array, hermitian: bool) -> Array:
    check_matrix(A, "torch.linalg.matrix_rank", "input")
    check_lapack(A, "linalg_svd_cpu")
    if not A.size:
        return np.zeros(A.shape[:-2], np.int64)
    values = linalg_eigh(A, "L")[0] if hermitian else singular_values(A)
    native = _of_singular_values(values, atol, rtol)
    if native is not None:
        flat, bounds = values.reshape(-1, values.shape[-1]), (float(atol), float(rtol))
        found: Array = native.ranks(flat, *bounds).reshape(values.shape[:-1])
        return found
    values = np.abs(values)
    return as_array(np.sum(values > _threshold(values, atol, rtol), -1, np.int64))


@operator(
    "aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
    "bool hermitian=False) -> Tensor",
    "aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, "
    "Tensor? rtol=None, bool hermitian=False) -> Tensor",
    autocast="full",
    refuses=_ONLY_FLOATS,
    order="- tol_tensor atol_rtol_tensor atol_rtol_float atol_rtol_tensor_out atol_rtol_float_out",
    prepared=True,
    cost="matrices",
    out_dtype=_OUT_OF_RANKS,
)
def linalg_matrix_rank(
    self: Array, atol: Array | float | None, rtol: Array | float | None, hermitian: bool
) -> Array:
    check_matrix(self, "torch.linalg.matrix_rank", "input")
    return rank_of(self, *_tolerances("torch.linalg.matrix_rank", self, atol, rtol), hermitian)


@operator(
    "aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
    autocast="full",
    refuses=_ONLY_FLOATS,
    out="",
    cost="matrices",
    out_dtype=_OUT_OF_RANKS,
)
@operator(
    "aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
    autocast="full",
    refuses=_ONLY_FLOATS,
    cost="matrices",
    out_dtype=_OUT_OF_RANKS,
)
def linalg_matrix_rank_above(self: Array, tol: Array | float, hermitian: bool) -> Array:
    return linalg_matrix_rank(self, tol, 0.0, hermitian)


# --------------------------------------------------------------------------- pseudo-inverses


def _of_singular_values(values: Array, atol: Array, rtol: Array) -> Any:
    """The kernels for values of which these numbers tell what counts as zero; None if each matrix
    has numbers of its own, or there are none."""
    is_known = values.dtype in (np.float32, np.float64) and values.flags.c_contiguous
    if not is_known or not values.size or atol.ndim or rtol.ndim:
        return None
    return family("decompositions.ranks_of_matrices")


def pseudo_inverse(A: Array, atol: Array, rtol: Array, hermitian: bool) -> Array:
    rows, columns = A.shape[-2:]
    if not A.size:
        return np.zeros((*A.shape[:-2], columns, rows), A.dtype)
    if hermitian:
        check_square(A, "linalg.pinv")
        values, left = linalg_eigh(A, "L")
        right = left
    else:
        left, values, turned = finite_svd(A, vectors=True)
        right = adjoint(turned)
    native = _of_singular_values(values, atol, rtol) if A.dtype == values.dtype else None
    if native is not None:
        flat, bounds = values.reshape(-1, values.shape[-1]), (float(atol), float(rtol))
        part = native.inverses(flat, *bounds).reshape(*values.shape[:-1], 1, values.shape[-1])
        letter = values.dtype.char
        steps = [("multiply", letter, (0, 1))]
        scaled = family("elementwise.arrays").evaluate(steps, letter, right, part)
        return matmul(scaled, adjoint(left))
    sizes = np.abs(values)
    kept = sizes > _threshold(sizes, atol, rtol)
    inverse = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(A.dtype)
    found = np.asarray(blas.matmul(right * inverse[..., None, :], adjoint(left)))
    return found.astype(A.dtype, copy=False)


@operator(
    "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
    "bool hermitian=False) -> Tensor",
    "aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
    "bool hermitian=False) -> Tensor",
    order=(
        "- atol_rtol_float atol_rtol_tensor atol_rtol_tensor_out atol_rtol_float_out out "
        "rcond_tensor"
    ),
    prepared=True,
    cost="matrices",
    out_dtype=SAFELY,
)
def linalg_pinv(
    self: Array, atol: Array | float | None, rtol: Array | float | None, hermitian: bool
) -> Array:
    if self.ndim < 2 or self.dtype.char not in "fdFD":
        raise OperatorError(
            f"linalg.pinv({dtype_of(self).scalar_name}{{{list(self.shape)}}}): expected a tensor "
            "with 2 or more dimensions of float, double, cfloat or cdouble types"
        )
    return pseudo_inverse(self, *_tolerances("torch.linalg.pinv", self, atol, rtol), hermitian)


@operator(
    "aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
    out="",
    cost="matrices",
    out_dtype=SAFELY,
)
@operator(
    "aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
    cost="matrices",
    out_dtype=SAFELY,
)
def linalg_pinv_above(self: Array, rcond: Array | float, hermitian: bool) -> Array:
    if isinstance(rcond, np.ndarray) and rcond.dtype.kind == "c":
        raise OperatorError(
            "torch.linalg.pinv: rcond tensor of complex type is not supported. "
            f"Got {dtype_of(rcond).scalar_name}",
            code="dtype-mismatch",
        )
    return linalg_pinv(self, None, rcond, hermitian)


@operator(
    "aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor",
    autocast="full",
    out="",
    cost="matrices",
)
def pinverse(self: Array, rcond: float) -> Array:
    return linalg_pinv(self, None, rcond, False)


# --------------------------------------------------------------------------- powers and tensors


@operator(
    "aten::matrix_power(Tensor self, int n) -> Tensor",
    first_name="linalg_matrix_power",
    cost="matrices",
    prepared=True,
)
@operator(
    "aten::linalg_matrix_power(Tensor self, int n) -> Tensor",
    prepared=True,
    cost="matrices",
    out_dtype=_OUT_OF_LINALG_MATRIX_POWER,
    out_layout="C",
    on_slices="matrices",
)
def linalg_matrix_power(self: Array, n: int) -> Array:
    check_square(self, "linalg.matrix_power")
    if n < 0:
        inverse = linalg_inv(self)
        return inverse if n == -1 else matrix_power(inverse, -n)
    return matrix_power(self, n)


@operator(
    "aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
    autocast="full",
    refuses=Refusal("", fails=("h", "linalg.inv: Low precision dtypes not supported. Got {word}")),
    cost="matrices",
    out_dtype=_OUT_OF_LINALG_MATRIX_POWER,
    out_layout="C",
)
def linalg_tensorinv(self: Array, ind: int) -> Array:
    """The inverse of a tensor that is square once its first `ind` dimensions are one."""
    if ind <= 0:
        raise OperatorError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, rest = self.shape[:ind], self.shape[ind:]
    if prod(first) != prod(rest):
        raise OperatorError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {prod(rest)} != {prod(first)}",
            code="shape-mismatch",
        )
    return linalg_inv(self.reshape(prod(first), prod(rest))).reshape(rest + first)


@operator(
    "aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    autocast="full",
    cost="matrices",
    out_dtype=_OUT_OF_LINALG_MATRIX_POWER,
)
def linalg_tensorsolve(self: Array, other: Array, dims: Sequence[int] | None) -> Array:
    """X with `tensordot(self, X, X.ndim) == other`; `dims` are moved to the end before."""
    if dims is not None:
        moved = [wrap_dim(d, self.ndim) for d in dims]
        self = np.moveaxis(self, moved, range(self.ndim - len(moved), self.ndim))
    shape = self.shape[other.ndim :]
    if prod(shape) != other.size:
        raise OperatorError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {prod(shape)} != {other.size}",
            code="shape-mismatch",
        )
    return linalg_solve(self.reshape(other.size, prod(shape)), other.reshape(-1), True).reshape(
        shape
    )
