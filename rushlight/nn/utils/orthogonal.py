"""Orthogonal weights, made from free ones.

A matrix with more columns than rows is treated as its transpose, so that below the columns are the
vectors that become orthonormal.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.table.grad_mode import no_grad
from ...ops.tensors.construct import finfo
from ...ops.tensors.tensor import Tensor
from ..modules.module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal"]

_MAPS = ("matrix_exp", "cayley", "householder")

_cat: Callable[..., Tensor] = eager_function("aten::cat")
_eye: Callable[..., Tensor] = eager_function("aten::eye")
_geqrf: Callable[..., tuple[Tensor, Tensor]] = eager_function("aten::geqrf")
_householder_product: Callable[..., Tensor] = eager_function("aten::linalg_householder_product")
_matrix_exp: Callable[..., Tensor] = eager_function("aten::linalg_matrix_exp")
_randn: Callable[..., Tensor] = eager_function("aten::randn")
_solve: Callable[..., Tensor] = eager_function("aten::linalg_solve")


def _is_orthogonal(matrix: Tensor) -> bool:
    """Whether the columns are orthonormal, up to rounding."""
    size = matrix.size(-1)
    identity = _eye(size, dtype=matrix.dtype)
    limit = 10.0 * size * finfo(matrix.dtype).eps
    return bool((matrix.mH @ matrix).allclose(identity, atol=limit))


def _nearest_by_qr(matrix: Tensor) -> Tensor:
    """The orthogonal factor whose triangular partner has a positive diagonal."""
    reflectors, scales = _geqrf(matrix)
    signs = reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return _householder_product(reflectors, scales) * signs


class _Orthogonal(Module):
    """An orthogonal matrix from any matrix, by one of three maps.

    With a `base` the result is the base times the map's, so that any orthogonal matrix can be
    assigned (arXiv:1909.09501).
    """

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self._has_base = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        is_wide = x.size(-2) < x.size(-1)
        x = x.mT if is_wide else x
        result = self._reflected(x) if self.orthogonal_map == "householder" else self._rotated(x)
        if self._has_base and self.base is not None:
            result = self.base @ result
        return result.mT if is_wide else result

    def _rotated(self, x: Tensor) -> Tensor:
        """The map of the skew-symmetric matrix with this lower triangle."""
        rows, columns = x.size(-2), x.size(-1)
        lower = x.tril()
        if rows != columns:
            zeros = x.new_zeros([rows, rows - columns]).expand(*x.shape[:-2], -1, -1)
            lower = _cat([lower, zeros], -1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            turned = _matrix_exp(skew)
        else:
            identity = _eye(rows, dtype=x.dtype)
            turned = _solve(identity.add(skew, alpha=-0.5), identity.add(skew, alpha=0.5))
        return turned[..., :columns]

    def _reflected(self, x: Tensor) -> Tensor:
        """The product of the reflections that the columns below the diagonal stand for."""
        vectors = x.tril(-1)
        scales = 2.0 / (1.0 + (vectors * vectors).sum(-2))
        signs = x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        return _householder_product(vectors, scales) * signs

    @no_grad()
    def right_inverse(self, value: Tensor) -> Tensor:
        """What `forward` makes this matrix of; with a base, the base is set to it.

        Raises:
            ValueError: another shape.
            NotImplementedError: there is no base and the map has no inverse.
        """
        if value.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {value.shape}."
            )
        is_wide = value.size(-2) < value.size(-1)
        matrix = value.mT if is_wide else value
        if self._has_base:
            self.base = self._completed(matrix)
            zero = value.new_zeros(value.shape)
            zero.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return zero
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        reflectors, scales = _geqrf(matrix)
        diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal.copy_(diagonal.where(scales != 0.0, -diagonal))
        return reflectors.mT if is_wide else reflectors

    def _completed(self, matrix: Tensor) -> Tensor:
        """A square orthogonal matrix whose first columns are these, made orthonormal."""
        rows, columns = matrix.size(-2), matrix.size(-1)
        if rows == columns:
            return matrix.clone() if _is_orthogonal(matrix) else _nearest_by_qr(matrix)
        more = _randn([*matrix.shape[:-2], rows, rows - columns], dtype=matrix.dtype)
        return _nearest_by_qr(_cat([matrix, more], -1))


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a weight orthogonal, or with orthonormal rows or columns.

    Args:
        module: whose weight it is.
        name: the weight's name.
        orthogonal_map: `matrix_exp`, `cayley` or `householder`; by default the first for square and
            complex matrices, the last for others.
        use_trivialization: whether any orthogonal matrix may be assigned, at the price of another
            matrix of its size.

    Raises:
        ValueError: there is no such weight, it is no matrix, or no such map.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions."
        )
    if orthogonal_map is None:
        is_square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
