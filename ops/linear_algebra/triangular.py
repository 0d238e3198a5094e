"""LU factorisation, and what is solved with it or with triangular matrices.

The algorithms are LAPACK's; they go column by column over a whole batch at once.
"""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ..kernels import blas, family
from ..kernels.lapack import can, no_errors
from ..memory.dtype import Array, Dtype
from ..memory.errors import OperatorError
from ..table.layouts import column_major
from ..table.out_dtypes import AS_EXPECTED, SAME
from ..table.refusals import Refusal
from ..table.table import operator
from .decompositions import (
    copied_by_columns,
    inverted,
    lu_factors,
    lu_parts,
    solved_by_factors,
    solved_squares,
)
from .matrix_checks import (
    LinAlgError,
    batch_prefix,
    check_floating,
    check_lapack,
    check_matrix,
    check_operands,
    check_same_dtype,
    check_square,
)
from .small_systems import MOST, identity, small_factors, solved_small
from .substitution import solve_triangular

__all__ = ["adjoint", "is_vector", "lu_factor", "solve_square"]

_NO_INVERSE: Final = Refusal(
    "", fails=("h", "linalg.inv: Low precision dtypes not supported. Got {word}")
)


def adjoint(array: Array) -> Array:
    """The conjugate transposes of matrices."""
    turned = array.swapaxes(-1, -2)
    return np.conj(turned) if array.dtype.kind == "c" else turned


def _sizes(array: Array) -> Array:
    """How pivots are compared: |re| + |im|, as LAPACK does."""
    return np.abs(array.real) + np.abs(array.imag) if array.dtype.kind == "c" else np.abs(array)


# --------------------------------------------------------------------------- factors


def lu_factor(matrices: Array) -> tuple[Array, Array, Array]:
    """L and U in one matrix, the rows exchanged in each step (from 1), and where U is 0 first."""
    rows, columns = matrices.shape[-2:]
    batch = matrices.shape[:-2]
    quick = small_factors(matrices)
    if quick is None:
        quick = lu_factors(matrices)
    if quick is not None:
        return *quick, no_errors(batch)
    native = family("decompositions.factors")
    found = None if native is None else native.factored(matrices)
    if found is not None:
        made: tuple[Array, Array, Array] = found
        return made
    work = matrices.reshape(prod(batch), rows, columns).copy()
    count = min(rows, columns)
    pivots = np.empty((len(work), count), np.int32)
    info = np.zeros(len(work), np.int32)
    for first in range(0, count, _PANEL):
        last = min(first + _PANEL, count)
        _factor_panel(work, pivots, info, first, last)
        _update_right(work, first, last)
    return work.reshape(matrices.shape), pivots.reshape(*batch, count), info.reshape(batch)


_PANEL: Final = 32
"""Columns that are factored one by one before what is right of them is updated by a product."""


def _factor_panel(work: Array, pivots: Array, info: Array, first: int, last: int) -> None:
    """Factor the columns from `first` to `last` of matrices whose columns before are done; rows are
    exchanged as wholes."""
    each = np.arange(len(work))
    for k in range(first, last):
        chosen = _sizes(work[:, k:, k]).argmax(1) + k
        pivots[:, k] = chosen + 1
        row = work[each, chosen].copy()
        work[each, chosen] = work[:, k]
        work[:, k] = row
        pivot = row[:, k]
        zero = pivot == 0
        info[zero & (info == 0)] = k + 1
        work[:, k + 1 :, k] /= np.where(zero, 1, pivot)[:, None]
        work[:, k + 1 :, k + 1 : last] -= work[:, k + 1 :, k, None] * work[:, k, None, k + 1 : last]


def _update_right(work: Array, first: int, last: int) -> None:
    """What is right of factored columns: their rows of U, and what is left below these."""
    if last == work.shape[-1]:
        return
    for k in range(first + 1, last):
        work[:, k : k + 1, last:] -= blas.matmul(
            work[:, k : k + 1, first:k], work[:, first:k, last:]
        )
    work[:, last:, last:] -= blas.matmul(work[:, last:, first:last], work[:, first:last, last:])


def _permutation(pivots: Array, rows: int) -> Array:
    """The rows of the factored matrices in their order after all exchanges."""
    count = prod(pivots.shape[:-1])
    flat = pivots.reshape(count, pivots.shape[-1])
    order = np.broadcast_to(np.arange(rows), (count, rows)).copy()
    each = np.arange(count)
    for k in range(pivots.shape[-1]):
        other = flat[:, k] - 1
        first = order[:, k].copy()
        order[:, k] = order[each, other]
        order[each, other] = first
    return order.reshape(*pivots.shape[:-1], rows)


def _permutation_matrix(pivots: Array, rows: int, dtype: Dtype) -> Array:
    order = _permutation(pivots, rows)
    return np.asarray(order[..., None, :] == np.arange(rows)[:, None]).astype(dtype)


def _lower_and_upper(factors: Array) -> tuple[Array, Array]:
    rows, columns = factors.shape[-2:]
    count = min(rows, columns)
    lower = np.tril(factors[..., :count], -1) + np.eye(rows, count, dtype=factors.dtype)
    return lower.astype(factors.dtype, copy=False), np.triu(factors[..., :count, :])


def _check_pivot(pivot: bool) -> None:
    if not pivot:
        raise OperatorError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def _check_factorable(A: Array, name: str) -> None:
    if A.ndim < 2:
        raise OperatorError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead",
            code="shape-mismatch",
        )
    check_lapack(A, "lu_cpu")


@operator(
    "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    layout="F--",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
)
def linalg_lu_factor_ex(A: Array, pivot: bool, check_errors: bool) -> tuple[Array, Array, Array]:
    _check_factorable(A, "torch.lu_factor_ex")
    _check_pivot(pivot)
    factors, pivots, info = lu_factor(A)
    if check_errors and info.any():
        raise _zero_pivot(info, "torch.linalg.lu_factor_ex")
    return factors, pivots, info


def _zero_pivot(info: Array, name: str) -> OperatorError:
    prefix, k = batch_prefix(info)
    return OperatorError(
        f"{name}: {prefix}U[{k},{k}] is zero and using it on lu_solve would result in a division "
        "by zero. If you still want to perform the factorization, consider calling "
        "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
        headline=f"the matrix is singular: element {k} of U's diagonal is zero",
    )


@operator(
    "aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    prepared=True,
    layout="F-",
    cost="matrices",
    out_dtype=SAME,
)
def linalg_lu_factor(A: Array, pivot: bool) -> tuple[Array, Array]:
    _check_factorable(A, "torch.lu_factor_ex")
    _check_pivot(pivot)
    factors, pivots, info = lu_factor(A)
    if info.any():
        raise _zero_pivot(info, "torch.linalg.lu_factor")
    return factors, pivots


@operator(
    "aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    autocast="full",
    layout="F--",
    prepared=True,
    cost="matrices",
    out="",
)
def lu_with_info(self: Array, pivot: bool, check_errors: bool) -> tuple[Array, Array, Array]:
    return linalg_lu_factor_ex(self, pivot, check_errors)


@operator(
    "aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
)
def linalg_lu(A: Array, pivot: bool) -> tuple[Array, Array, Array]:
    _check_factorable(A, "linalg.lu")
    _check_pivot(pivot)
    factors, pivots, _ = lu_factor(A)
    quick = lu_parts(factors, pivots)
    if quick is not None:
        return quick
    lower, upper = _lower_and_upper(factors)
    return _permutation_matrix(pivots, A.shape[-2], A.dtype), lower, upper


@operator(
    "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, "
    "bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    layout="CCC",
)
def lu_unpack(
    LU_data: Array, LU_pivots: Array, unpack_data: bool, unpack_pivots: bool
) -> tuple[Array, Array, Array]:
    if LU_data.ndim < 2:
        raise OperatorError(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(LU_data.shape)} instead",
            code="shape-mismatch",
        )
    if unpack_pivots and LU_pivots.dtype != np.int32:
        raise OperatorError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor",
            code="dtype-mismatch",
        )
    if unpack_pivots and not _are_rows(LU_pivots, LU_data.shape[-2]):
        raise OperatorError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )
    none = np.empty(0, LU_data.dtype)
    lower, upper = _lower_and_upper(LU_data) if unpack_data else (none, none)
    if not unpack_pivots:
        return none, lower, upper
    return _permutation_matrix(LU_pivots, LU_data.shape[-2], LU_data.dtype), lower, upper


# --------------------------------------------------------------------------- triangular systems


def _check_shapes(a: Array, b: Array, left: bool, name: str) -> None:
    """Raise unless the sizes and the batches of an equation fit."""
    if a.shape[-1] != b.shape[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise OperatorError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} "
            f"({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})",
            code="shape-mismatch",
            headline=f"matrices of shapes {list(a.shape)} and {list(b.shape)} make no equation",
        )
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise OperatorError(
            f"The size of tensor a ({a.shape[0]}) must match the size of tensor b ({b.shape[0]}) "
            "at non-singleton dimension 0",
            code="shape-mismatch",
        ) from None


@operator(
    "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor",
    prepared=True,
    layout="F",
    cost="matrices",
    out_dtype=AS_EXPECTED,
)
def linalg_solve_triangular(
    self: Array, B: Array, upper: bool, left: bool, unitriangular: bool
) -> Array:
    name = "linalg.solve_triangular"
    check_same_dtype(self, B, name)
    check_square(self, name)
    check_matrix(B, name, "B")
    _check_shapes(self, B, left, name)
    check_lapack(self, "triangular_solve_cpu")
    if left:
        return solve_triangular(self, B, upper, unitriangular)
    turned = solve_triangular(self.swapaxes(-1, -2), B.swapaxes(-1, -2), not upper, unitriangular)
    return turned.swapaxes(-1, -2)


@operator(
    "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    autocast="full",
    layout="FF",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    out="X X M",
)
def triangular_solve(
    self: Array, A: Array, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Array, Array]:
    for array, name in ((self, "b"), (A, "A")):
        if array.ndim < 2:
            raise OperatorError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it "
                f"has {array.ndim} dimensions instead",
                code="shape-mismatch",
            )
    check_operands(self, A, "triangular_solve")
    check_lapack(A, "triangular_solve_cpu")
    a = A.swapaxes(-1, -2) if transpose else A
    batch = np.broadcast_shapes(self.shape[:-2], A.shape[:-2])
    found = solve_triangular(a, self, upper != transpose, unitriangular)
    whole = np.broadcast_to(A, (*batch, *A.shape[-2:]))
    return found, copied_by_columns(whole) if can(A) else whole.copy()


# --------------------------------------------------------------------------- square systems


def _by_factors(factors: Array, pivots: Array, b: Array, adjointly: bool = False) -> Array:
    """X of A X = B, or A^H X = B, for factored matrices."""
    quick = None if factors.dtype.kind == "c" else solved_by_factors(factors, pivots, b, adjointly)
    if quick is not None:
        return quick
    order = _permutation(pivots, factors.shape[-1])
    batch = np.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
    order = np.broadcast_to(order, (*batch, order.shape[-1]))
    if adjointly:
        turned = adjoint(factors)
        x = solve_triangular(turned, solve_triangular(turned, b, False), True, True)
        back = np.argsort(order, -1)
        return np.take_along_axis(x, back[..., None], -2)
    b = np.take_along_axis(b, order[..., None], -2)
    return solve_triangular(factors, solve_triangular(factors, b, False, True), True)


def _are_rows(pivots: Array, count: int) -> bool:
    return bool(((pivots >= 1) & (pivots <= count)).all())


def _check_pivots(LU: Array, pivots: Array) -> None:
    """Refuse what `lu_factor` has not made for these matrices."""
    if pivots.shape[-1:] != LU.shape[-1:]:
        raise OperatorError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the "
            "matrix",
            code="shape-mismatch",
        )
    if pivots.shape != LU.shape[:-1]:
        raise OperatorError(
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got "
            f"pivots with shape {list(pivots.shape)} instead",
            code="shape-mismatch",
        )
    if not _are_rows(pivots, LU.shape[-2]):
        end = "greater or equal to 1" if (pivots < 1).any() else "smaller or equal to LU.size(-2)"
        raise OperatorError(
            f"Pivots given to lu_solve must all be {end}. "
            "Did you properly pass the result of lu_factor?"
        )


@operator(
    "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, "
    "bool adjoint=False) -> Tensor",
    refuses=Refusal("h", "linalg.lu_solve_cpu"),
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
)
def linalg_lu_solve(LU: Array, pivots: Array, B: Array, left: bool, adjointly: bool) -> Array:
    name = "linalg.lu_solve"
    check_floating(LU, name)
    if pivots.dtype != np.int32:
        raise OperatorError(
            f"{name}: pivots should be a Tensor of scalar type torch.int32",
            code="dtype-mismatch",
        )
    check_square(LU, name, "LU")
    check_matrix(B, name, "B")
    check_same_dtype(LU, B, name, ("LU", "B"))
    _check_shapes(LU, B, left, name)
    _check_pivots(LU, pivots)
    if left:
        return column_major(_by_factors(LU, pivots, B, adjointly))
    return adjoint(column_major(_by_factors(LU, pivots, adjoint(B), not adjointly)))


@operator(
    "aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
    autocast="full",
    refuses=Refusal("h", "linalg.lu_solve_cpu"),
    layout="F",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
)
def lu_solve(self: Array, LU_data: Array, LU_pivots: Array) -> Array:
    return linalg_lu_solve(LU_data, LU_pivots, self, True, False)


def is_vector(a: Array, b: Array) -> bool:
    """Whether the right side of an equation is a vector, or a batch of them, not of matrices."""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])


def solve_square(a: Array, b: Array) -> tuple[Array, Array]:
    """X of A X = B, and for each matrix where its LU factors have a zero first."""
    quick = solved_small(a, b)
    if quick is None:
        quick = solved_squares(a, b)
    if quick is not None:
        return quick, no_errors(a.shape[:-2])
    try:
        found = np.asarray(blas.solve(a, b)) if b.size and a.size else None
    except np.linalg.LinAlgError:
        factors, pivots, info = lu_factor(a)
        return _by_factors(factors, pivots, b), info
    if found is None:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        found = np.zeros((*batch, *b.shape[-2:]), a.dtype)
    return found.astype(a.dtype, copy=False), np.zeros(a.shape[:-2], np.int32)


def _solved(A: Array, B: Array, left: bool) -> tuple[Array, Array]:
    name = "linalg.solve"
    check_floating(A, name)
    check_same_dtype(A, B, name)
    check_square(A, name)
    check_lapack(A, "linalg_solve_cpu")
    vector = is_vector(A, B)
    b = B[..., None] if vector else B
    if vector and not left:
        raise OperatorError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    _check_shapes(A, b, left, name)
    if left:
        found, info = solve_square(A, b)
        found = column_major(found[..., 0] if vector else found)
    else:
        found, info = solve_square(A.swapaxes(-1, -2), b.swapaxes(-1, -2))
        found = column_major(found).swapaxes(-1, -2)
    return found, info


def _unsolved(info: Array, name: str) -> LinAlgError:
    prefix, _ = batch_prefix(info)
    return LinAlgError(
        f"{name}: {prefix}The solver failed because the input matrix is singular.",
        headline="the matrix is singular: the system has no unique solution",
    )


@operator(
    "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor info)",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
)
def linalg_solve_ex(A: Array, B: Array, left: bool, check_errors: bool) -> tuple[Array, Array]:
    found, info = _solved(A, B, left)
    if check_errors and info.any():
        raise _unsolved(info, "torch.linalg.solve_ex")
    return found, info


@operator(
    "aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    cost="matrices",
    out_dtype=SAME,
    out="result",
)
def linalg_solve_with_factors(
    A: Array, B: Array, left: bool, check_errors: bool
) -> tuple[Array, Array, Array, Array]:
    found, info = linalg_solve_ex(A, B, left, check_errors)
    factors, pivots, _ = lu_factor(A)
    return found, factors, pivots, info


@operator(
    "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    autocast="full",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    on_slices="matrices",
)
def linalg_solve(A: Array, B: Array, left: bool) -> Array:
    found, info = _solved(A, B, left)
    if info.any():
        raise _unsolved(info, "torch.linalg.solve")
    return found


# --------------------------------------------------------------------------- inverses


def _inverted(A: Array) -> tuple[Array, Array]:
    check_floating(A, "linalg.inv")
    check_square(A, "linalg.inv")
    check_lapack(A, "linalg_inv_cpu")
    quick = inverted(A) if A.shape[-1] > MOST else None
    if quick is not None:
        return quick, no_errors(A.shape[:-2])
    inverse, info = solve_square(A, identity(A.shape[-1], A.dtype))
    return column_major(inverse), info


@operator(
    "aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    autocast="full",
    refuses=_NO_INVERSE,
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
    out="inverse",
    on_slices="matrices",
)
def linalg_inv_ex(A: Array, check_errors: bool) -> tuple[Array, Array]:
    found, info = _inverted(A)
    if check_errors and info.any():
        raise not_invertible(info, "linalg.inv_ex")
    return found, info


def not_invertible(info: Array, name: str) -> LinAlgError:
    prefix, k = batch_prefix(info)
    return LinAlgError(
        f"{name}: {prefix}The diagonal element {k} is zero, the inversion could not be completed "
        "because the input matrix is singular.",
        headline="the matrix is singular: it has no inverse",
    )


@operator(
    "aten::inverse(Tensor self) -> Tensor",
    first_name="linalg_inv",
    autocast="full",
    prepared=True,
    cost="matrices",
    out_dtype=SAME,
)
@operator(
    "aten::linalg_inv(Tensor A) -> Tensor",
    autocast="full",
    prepared=True,
    refuses=_NO_INVERSE,
    cost="matrices",
    out_dtype=SAME,
    on_slices="matrices",
)
def linalg_inv(A: Array) -> Array:
    found, info = _inverted(A)
    if info.any():
        raise not_invertible(info, "linalg.inv")
    return found
