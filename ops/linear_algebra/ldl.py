"""LDL factorisation of symmetric and Hermitian matrices, by Bunch and Kaufman's pivoting.

Real matrices are LAPACK's.  Of others, the steps are those of its sytf2, hetf2 and sytrs (lower
triangles): each takes one or two columns, and which depends on the numbers, so matrices are treated
one by one.
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels import blas, written_by_numpy
from ..kernels.lapack import no_errors
from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..table.out_dtypes import SAME
from ..table.refusals import Refusal
from ..table.table import operator
from .decompositions import ldl_factors, solved_by_ldl
from .matrix_checks import (
    LinAlgError,
    batch_prefix,
    check_floating,
    check_lapack,
    check_matrix,
    check_same_dtype,
    check_square,
)

_ALPHA = (1 + math.sqrt(17)) / 8


def _sizes(values: Array) -> Array:
    return np.asarray(np.abs(values.real) + np.abs(values.imag))


def _largest(values: Array) -> tuple[int, float]:
    sizes = _sizes(values)
    place = int(sizes.argmax())
    return place, float(sizes[place])


def _pivot(a: Array, k: int, hermitian: bool) -> tuple[int, int]:
    """The row to exchange with, and how many columns the step takes; -1 if all is zero."""
    here = abs(float(a[k, k].real)) if hermitian else float(_sizes(a[k, k]))
    row, column_most = k, 0.0
    if k + 1 < len(a):
        place, column_most = _largest(a[k + 1 :, k])
        row = k + 1 + place
    if max(here, column_most) == 0 or math.isnan(here):
        return -1, 1
    if here >= _ALPHA * column_most:
        return k, 1
    row_most = _largest(a[row, k:row])[1]
    if row + 1 < len(a):
        row_most = max(row_most, _largest(a[row + 1 :, row])[1])
    if here >= _ALPHA * column_most * (column_most / row_most):
        return k, 1
    there = abs(float(a[row, row].real)) if hermitian else float(_sizes(a[row, row]))
    return (row, 1) if there >= _ALPHA * row_most else (row, 2)


def _exchange(a: Array, k: int, first: int, second: int, hermitian: bool) -> None:
    """Exchange two rows and columns of a lower triangle; `first` < `second`."""
    below = a[second + 1 :, first].copy()
    a[second + 1 :, first] = a[second + 1 :, second]
    a[second + 1 :, second] = below
    between = a[first + 1 : second, first].copy()
    across = a[second, first + 1 : second].copy()
    if hermitian:
        between, across = np.conj(between), np.conj(across)
        a[second, first] = np.conj(a[second, first])
    a[first + 1 : second, first] = across
    a[second, first + 1 : second] = between
    a[first, first], a[second, second] = a[second, second].copy(), a[first, first].copy()
    if first > k:
        a[first, k], a[second, k] = a[second, k].copy(), a[first, k].copy()


def _one_column(a: Array, k: int, hermitian: bool) -> None:
    below = a[k + 1 :, k]
    scaled = below / (a[k, k].real if hermitian else a[k, k])
    a[k + 1 :, k + 1 :] -= np.tril(np.outer(scaled, np.conj(below) if hermitian else below))
    a[k + 1 :, k] = scaled


def _two_columns(a: Array, k: int, hermitian: bool) -> None:
    block = _block(a, k, hermitian)
    columns = a[k + 2 :, k : k + 2].copy()
    scaled = blas.solve(block.T, columns.T).T if columns.size else columns
    other = np.conj(columns) if hermitian else columns
    a[k + 2 :, k + 2 :] -= np.tril(blas.matmul(scaled, other.T))
    a[k + 2 :, k : k + 2] = scaled


def _block(a: Array, k: int, hermitian: bool) -> Array:
    corner = a[k + 1, k]
    mirrored = np.conj(corner) if hermitian else corner
    return np.array([[a[k, k], mirrored], [corner, a[k + 1, k + 1]]], a.dtype)


def _factor(matrix: Array, hermitian: bool) -> tuple[Array, Array, int]:
    """L and D in one lower triangle, the exchanges (from 1, negative in pairs), the first zero."""
    a = np.tril(matrix)
    pivots = np.zeros(len(a), np.int32)
    first_zero, k = 0, 0
    while k < len(a):
        row, width = _pivot(a, k, hermitian)
        if row < 0:
            first_zero = first_zero or k + 1
            row = k
        else:
            if row != k + width - 1:
                _exchange(a, k, k + width - 1, row, hermitian)
            if hermitian:
                places = range(k, k + width)
                a[places, places] = a[places, places].real
            (_one_column if width == 1 else _two_columns)(a, k, hermitian)
        pivots[k : k + width] = row + 1 if width == 1 else -(row + 1)
        k += width
    return a, pivots, first_zero


def _factors(self: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    quick = ldl_factors(self)
    if quick is not None:
        return *quick, no_errors(self.shape[:-2])
    written_by_numpy()
    size, batch = self.shape[-1], self.shape[:-2]
    count = math.prod(batch)
    factors = np.empty((count, size, size), self.dtype)
    pivots = np.empty((count, size), np.int32)
    info = np.zeros(count, np.int32)
    for i, matrix in enumerate(self.reshape(count, size, size)):
        factors[i], pivots[i], info[i] = _factor(matrix, hermitian and self.dtype.kind == "c")
    return factors.reshape(self.shape), pivots.reshape(*batch, size), info.reshape(batch)


@operator(
    "aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) "
    "-> (Tensor LD, Tensor pivots, Tensor info)",
    layout="F--",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
)
def linalg_ldl_factor_ex(
    self: Array, hermitian: bool, check_errors: bool
) -> tuple[Array, Array, Array]:
    check_square(self, "torch.linalg.ldl_factor_ex")
    check_floating(self, "torch.linalg.ldl_factor_ex")
    check_lapack(self, "ldl_factor_cpu")
    factors, pivots, info = _factors(self, hermitian)
    if check_errors and info.any():
        raise _zero_block(info, "torch.linalg.ldl_factor_ex")
    return factors, pivots, info


def _zero_block(info: Array, name: str) -> LinAlgError:
    prefix, place = batch_prefix(info)
    return LinAlgError(
        f"{name}: {prefix}D[{place},{place}] is zero",
        headline=f"the matrix is singular: element {place} of D's diagonal is zero",
    )


@operator(
    "aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    layout="F-",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
)
def linalg_ldl_factor(self: Array, hermitian: bool) -> tuple[Array, Array]:
    factors, pivots, info = linalg_ldl_factor_ex(self, hermitian, False)
    if info.any():
        raise _zero_block(info, "torch.linalg.ldl_factor")
    return factors, pivots


# --------------------------------------------------------------------------- solving


def _steps(pivots: Array) -> list[tuple[int, int, int]]:
    """The steps of a factorisation: column, width, the row exchanged with the last column."""
    steps, k, size = [], 0, len(pivots)
    while k < size:
        width, row = 1 if pivots[k] > 0 else 2, abs(int(pivots[k]))
        if not 1 <= row <= size or k + width > size:
            raise LinAlgError(
                f"torch.linalg.ldl_solve: pivots[{k}] is {int(pivots[k])}, which"
                f" torch.linalg.ldl_factor gives for no matrix of {size} rows"
            )
        steps.append((k, width, row - 1))
        k += width
    return steps


def _solve(a: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    x = b.copy()
    steps = _steps(pivots)
    for k, width, row in steps:
        x[[k + width - 1, row]] = x[[row, k + width - 1]]
        x[k + width :] -= blas.matmul(a[k + width :, k : k + width], x[k : k + width])
        if width == 1:
            x[k] /= a[k, k].real if hermitian else a[k, k]
        else:
            x[k : k + 2] = blas.solve(_block(a, k, hermitian), x[k : k + 2])
    for k, width, row in reversed(steps):
        turned = a[k + width :, k : k + width].T
        x[k : k + width] -= blas.matmul(np.conj(turned) if hermitian else turned, x[k + width :])
        x[[k + width - 1, row]] = x[[row, k + width - 1]]
    return x


@operator(
    "aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    refuses=Refusal("h", "ldl_solve_kernel_cpu"),
    layout="F",
    cost="matrices",
    out_dtype=SAME,
)
def linalg_ldl_solve(LD: Array, pivots: Array, B: Array, hermitian: bool) -> Array:
    name = "torch.linalg.ldl_solve"
    check_square(LD, name, "LD")
    check_floating(LD, name)
    check_matrix(B, name, "B")
    check_same_dtype(LD, B, name, ("LD", "B"))
    if pivots.dtype.kind not in "iu":
        raise OperatorError(
            f"{name}: Expected pivots to be integers. Got {dtype_of(pivots).scalar_name}",
            code="dtype-mismatch",
        )
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    size, columns = B.shape[-2:]
    count = math.prod(batch)
    quick = solved_by_ldl(LD, pivots, B) if LD.shape[:-1] == pivots.shape else None
    if quick is not None:
        return quick
    a = np.broadcast_to(LD, (*batch, size, size)).reshape(count, size, size)
    p = np.broadcast_to(pivots, (*batch, size)).reshape(count, size)
    b = np.broadcast_to(B, (*batch, size, columns)).reshape(count, size, columns)
    found = np.empty_like(b)
    for i in range(count):
        found[i] = _solve(a[i], p[i], b[i], hermitian and LD.dtype.kind == "c")
    return found.reshape(*batch, size, columns)
