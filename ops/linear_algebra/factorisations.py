"""Cholesky and QR factorisations, products of reflections, and what is solved with them."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np

from ..kernels import blas
from ..kernels.lapack import no_errors
from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..table.out_dtypes import FIELDS_SAFELY, SAFELY, SAME, OutDtype
from ..table.refusals import Refusal
from ..table.table import operator
from .decompositions import (
    inverse_of_cholesky,
    lower_factor,
    products_of_reflections,
    qr_parts,
    reflected,
    reflections,
    solved_by_cholesky,
)
from .matrix_checks import (
    LinAlgError,
    batch_prefix,
    check_floating,
    check_lapack,
    check_matrix,
    check_operands,
    check_square,
)
from .small_systems import MOST, identity, small_cholesky
from .substitution import solve_triangular
from .triangular import adjoint, not_invertible

_NO_CHOLESKY: Final = Refusal(
    "",
    fails=(
        "biu",
        "linalg.cholesky: Expected a floating point or complex tensor as input. Got {word}",
    ),
)


# --------------------------------------------------------------------------- Cholesky


def _minor(matrix: Array) -> tuple[Array, int]:
    """L as far as it goes, and the order of the leading minor that is not positive (0 for none)."""
    lower = np.tril(matrix)
    size = len(matrix)
    for k in range(size):
        row = lower[k, :k]
        pivot = (lower[k, k] - (row * np.conj(row)).sum()).real
        if not pivot > 0:
            return lower, k + 1
        lower[k, k] = np.sqrt(pivot)
        lower[k + 1 :, k] -= blas.matmul(lower[k + 1 :, :k], np.conj(row))
        lower[k + 1 :, k] /= lower[k, k]
    return lower, 0


def _cholesky(matrices: Array, upper: bool) -> tuple[Array, Array]:
    """The lower (or upper) factors, and for each matrix the minor that is not positive."""
    batch = matrices.shape[:-2]
    if not matrices.size:
        return matrices.copy(), np.zeros(batch, np.int32)
    lower_half = adjoint(matrices) if upper else matrices
    info = np.zeros(batch, np.int32)
    quick = small_cholesky(lower_half)
    if quick is None:
        quick = lower_factor(lower_half)
    if quick is not None:
        return adjoint(quick) if upper else quick, no_errors(batch)
    try:
        factors = np.asarray(blas.cholesky(lower_half))
        is_whole = not np.isnan(factors.diagonal(0, -2, -1)).any()  # LAPACK lets NaN through
    except np.linalg.LinAlgError:
        is_whole = False
    if not is_whole:
        flat = lower_half.reshape(-1, *matrices.shape[-2:])
        found = [_minor(matrix) for matrix in flat]
        factors = np.stack([f for f, _ in found]).reshape(matrices.shape)
        info = np.array([order for _, order in found], np.int32).reshape(batch)
    return (adjoint(factors) if upper else factors).astype(matrices.dtype, copy=False), info


def _not_positive(info: Array, name: str) -> LinAlgError:
    prefix, order = batch_prefix(info)
    return LinAlgError(
        f"{name}: {prefix}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {order} is not positive-definite).",
        headline=f"the matrix is not positive-definite: its leading minor of order {order} is not",
    )


@operator(
    "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) "
    "-> (Tensor L, Tensor info)",
    autocast="full",
    refuses=_NO_CHOLESKY,
    layout="F-",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    out="L",
    on_slices="matrices",
)
def linalg_cholesky_ex(self: Array, upper: bool, check_errors: bool) -> tuple[Array, Array]:
    check_square(self, "linalg.cholesky")
    check_lapack(self, "cholesky_cpu")
    factors, info = _cholesky(self, upper)
    if check_errors and info.any():
        raise _not_positive(info, "linalg.cholesky_ex")
    return factors, info


@operator(
    "aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    autocast="full",
    prepared=True,
    refuses=_NO_CHOLESKY,
    layout="F",
    cost="matrices",
    out_dtype=SAME,
    on_slices="matrices",
)
def linalg_cholesky(self: Array, upper: bool) -> Array:
    factors, info = linalg_cholesky_ex(self, upper, False)
    if info.any():
        raise _not_positive(info, "linalg.cholesky")
    return factors


@operator(
    "aten::cholesky(Tensor self, bool upper=False) -> Tensor",
    autocast="full",
    layout="f",
    prepared=True,
    cost="matrices",
    out_dtype=SAFELY,
    out_layout="C",
)
def cholesky(self: Array, upper: bool) -> Array:
    check_square(self, "cholesky")
    check_lapack(self, "cholesky_cpu")
    factors, info = _cholesky(self, upper)
    if info.any():
        raise _not_positive(info, "cholesky")
    return factors


def _by_cholesky(b: Array, factors: Array, upper: bool) -> Array:
    lower = adjoint(factors) if upper else factors
    if lower.shape[-1] > MOST:
        quick = solved_by_cholesky(lower, b)
        if quick is not None:
            return quick
    return solve_triangular(adjoint(lower), solve_triangular(lower, b, False), True)


@operator(
    "aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    autocast="full",
    prepared=True,
    layout="F",
    cost="matrices",
    out_dtype=SAFELY,
    out_layout="C",
)
def cholesky_solve(self: Array, input2: Array, upper: bool) -> Array:
    for array, name in ((self, "b"), (input2, "u")):
        if array.ndim < 2:
            raise OperatorError(
                f"{name} should have at least 2 dimensions, but has {array.ndim} dimensions "
                "instead",
                code="shape-mismatch",
            )
    check_operands(self, input2, "cholesky_solve")
    check_lapack(self, "cholesky_solve_cpu")
    return _by_cholesky(self, input2, upper)


@operator(
    "aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    autocast="full",
    layout="F",
    prepared=True,
    cost="matrices",
    out_dtype=SAFELY,
)
def cholesky_inverse(self: Array, upper: bool) -> Array:
    check_square(self, "cholesky_inverse")
    check_lapack(self, "cholesky_inverse_out_cpu")
    quick = inverse_of_cholesky(adjoint(self) if upper else self)
    if quick is not None:
        return quick
    zeros = np.diagonal(self, 0, -2, -1) == 0
    if zeros.any():
        raise not_invertible((np.argmax(zeros, -1) + 1) * zeros.any(-1), "cholesky_inverse")
    ones = identity(self.shape[-1], self.dtype)
    return _by_cholesky(ones, self, upper)


# --------------------------------------------------------------------------- QR

_MODES = ("reduced", "complete", "r")


@operator(
    'aten::linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R)',
    autocast="full",
    layout="FF",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    on_slices="matrices",
)
def linalg_qr(A: Array, mode: str) -> tuple[Array, Array]:
    check_floating(A, "linalg.qr")
    check_matrix(A, "linalg.qr")
    if mode not in _MODES:
        raise OperatorError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            "or 'complete'"
        )
    check_lapack(A, "geqrf_cpu")
    if mode == "r":
        return np.empty(0, A.dtype), _qr(A, "r")[0]
    q, r = _qr(A, mode)
    return q, r


def _qr(A: Array, mode: str) -> tuple[Array, ...]:
    quick = reflections(A) if mode == "raw" else qr_parts(A, mode)
    if quick is not None:
        return quick
    found: Any = blas.qr(A, cast(Any, mode))
    parts = found if isinstance(found, tuple) else (found,)
    if mode == "raw":
        parts = parts[0].swapaxes(-1, -2), parts[1]
    return tuple(np.asarray(part).astype(A.dtype, copy=False) for part in parts)


@operator(
    "aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    autocast="full",
    layout="FF",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    out="Q",
)
def qr(self: Array, some: bool) -> tuple[Array, Array]:
    return linalg_qr(self, "reduced" if some else "complete")


@operator(
    "aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    autocast="full",
    layout="F-",
    prepared=True,
    cost="matrices",
    out_dtype=FIELDS_SAFELY,
    out="a",
)
def geqrf(self: Array) -> tuple[Array, Array]:
    if self.ndim < 2:
        raise OperatorError("torch.geqrf: input must have at least 2 dimensions.")
    check_lapack(self, "geqrf_cpu")
    found, tau = _qr(self, "raw")
    return found, tau


# --------------------------------------------------------------------------- reflections


def _reflect(target: Array, reflections: Array, tau: Array, i: int) -> None:
    """Apply the i-th reflection, I - tau v v^H, from the left, in place."""
    rows = target[..., i:, :]
    v = reflections[..., i:, i, None].copy()
    v[..., 0, :] = 1
    rows -= blas.matmul(tau[..., i, None, None] * v, blas.matmul(adjoint(v), rows))


def _check_batch(name: str, input: Array, other: Array, word: str, fewer: int) -> None:
    """Refuse what belongs to other batches than the input's, with as many dimensions or fewer."""
    if other.ndim != input.ndim - fewer:
        wanted = "one dimension less than" if fewer else "the same number of dimensions as"
        raise OperatorError(
            f"{name}: Expected {word} to have {wanted} input, but got {word}.ndim equal to "
            f"{other.ndim} and input.ndim is equal to {input.ndim}",
            code="shape-mismatch",
        )
    batch = other.shape[: input.ndim - 2]
    if batch != input.shape[:-2]:
        raise OperatorError(
            f"{name}: Expected batch dimensions of {word} to be equal to input.shape[:-2], but "
            f"got {list(batch)}",
            code="shape-mismatch",
        )


def _check_reflections(input: Array, tau: Array) -> None:
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise OperatorError(f"{name}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise OperatorError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if input.shape[-1] < tau.shape[-1]:
        raise OperatorError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    _check_batch(name, input, tau, "tau", 1)
    if tau.dtype != input.dtype:
        raise OperatorError(
            f"{name}: tau dtype {dtype_of(tau).scalar_name} does not match input dtype "
            f"{dtype_of(input).scalar_name}",
            code="dtype-mismatch",
        )


@operator(
    "aten::orgqr(Tensor self, Tensor input2) -> Tensor",
    first_name="linalg_householder_product",
    autocast="full",
    layout="F",
    prepared=True,
    cost="matrices",
)
@operator(
    "aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    autocast="full",
    layout="F",
    prepared=True,
    cost="matrices",
    out_dtype=OutDtype(
        "castable",
        "torch.{name}: Expected result to be safely castable from {result} dtype, but got "
        "result with dtype {out}",
    ),
)
def linalg_householder_product(input: Array, tau: Array) -> Array:
    _check_reflections(input, tau)
    check_lapack(input, "orgqr_cpu")
    quick = products_of_reflections(input, tau)
    if quick is not None:
        return quick
    ones = np.eye(*input.shape[-2:], dtype=input.dtype)
    product = np.broadcast_to(ones, input.shape).copy()
    for i in reversed(range(tau.shape[-1])):
        _reflect(product, input, tau, i)
    return product


def _check_ormqr(self: Array, tau: Array, other: Array, left: bool) -> None:
    name = "torch.ormqr"
    for word, array in (("input", self), ("other", other)):
        if array.ndim < 2:
            raise OperatorError(f"{name}: {word} must have at least 2 dimensions.")
    place = -2 if left else -1
    if other.shape[place] != self.shape[-2]:
        raise OperatorError(f"{name}: other.shape[{place}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[place], self.shape[-1]):
        raise OperatorError(
            f"{name}: tau.shape[-1] must be equal to min(other.shape[{place}], input.shape[-1])"
        )
    _check_batch(name, self, tau, "tau", 1)
    _check_batch(name, self, other, "other", 0)
    for word, array in (("tau", tau), ("other", other)):
        if array.dtype != self.dtype:
            raise OperatorError(
                f"{name}: Expected input and {word} to have the same dtype, but input has dtype"
                f"{dtype_of(self).scalar_name} and {word} has dtype {dtype_of(array).scalar_name}",
                code="dtype-mismatch",
            )


@operator(
    "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) "
    "-> Tensor",
    autocast="full",
    layout="F",
    prepared=True,
    cost="matrices",
    out_dtype=OutDtype(
        "same",
        "torch.ormqr: Expected input and result to have the same dtype, but input has "
        "dtype{result} and result has dtype {out}",
    ),
)
def ormqr(self: Array, input2: Array, input3: Array, left: bool, transpose: bool) -> Array:
    """The product of a matrix with the whole Q that reflections stand for."""
    _check_ormqr(self, input2, input3, left)
    check_lapack(self, "ormqr_cpu")
    quick = reflected(self, input2, input3, left, transpose)
    if quick is not None:
        return quick
    target = (input3 if left else adjoint(input3)).copy()
    adjointly = transpose == left
    tau = np.conj(input2) if adjointly else input2
    steps = range(input2.shape[-1])
    for i in steps if adjointly else reversed(steps):
        _reflect(target, self, tau, i)
    return target if left else adjoint(target)
