"""Gradients of LU decompositions, and of systems solved with factors that are at hand."""

from __future__ import annotations

from ...memory.dtype import Scalar
from ...tensors.tensor import Tensor
from ..table.rows import Grads, Ints, Tensors, Wanted, aten, composite, gradient, joint, lying
from .linear import turned
from .spectral import resized


def _lower_solve(lower: Tensor, b: Tensor) -> Tensor:
    """`lower^-H b`."""
    return aten.linalg_solve_triangular(turned(lower), b, upper=True, unitriangular=True)


def _upper_solve(b: Tensor, upper: Tensor) -> Tensor:
    """`b upper^-H`."""
    return aten.linalg_solve_triangular(turned(upper), b, upper=False, left=False)


def _of_square(g_lower: Tensor, g_upper: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """The gradient of a square matrix by those of its factors, before rows were exchanged."""
    inner = (turned(lower) @ g_lower).tril(-1) + (g_upper @ turned(upper)).triu()
    return _upper_solve(_lower_solve(lower, inner), upper)


def _of_factors(
    g_lower: Tensor, g_upper: Tensor, P: Tensor, lower: Tensor, upper: Tensor
) -> Tensor:
    """The gradient of a matrix by those of its factors.

    Of a wide or a tall matrix, a square part is decomposed and the rest solved with a factor.
    """
    rows, columns = lower.shape[-2], upper.shape[-1]
    count = min(rows, columns)
    if columns > count:
        square, rest = upper.narrow(-1, 0, count), upper.narrow(-1, count, columns - count)
        g_rest = _lower_solve(lower, g_upper.narrow(-1, count, columns - count))
        g_lower = g_lower - g_rest @ turned(rest)
        found = _of_square(g_lower, g_upper.narrow(-1, 0, count), lower, square)
        return P @ aten.cat([found, g_rest], -1)
    if rows > count:
        square, rest = lower.narrow(-2, 0, count), lower.narrow(-2, count, rows - count)
        g_rest = _upper_solve(g_lower.narrow(-2, count, rows - count), upper)
        g_upper = g_upper - turned(rest) @ g_rest
        found = _of_square(g_lower.narrow(-2, 0, count), g_upper, square, upper)
        return P @ aten.cat([found, g_rest], -2)
    return P @ _of_square(g_lower, g_upper, lower, upper)


def _lu(gs: Grads, results: Tensors) -> Tensor:
    P, lower, upper = results
    g_lower = aten.zeros_like(lower) if gs[1] is None else gs[1]
    g_upper = aten.zeros_like(upper) if gs[2] is None else gs[2]
    return _of_factors(g_lower, g_upper, P, lower, upper)


gradient("aten::linalg_lu", A=_lu, apart=(0,))


def _packed(gs: Tensors, results: Tensors) -> Tensor:
    """The gradient of a matrix by that of both factors in one."""
    packed, pivots = results[:2]
    P, lower, upper = aten.lu_unpack(packed, pivots)
    count = upper.shape[-2]
    g_lower = gs[0].narrow(-1, 0, count).tril(-1)
    g_upper = gs[0].narrow(-2, 0, count).triu()
    return _of_factors(g_lower, g_upper, P, lower, upper)


gradient(
    "aten::linalg_lu_factor",
    "aten::linalg_lu_factor_ex",
    A=_packed,
    name="LinalgLuFactorExBackward0",
)
gradient("aten::_lu_with_info", self=_packed, name="LinalgLuFactorExBackward0")


def _unpacked(gs: Grads, LU_data_sizes: Ints) -> Tensor | None:
    rows, columns = LU_data_sizes[-2:]
    parts = []
    if gs[1] is not None:
        parts.append(resized(gs[1].tril(-1), columns, -1))
    if gs[2] is not None:
        parts.append(resized(gs[2].triu(), rows, -2))
    return sum(parts[1:], parts[0]) if parts else None


gradient("aten::lu_unpack", LU_data=_unpacked, apart=(0,))


@composite("aten::linalg_lu_solve", name="LinalgLuSolveBackward0")
def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, left: bool = True, adjoint: bool = False
) -> Tensor:
    """The solution of a system by the factors of its matrix."""
    if not left:
        return turned(lu_solve(LU, pivots, turned(B), True, not adjoint))
    P, lower, upper = aten.lu_unpack(LU, pivots)
    if adjoint:
        inner = aten.linalg_solve_triangular(turned(upper), B, upper=False)
        return P @ _lower_solve(lower, inner)
    inner = aten.linalg_solve_triangular(
        lower, P.transpose(-2, -1) @ B, upper=False, unitriangular=True
    )
    return aten.linalg_solve_triangular(upper, inner, upper=True)


@composite("aten::lu_solve", name="LinalgLuSolveBackward0")
def lu_solve_of_packed(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The same with the right hand side first."""
    return lu_solve(LU_data, LU_pivots, self)


# --------------------------------------------------------------------------- triangles


def _of_triangle(g: Tensor, triangle: Tensor, upper: bool) -> Tensor:
    """The gradient of a Cholesky factor by that of the matrix it is the factor of."""
    both = g + turned(g)
    return triangle @ both if upper else both @ triangle


gradient(
    "aten::cholesky_inverse",
    self=lambda g, self, result, upper=False: _of_triangle(
        -turned(result) @ g @ turned(result), self, upper
    ),
)


@joint("aten::cholesky_solve", of="self input2")
def _cholesky_solve(
    gs: Tensors, wanted: Wanted, self: Tensor, input2: Tensor, result: Tensor, upper: bool = False
) -> tuple[Tensor, Tensor]:
    of_right = aten.cholesky_solve(gs[0], input2, upper)
    return of_right, _of_triangle(-of_right @ turned(result), input2, upper)


@composite("aten::triangular_solve")
def triangular_solve(
    self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The solution of a triangular system, and the matrix."""
    matrix = A.transpose(-2, -1) if transpose else A
    solution = aten.linalg_solve_triangular(
        matrix, self, upper=upper != transpose, unitriangular=unitriangular
    )
    return solution, A * 1


# --------------------------------------------------------------------------- by other solutions


@composite("aten::linalg_lstsq", apart=(2,))
def lstsq(
    self: Tensor, b: Tensor, rcond: float | None = None, driver: str | None = None
) -> tuple[Tensor, Tensor]:
    """Solutions with least squares, and these."""
    is_vector = b.ndim == 1 or (b.ndim == self.ndim - 1 and b.shape == self.shape[:-1])
    right = b.unsqueeze(-1) if is_vector else b
    solution = aten.linalg_pinv(self) @ right
    residuals = self.new_zeros([0])
    rows, columns = self.shape[-2:]
    full = driver == "gels" or (
        driver in ("gelsd", "gelss") and bool((aten.linalg_matrix_rank(self) == columns).all())
    )
    if rows > columns and full:
        residuals = (self @ solution - right).abs().square().sum([-2])
    return solution.squeeze(-1) if is_vector else solution, residuals


def _cond_name(self: Tensor, p: int | None) -> str:
    return "SqueezeBackward1" if p is None or p in (2, -2) else "MulBackward0"


@composite("aten::linalg_cond", name=_cond_name)
def cond(self: Tensor, p: Scalar | str | None = None) -> Tensor:
    """The largest singular value over the smallest, or the product of two norms."""
    if p is None or p in (2, -2):
        values = aten.linalg_svd(self, False)[1]
        first, last = values.select(-1, 0), values.select(-1, -1)
        return last / first if p == -2 else first / last
    inverse = aten.linalg_inv(self)
    return aten.linalg_matrix_norm(self, p) * aten.linalg_matrix_norm(inverse, p)


@composite("aten::linalg_tensorinv", name="ReshapeAliasBackward0")
def tensorinv(self: Tensor, ind: int = 2) -> Tensor:
    """The inverse of a tensor seen as a matrix."""
    first, last = list(self.shape[:ind]), list(self.shape[ind:])
    count = aten.ones(first).numel()
    return aten.linalg_inv(self.reshape([count, count])).reshape(last + first)


@composite("aten::linalg_tensorsolve", name="ViewBackward0")
def tensorsolve(self: Tensor, other: Tensor, dims: Ints | None = None) -> Tensor:
    """The solution of a system whose matrix is a tensor."""
    if dims is not None:
        moved = [d % self.ndim for d in dims]
        rest = [d for d in range(self.ndim) if d not in moved]
        self = self.permute(rest + moved)
    sizes = list(self.shape[other.ndim :])
    matrix = self.reshape([other.numel(), other.numel()])
    return aten.linalg_solve(matrix, other.reshape([-1])).reshape(sizes)


lying({"self": "all by columns", "b": "by rows"}, "linalg_lstsq")
lying({"LU": "by rows", "B": "as solved"}, "linalg_lu_solve")
lying({"LU_data": "by rows", "self": "as solved"}, "lu_solve")
