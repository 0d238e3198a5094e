"""Singular values of matrices that have few large ones, by random projections.

Halko, Martinsson and Tropp, "Finding structure with randomness", arXiv:0909.4061.
"""

from __future__ import annotations

from collections.abc import Callable

from .ops.eager.dispatch import eager_function
from .ops.tensors.tensor import Tensor

__all__ = ["pca_lowrank", "svd_lowrank"]

_ones: Callable[..., Tensor] = eager_function("aten::ones")
_randn: Callable[..., Tensor] = eager_function("aten::randn")
_qr: Callable[..., tuple[Tensor, Tensor]] = eager_function("aten::linalg_qr")
_svd: Callable[..., tuple[Tensor, Tensor, Tensor]] = eager_function("aten::linalg_svd")


def _times(A: Tensor, mean: Tensor | None, other: Tensor) -> Tensor:
    product: Tensor = A.matmul(other)
    return product if mean is None else product - mean.matmul(other)


def _basis(A: Tensor, q: int, rounds: int, mean: Tensor | None) -> Tensor:
    """Orthonormal columns that span about what the first singular vectors do (algorithm 4.4)."""
    dtype = A.dtype if A.is_floating_point() or A.is_complex() else None
    start = _randn([A.shape[-1], q], dtype=dtype, device=A.device)
    turned = None if mean is None else mean.mH
    columns, _ = _qr(_times(A, mean, start))
    for _again in range(rounds):
        rows, _ = _qr(_times(A.mH, turned, columns))
        columns, _ = _qr(_times(A, mean, rows))
    return columns


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """About the first `q` singular vectors and values of `A - M` (algorithm 5.1).

    Args:
        A: matrices (*, m, n).
        q: how many, a little more than the rank.
        niter: rounds that make the result nearer.
        M: what is subtracted, of a shape that broadcasts to that of `A`.

    Returns:
        U (*, m, q), S (*, q) and V (*, n, q), with `U @ diag(S) @ V.mH` near `A - M`.
    """
    m, n = A.shape[-2], A.shape[-1]
    mean = None if M is None else M.broadcast_to(A.size())
    if m < n:
        A = A.mH
        mean = None if mean is None else mean.mH
    columns = _basis(A, 6 if q is None else q, 2 if niter is None else niter, mean)
    U, S, Vh = _svd(_times_left(columns.mH, A, mean), False)
    U, V = columns.matmul(U), Vh.mH
    if m < n:
        U, V = V, U
    return U, S, V


def _times_left(other: Tensor, A: Tensor, mean: Tensor | None) -> Tensor:
    product: Tensor = other.matmul(A)
    return product if mean is None else product - other.matmul(mean)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of matrices (*, m, n): `svd_lowrank` about their mean.

    Args:
        A: a row for each observation; a single matrix where it is sparse.
        q: how many components; the smallest of 6, m and n if None.
        center: whether the mean of the rows is subtracted.
        niter: rounds that make the result nearer.

    Returns:
        U (*, m, q), S (*, q) and V (*, n, q), whose columns are the directions.

    Raises:
        ValueError: `q` is negative or larger than m or n, `niter` is negative, or there are several
            sparse matrices.
    """
    m, n = A.shape[-2], A.shape[-1]
    least = min(m, n)
    if q is None:
        q = min(6, least)
    elif q < 0 or q > least:
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not (A.is_sparse or A.is_sparse_csr):
        rows = A - A.mean(dim=(-2,), keepdim=True) if center else A
        return svd_lowrank(rows, q, niter, None)
    if A.ndim != 2:
        raise ValueError("pca_lowrank input is expected to be 2-dimensional tensor")
    # a difference would have no zeros to leave out
    return svd_lowrank(A, q, niter, _column_means(A) if center else None)


def _column_means(A: Tensor) -> Tensor:
    """The mean of each column of a sparse matrix, as a row."""
    sums: Tensor = A.mH.matmul(_ones([A.shape[0], 1], dtype=A.dtype))
    return sums.mH / A.shape[0]
