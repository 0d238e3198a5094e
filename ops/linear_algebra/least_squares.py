"""Least squares."""

from __future__ import annotations

import numpy as np

from ..kernels import blas
from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..table.layouts import column_major
from ..table.out_dtypes import FIELDS_SAFELY
from ..table.pointwise import as_array
from ..table.refusals import Refusal
from ..table.table import operator
from .decompositions import least_squares
from .matrix_checks import LinAlgError, batch_prefix, check_lapack, real_dtype
from .matrix_norms import singular_values
from .spectral import pseudo_inverse, rank_of
from .triangular import is_vector

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _check_lstsq(a: Array, b: Array, driver: str | None) -> str:
    name = "torch.linalg.lstsq"
    if a.ndim < 2:
        raise OperatorError(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise OperatorError(f"{name}: other must have at least 1 dimension.")
    if not 0 <= a.ndim - b.ndim <= 1:
        raise OperatorError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            "other.dim()) <= 1",
            code="shape-mismatch",
        )
    if a.dtype != b.dtype:
        x, y = dtype_of(a).scalar_name, dtype_of(b).scalar_name
        raise OperatorError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {x} "
            f"and other's dtype {y}",
            code="dtype-mismatch",
        )
    if driver is not None and driver not in _DRIVERS:
        raise OperatorError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    check_lapack(a, "linalg_lstsq_cpu")
    rows = b.shape[-1] if is_vector(a, b) else b.shape[-2]
    if a.shape[-2] != rows:
        place = "-1" if is_vector(a, b) else "-2"
        raise OperatorError(
            f"{name}: input.size(-2) should match other.size({place})", code="shape-mismatch"
        )
    return driver or "gelsy"


def _check_full_rank(a: Array) -> None:
    """The method that takes no other matrices; one of zeros alone it solves by zeros.

    Raises:
        LinAlgError: a diagonal element of the triangular factor is zero.
    """
    tall = a if a.shape[-2] >= a.shape[-1] else a.swapaxes(-1, -2)
    if not tall.size:
        return
    diagonals = np.diagonal(blas.qr(tall, "r"), axis1=-2, axis2=-1)
    is_zero = (diagonals == 0) & as_array(tall.any((-2, -1)))[..., None]
    info = np.where(is_zero.any(-1), is_zero.argmax(-1) + 1, 0)
    if info.any():
        prefix, order = batch_prefix(info if info.size > 1 else info.reshape(()))
        raise LinAlgError(
            f"torch.linalg.lstsq: {prefix}The least squares solution could not be computed because "
            f"the input matrix does not have full rank (error code: {order})."
        )


def _in_rows_of(found: Array, rows: int) -> Array:
    """The solution in the memory of the right side, whose columns LAPACK writes it over."""
    *batch, columns, count = found.shape
    memory = np.zeros((*batch, count, max(rows, columns)), found.dtype)
    solution = memory[..., :columns].swapaxes(-1, -2)
    solution[...] = found
    return column_major(solution) if rows <= columns else solution


@operator(
    "aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) "
    "-> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    autocast="full",
    refuses=Refusal(
        "", fails=("biu", "This function doesn't handle types other than float and double")
    ),
    prepared=True,
    cost="matrices",
    out_dtype=FIELDS_SAFELY,
    out_layout="-",
)
def linalg_lstsq(
    self: Array, b: Array, rcond: float | None, driver: str | None
) -> tuple[Array, Array, Array, Array]:
    driver = _check_lstsq(self, b, driver)
    vector = is_vector(self, b)
    right = b[..., None] if vector else b
    batch = np.broadcast_shapes(self.shape[:-2], right.shape[:-2])
    rows, columns = self.shape[-2:]
    real = real_dtype(self.dtype)
    relative = float(np.finfo(real).eps) * max(rows, columns) if rcond is None else rcond
    if driver == "gelsd" and not 0 < relative < 1:  # as LAPACK's routine has it
        relative = float(np.finfo(real).eps)
    elif relative < 0:
        relative = 0.0 if driver == "gelsy" else float(np.finfo(real).eps)
    whole = [np.broadcast_to(each, (*batch, *each.shape[-2:])) for each in (self, right)]
    quick = least_squares(whole[0], whole[1], driver, relative)
    found, residuals, rank, values = quick or _by_singular_values(self, right, driver, relative)
    return (found[..., 0] if vector else found), residuals, rank, values


def _by_singular_values(
    self: Array, right: Array, driver: str, relative: float
) -> tuple[Array, Array, Array, Array]:
    """The same by pseudo-inverses."""
    batch = np.broadcast_shapes(self.shape[:-2], right.shape[:-2])
    (rows, columns), real = self.shape[-2:], real_dtype(self.dtype)
    if driver == "gels":
        relative = 0.0
        _check_full_rank(self)
    tolerance = np.zeros((), real), np.asarray(relative, real)
    inverse = pseudo_inverse(self, *tolerance, False)
    found = np.broadcast_to(blas.matmul(inverse, right), (*batch, columns, right.shape[-1]))
    found = _in_rows_of(found, rows)
    rank = np.empty(0, np.int64)
    if driver != "gels":
        rank = np.broadcast_to(rank_of(self, *tolerance, False), batch).copy()
    values: Array = np.empty(0, real)
    if driver in ("gelsd", "gelss"):
        each = singular_values(self)
        values = np.broadcast_to(each, (*batch, each.shape[-1])).copy()
    residuals: Array = np.empty(0, real)
    if rows > columns and driver != "gelsy" and (driver == "gels" or (rank == columns).all()):
        gaps = np.abs(right - blas.matmul(self, found))
        residuals = as_array((gaps * gaps).sum(-2)).astype(real)
    return found, residuals, rank, values
