"""Gradients of eigenvalues of general matrices, of exponentials and of reflections."""

from __future__ import annotations

from typing import Final

from ...tensors.tensor import Tensor
from ..table.rows import Grads, Tensors, aten, composite, conj, gradient, lying
from .factorisation import refuse_phases
from .linear import turned

_EIG: Final = (
    "linalg_eig_backward: The eigenvectors in the complex case are specified up to multiplication "
    "by e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined."
)


def _eig(gs: Grads, results: Tensors) -> Tensor | None:
    """Boeddeker and others, Computation of complex-valued gradients (2017), equation 4.77."""
    values, vectors = results
    inner = None
    if gs[1] is not None:
        seen = turned(vectors) @ gs[1]
        refuse_phases(seen, _EIG)
        lengths = seen.diagonal(0, -2, -1)
        seen = seen - turned(vectors) @ (vectors * aten.real(lengths).unsqueeze(-2))
        apart = conj(values.unsqueeze(-2) - values.unsqueeze(-1))
        inner = seen / (apart + aten.eye(apart.shape[-1], dtype=apart.dtype))
        inner = inner - aten.diag_embed(inner.diagonal(0, -2, -1))
    if gs[0] is not None:
        diagonal = aten.diag_embed(gs[0])
        inner = diagonal if inner is None else inner + diagonal
    if inner is None:
        return None
    return aten.linalg_solve(turned(vectors), inner @ turned(vectors))


gradient("aten::linalg_eig", self=_eig)


@composite("aten::linalg_eigvals", name="LinalgEigBackward0")
def eigvals(self: Tensor) -> Tensor:
    """Eigenvalues."""
    return aten.linalg_eig(self)[0]


def _exponential(g: Tensor, self: Tensor) -> Tensor:
    """Higham, Functions of Matrices (2008), theorem 3.6: a corner of a larger exponential."""
    size = self.shape[-1]
    matrix = turned(self)
    zeros = aten.zeros_like(matrix)
    above, below = aten.cat([matrix, g], -1), aten.cat([zeros, matrix], -1)
    found = aten.matrix_exp(aten.cat([above, below], -2))
    return found.narrow(-2, 0, size).narrow(-1, size, size)


gradient(
    "aten::matrix_exp",
    "aten::linalg_matrix_exp",
    self=_exponential,
    name="LinalgMatrixExpBackward0",
)


def _reflectors(vectors: Tensor) -> Tensor:
    """The columns of reflections: 1 on the diagonal, 0 above."""
    eye = aten.eye(vectors.shape[-2], vectors.shape[-1], dtype=vectors.dtype)
    return vectors.tril(-1) + eye


def _reflect(columns: Tensor, tau: Tensor, at: int, x: Tensor, adjoint: bool) -> Tensor:
    """One reflection of the columns of `x`."""
    column = columns.narrow(-1, at, 1)
    weight = tau.narrow(-1, at, 1).unsqueeze(-1)
    return x - column @ ((conj(weight) if adjoint else weight) * (turned(column) @ x))


@composite("aten::linalg_householder_product")
def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of reflections."""
    columns = _reflectors(input)
    rows, count = input.shape[-2:]
    found = aten.eye(rows, count, dtype=input.dtype).expand([*input.shape[:-2], rows, count])
    for at in reversed(range(tau.shape[-1])):
        found = _reflect(columns, tau, at, found, False)
    return found


@composite("aten::orgqr", name="LinalgHouseholderProductBackward0")
def orgqr(self: Tensor, input2: Tensor) -> Tensor:
    """The same."""
    return householder_product(self, input2)


@composite(
    "aten::ormqr",
    lays={"self": "as the first", "input2": "by rows", "input3": "all by columns"},
)
def ormqr(
    self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """The product of a matrix with a product of reflections."""
    if not left:
        return turned(ormqr(self, input2, turned(input3), True, not transpose))
    columns = _reflectors(self)
    order = range(input2.shape[-1])
    found = input3
    for at in order if transpose else reversed(order):
        found = _reflect(columns, input2, at, found, transpose)
    return found


lying("as the first", "linalg_householder_product", "orgqr")
