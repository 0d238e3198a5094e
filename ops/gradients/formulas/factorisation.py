"""Gradients of inverses, determinants and factorisations of matrices."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...memory.complex_parts import is_complex
from ...tensors.tensor import Tensor
from ..table.rows import Grads, Ints, Tensors, Wanted, aten, composite, conj, gradient, joint
from .linear import turned
from .reduction import restored

gradient("aten::linalg_inv", A=lambda g, result: -turned(result) @ g @ turned(result))
gradient(
    "aten::linalg_inv_ex",
    A=lambda g, result: -turned(result) @ g @ turned(result),
    name="LinalgInvExBackward0",
)
gradient(
    "aten::inverse",
    self=lambda g, result: -turned(result) @ g @ turned(result),
    name="LinalgInvExBackward0",
)


def _outer(x: Tensor) -> Tensor:
    return x.unsqueeze(-1).unsqueeze(-1)


gradient(
    "aten::linalg_det",
    A=lambda g, A, result: _outer(g * conj(result)) * turned(aten.linalg_inv(A)),
    lays="by columns",
)
gradient(
    "aten::det",
    self=lambda g, self, result: _outer(g * conj(result)) * turned(aten.linalg_inv(self)),
    name="LinalgDetBackward0",
    lays="by columns",
)
gradient(
    "aten::logdet",
    self=lambda g, self: _outer(g) * turned(aten.linalg_inv(self)),
    lays="by columns",
)


def _log_det(gs: Grads, A: Tensor, results: Tensors) -> Tensor | None:
    g = gs[1]
    if gs[0] is not None and is_complex(A._array.dtype):
        turn = aten.imag(gs[0] * conj(results[0]))
        g = aten.complex(aten.zeros_like(turn) if g is None else g, turn)
    return None if g is None else _outer(g) * turned(aten.linalg_inv(A))


gradient("aten::linalg_slogdet", A=_log_det, lays="by columns")
gradient(
    "aten::slogdet",
    self=lambda gs, self, results: _log_det(gs, self, results),
    lays="by columns",
)


def _solve(
    gs: Tensors, wanted: Wanted, A: Tensor, B: Tensor, left: bool, result: Tensor
) -> tuple[Tensor, Tensor]:
    (g,) = gs[:1]
    is_vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    if is_vector:
        of_b = aten.linalg_solve(turned(A), g.unsqueeze(-1)).squeeze(-1)
        return -of_b.unsqueeze(-1) * conj(result).unsqueeze(-2), of_b
    of_b = aten.linalg_solve(turned(A), g, left=left)
    of_a = -of_b @ turned(result) if left else -turned(result) @ of_b
    return of_a, of_b


joint("aten::linalg_solve", "aten::linalg_solve_ex", of="A B", name="LinalgSolveExBackward0")(
    _solve
)


def _triangular(
    gs: Tensors, self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool,
    result: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    (g,) = gs[:1]
    of_b = aten.linalg_solve_triangular(
        turned(self), g, upper=not upper, left=left, unitriangular=unitriangular
    )
    of_a = -of_b @ turned(result) if left else -turned(result) @ of_b
    offset = 1 if unitriangular else 0
    return (of_a.triu(offset) if upper else of_a.tril(-offset)), of_b


joint("aten::linalg_solve_triangular", of="self B")(_triangular)


def _cholesky(g: Tensor, result: Tensor, upper: bool = False) -> Tensor:
    lower, given = (turned(result), turned(g)) if upper else (result, g)
    seen = (turned(lower) @ given.tril()).tril()
    inner = (seen + turned(seen.tril(-1))) / 2
    left = aten.linalg_solve_triangular(turned(lower), inner, upper=True)
    return aten.linalg_solve_triangular(lower, left, upper=False, left=False)


gradient(
    "aten::linalg_cholesky",
    "aten::linalg_cholesky_ex",
    self=_cholesky,
    name="LinalgCholeskyExBackward0",
)
gradient("aten::cholesky", self=_cholesky)


def _safe(x: Tensor) -> Tensor:
    """One over the numbers, 0 on the diagonal."""
    eye = aten.eye(x.shape[-1], dtype=x.dtype)
    return (x + eye).reciprocal() * (1 - eye)


def refuse_phases(inner: Tensor, sentence: str) -> None:
    """Refuse a gradient of complex vectors in which their phases, which are anyone's choice, count.

    Args:
        inner: the products of vectors and gradients; what the diagonal has of imaginary parts is
            the share of the phases.
        sentence: what is said.

    Raises:
        RuntimeError: they do.
    """
    if not is_complex(inner._array.dtype):
        return
    phases = inner._array.diagonal(0, -2, -1).imag
    if not np.allclose(phases, 0, atol=1e-2, rtol=1e-2):
        raise RuntimeError(sentence)


_EIGH: Final = (
    "linalg_eigh_backward: The eigenvectors in the complex case are specified up to multiplication "
    "by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined."
)
_SVD: Final = (
    "svd_backward: The singular vectors in the complex case are specified up to multiplication by "
    "e^{i phi}. The specified loss function depends on this phase term, making it ill-defined."
)


def _eigh(gs: Grads, results: Tensors) -> Tensor | None:
    values, vectors = results
    inner = None
    if gs[1] is not None:
        apart = values.unsqueeze(-2) - values.unsqueeze(-1)
        part = turned(vectors) @ gs[1]
        refuse_phases(part, _EIGH)
        inner = (part - turned(part)) / 2 * _safe(apart)
    if gs[0] is not None:
        diagonal = aten.diag_embed(gs[0]).to(vectors.dtype)
        inner = diagonal if inner is None else inner + diagonal
    if inner is None:
        return None
    return vectors @ inner @ turned(vectors)


gradient("aten::linalg_eigh", self=_eigh)
gradient(
    "aten::linalg_eigvalsh",
    self=lambda g, self, UPLO: _of_values(g, aten.linalg_eigh(self, UPLO)[1]),
    name="LinalgEighBackward0",
)


def _of_values(g: Tensor, vectors: Tensor) -> Tensor:
    return (vectors * g.unsqueeze(-2)) @ turned(vectors)


def _svd(gs: Grads, results: Tensors) -> Tensor | None:
    U, S, Vh = results
    count = S.shape[-1]
    gU, gS, gVh = gs
    if U.shape[-1] > count:  # the vectors beyond the singular values are anyone's choice
        U = U.narrow(-1, 0, count)
        gU = None if gU is None else gU.narrow(-1, 0, count)
    if Vh.shape[-2] > count:
        Vh = Vh.narrow(-2, 0, count)
        gVh = None if gVh is None else gVh.narrow(-2, 0, count)
    inner = seen = None
    squares = S * S
    apart = _safe(squares.unsqueeze(-2) - squares.unsqueeze(-1))
    if gU is not None:
        seen = part = turned(U) @ gU
        inner = ((part - turned(part)) * apart) * S.unsqueeze(-2)
    if gVh is not None:
        part = Vh @ turned(gVh)
        seen = part if seen is None else seen + part
        extra = S.unsqueeze(-1) * ((part - turned(part)) * apart)
        inner = extra if inner is None else inner + extra
    if seen is not None:
        refuse_phases(seen, _SVD)
    if gU is not None and gVh is not None and is_complex(U._array.dtype):
        phases = aten.imag((turned(U) @ gU).diagonal(0, -2, -1)) / S
        inner = inner + aten.diag_embed(aten.complex(aten.zeros_like(phases), phases))
    if gS is not None:
        diagonal = aten.diag_embed(gS).to(U.dtype)
        inner = diagonal if inner is None else inner + diagonal
    if inner is None:
        return None
    found = U @ inner @ Vh
    if gU is not None and U.shape[-2] > count:
        scaled = gU / S.unsqueeze(-2)
        found = found + (scaled - U @ (turned(U) @ scaled)) @ Vh
    if gVh is not None and Vh.shape[-1] > count:
        scaled = gVh / S.unsqueeze(-1)
        found = found + U @ (scaled - (scaled @ turned(Vh)) @ Vh)
    return found


gradient("aten::linalg_svd", "aten::_linalg_svd", A=_svd, name="LinalgSvdBackward0")


def _old_svd(gs: Grads, self: Tensor, compute_uv: bool, results: Tensors) -> Tensor | None:
    if not compute_uv:  # the vectors are zeros then
        return _svd([None, gs[1], None], aten.linalg_svd(self, False))
    given = [gs[0], gs[1], None if gs[2] is None else turned(gs[2])]
    return _svd(given, [results[0], results[1], turned(results[2])])


gradient("aten::svd", self=_old_svd, name="LinalgSvdBackward0")


@composite("aten::linalg_svdvals", name="LinalgSvdBackward0")
def svdvals(A: Tensor) -> Tensor:
    """Singular values."""
    return aten.linalg_svd(A, False)[1]


def _square_qr(gQ: Tensor | None, gR: Tensor | None, Q: Tensor, R: Tensor) -> Tensor:
    total = None
    if gR is not None:
        total = gR @ turned(R)
    if gQ is not None:
        part = turned(Q) @ gQ
        total = -part if total is None else total - part
    assert total is not None
    above = total.triu()
    diagonal = aten.real(above.diagonal(0, -2, -1))
    both = Q @ (above + turned(above) - aten.diag_embed(diagonal))
    found = both if gQ is None else gQ + both
    return turned(aten.linalg_solve_triangular(R, turned(found), upper=True))


def _qr(gs: Grads, results: Tensors, mode: str = "reduced") -> Tensor | None:
    Q, R = results
    gQ, gR = gs
    if mode == "complete" and Q.shape[-2] > R.shape[-1]:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
            "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if gQ is None and gR is None:
        return None
    count, rest = R.shape[-2], R.shape[-1] - R.shape[-2]
    if rest <= 0:
        return _square_qr(gQ, gR, Q, R)
    of_rest = aten.zeros_like(R.narrow(-1, count, rest))
    if gR is not None:  # a wide matrix: the last columns are those of R, turned by Q
        of_rest = gR.narrow(-1, count, rest)
        back = Q @ R.narrow(-1, count, rest) @ turned(of_rest)
        gQ, gR = back if gQ is None else gQ + back, gR.narrow(-1, 0, count)
    first = _square_qr(gQ, gR, Q, R.narrow(-1, 0, count))
    return aten.cat([first, Q @ of_rest], -1)


gradient("aten::linalg_qr", A=_qr, lays="by columns")
gradient(
    "aten::qr",
    self=lambda gs, results: _qr(gs, results),
    name="LinalgQrBackward0",
    lays="by columns",
)


@composite("aten::linalg_matrix_power", "aten::matrix_power")
def matrix_power(self: Tensor, n: int) -> Tensor:
    """A matrix times itself."""
    base, found, left = aten.linalg_inv(self) if n < 0 else self, None, abs(n)
    while left:
        if left % 2:
            found = base if found is None else found @ base
        left //= 2
        base = base @ base if left else base
    return self * 0 + aten.eye(self.shape[-1], dtype=self.dtype) if found is None else found * 1


def _nuclear(self: Tensor, dims: Ints, keepdim: bool) -> Tensor:
    moved = self.movedim(list(dims), [-2, -1])
    return restored_sums(aten.linalg_svd(moved, False)[1].sum([-1]), self, dims, keepdim)


def restored_sums(found: Tensor, self: Tensor, dims: Ints, keepdim: bool) -> Tensor:
    """A result for each matrix, with the matrices' dimensions of size 1 if wanted."""
    return restored(found, self.shape, list(dims), False) if keepdim else found


@composite("aten::linalg_matrix_norm", "aten::nuclear_norm")
def matrix_norm(
    self: Tensor, ord: str | float = "nuc", dim: Ints = (-2, -1), keepdim: bool = False
) -> Tensor:
    """Norms of matrices."""
    dims = list(dim) if dim else [-2, -1]
    if ord == "fro":
        return aten.linalg_vector_norm(self, 2, dims, keepdim)
    if isinstance(ord, str):
        return _nuclear(self, dims, keepdim)
    if abs(ord) == 2:
        values = aten.linalg_svd(self.movedim(dims, [-2, -1]), False)[1]
        found = values.amax([-1]) if ord > 0 else values.amin([-1])
        return restored_sums(found, self, dims, keepdim)
    summed, compared = dims if abs(ord) == 1 else reversed(dims)
    sums = aten.linalg_vector_norm(self, 1, [summed], True)
    found = sums.amax([compared], True) if ord > 0 else sums.amin([compared], True)
    return found if keepdim else found.squeeze(dims)


@composite("aten::linalg_norm")
def linalg_norm(
    self: Tensor, ord: float | str | None = None, dim: Ints | None = None, keepdim: bool = False
) -> Tensor:
    """Norms of vectors or matrices."""
    if isinstance(ord, str) or (dim is not None and len(dim) == 2 and ord is not None):
        dims = list(dim) if dim is not None else list(range(self.ndim))
        return matrix_norm(self, ord, dims, keepdim)
    if ord is not None and dim is None and self.ndim == 2:
        return matrix_norm(self, ord, [0, 1], keepdim)
    return aten.linalg_vector_norm(self, 2 if ord is None else ord, dim, keepdim)


gradient(
    "aten::linalg_pinv",
    "aten::pinverse",
    self=lambda g, self, result: _pseudo_inverse(g, self, result),
)


def _pseudo_inverse(g: Tensor, A: Tensor, P: Tensor) -> Tensor:
    """Golub and Pereyra's formula, in the order with the smaller products."""
    gh, Ph = turned(g), turned(P)
    if A.shape[-2] <= A.shape[-1]:
        inner = gh @ P
        side = inner @ Ph
        return -turned(P @ inner) + side - (A @ P) @ side + (Ph @ P) @ (gh - inner @ A)
    inner = P @ gh
    side = Ph @ inner
    return -turned(inner @ P) + (gh - A @ inner) @ P @ Ph + side - (side @ P) @ A
