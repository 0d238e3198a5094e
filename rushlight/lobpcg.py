"""Some eigenvalues of large symmetric matrices, by a block method.

Knyazev, "Toward the Optimal Preconditioned Eigensolver", SIAM J. Sci. Comput. 23(2), 2001; the
subspace is made orthonormal in each round, as Duersch et al. have it (arXiv:1704.07458).
"""

from __future__ import annotations

from collections.abc import Callable

from .ops.eager.dispatch import eager_function
from .ops.sparse_tensors.tensors import is_sparse
from .ops.tensors.tensor import Tensor

__all__ = ["lobpcg"]

_cat: Callable[..., Tensor] = eager_function("aten::cat")
_eigh: Callable[..., tuple[Tensor, Tensor]] = eager_function("aten::linalg_eigh")
_norm: Callable[..., Tensor] = eager_function("aten::linalg_vector_norm")
_qr: Callable[..., tuple[Tensor, Tensor]] = eager_function("aten::linalg_qr")
_randn: Callable[..., Tensor] = eager_function("aten::randn")
_stack: Callable[..., Tensor] = eager_function("aten::stack")
_TOLERANCES = {"float32": 1.2e-07, "float64": 2.23e-16}


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) eigenvalues of symmetric matrices, and their vectors.

    Args:
        A: matrices (*, m, m), one sparse or several dense ones.
        k: how many; as many as `X` has columns, else 1.
        B: of the same sizes, for `A x = lambda B x`.
        X: where to begin (*, m, n); random columns if None.
        n: how many columns are carried along, `k` if None.
        iK: near the inverse of `A`, for fewer rounds.
        niter: rounds at most; 1000 if None, no bound if negative.
        tol: the residual, relative to the norms, at which a pair is taken.
        largest: the largest ones, if not False.
        method: "basic" or "ortho"; both do the same here.
        tracker, ortho_iparams, ortho_fparams, ortho_bparams: taken, without effect.

    Returns:
        The eigenvalues (*, k) and vectors (*, m, k), whose columns are orthonormal (in `B`).

    Raises:
        ValueError: `m` is smaller than `3 n`.
        AssertionError: no square matrices.
    """
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    m = A.shape[-1]
    count = (1 if X is None else X.shape[-1]) if k is None else k
    width = (count if n is None else n) if X is None else X.shape[-1]
    if m < 3 * width:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m})"
            f" is smaller than 3 x the number of requested eigenpairs (={width})"
        )
    if A.ndim > 2 and not is_sparse(A):
        each = [
            lobpcg(a, count, _at(B, i), _at(X, i), width, _at(iK, i), niter, tol, largest)
            for i, a in enumerate(A.unbind(0))
        ]
        return _stack([values for values, _ in each]), _stack([vectors for _, vectors in each])
    if A.requires_grad and not is_sparse(A):
        A = (A + A.mT) / 2  # of which the gradient is symmetric, as the matrix
    start = _randn([m, width], dtype=A.dtype) if X is None else X
    limit = _TOLERANCES.get(A.dtype.name, 1e-3) ** 0.5 if tol is None else tol
    rounds = 1000 if niter is None else niter
    return _iterated(A, B, start, iK, rounds, limit, count, largest is None or largest)


def _at(matrices: Tensor | None, place: int) -> Tensor | None:
    """One of several matrices; a single one is that of all places."""
    return matrices if matrices is None or matrices.ndim < 3 else matrices[place]


def _times(matrix: Tensor | None, columns: Tensor) -> Tensor:
    return columns if matrix is None else matrix @ columns


def _best(
    A: Tensor, B: Tensor | None, basis: Tensor, first: int, largest: bool
) -> tuple[Tensor, Tensor]:
    """Eigenpairs of A on what orthonormal columns span (Rayleigh and Ritz)."""
    small = basis.mT @ _times(A, basis)
    if B is None:
        values, turns = _eigh((small + small.mT) / 2)
    else:
        lower = eager_function("aten::linalg_cholesky")(basis.mT @ _times(B, basis))
        solve = eager_function("aten::linalg_solve_triangular")
        half = solve(lower, small, upper=False)
        full = solve(lower, half.mT, upper=False)
        values, inner = _eigh((full + full.mT) / 2)
        turns = solve(lower.mT, inner, upper=True)
    if largest:
        values, turns = values.flip([-1]), turns.flip([-1])
    return values[:first], turns[:, :first]


def _iterated(
    A: Tensor,
    B: Tensor | None,
    X: Tensor,
    iK: Tensor | None,
    rounds: int,
    limit: float,
    count: int,
    largest: bool,
) -> tuple[Tensor, Tensor]:
    width = X.shape[-1]
    basis, _ = _qr(X)
    values, turns = _best(A, B, basis, width, largest)
    X, steps, done = basis @ turns, None, 0
    scale = float((_norm(_times(A, X)) / _norm(X)).detach())
    while done != rounds:
        residual = _times(A, X) - _times(B, X) * values
        sizes = _norm(residual, 2, [0]) / (_norm(X, 2, [0]) * (scale + values.abs()))
        if bool((sizes[:count] < limit).all()):
            break
        directions = [X, _times(iK, residual)] + ([] if steps is None else [steps])
        basis, _ = _qr(_cat(directions, -1))
        values, turns = _best(A, B, basis, width, largest)
        new = basis @ turns
        steps, X, done = new - X @ (X.mT @ _times(B, new)), new, done + 1
    return values[:count], X[:, :count]
