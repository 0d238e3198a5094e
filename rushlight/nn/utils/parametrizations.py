"""Parametrizations that are ready for use."""

from __future__ import annotations

from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor
from ..functional import normalize
from ..modules.module import Module
from .orthogonal import orthogonal
from .parametrize import register_parametrization
from .spectral_norm import TRANSPOSED, as_matrix

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_mv = eager_function("aten::mv")
_norm_except_dim = eager_function("aten::norm_except_dim")
_vdot = eager_function("aten::vdot")
_weight_norm: Callable[..., Tensor] = eager_function("aten::_weight_norm")


class _WeightNorm(Module):
    """Length times direction."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return _weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Length and direction of a weight."""
        return _norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int = 0) -> Module:
    """Train length and direction of a weight apart (arXiv:1602.07868)."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename_old(state: dict[str, object], prefix: str, *rest: object) -> None:
        for old, new in ((f"{name}_g", "original0"), (f"{name}_v", "original1")):
            if prefix + old in state:
                state[f"{prefix}parametrizations.{name}.{new}"] = state.pop(prefix + old)

    module._register_load_state_dict_pre_hook(rename_old)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which is followed by power iterations."""

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.dim()
        if dim >= ndim or dim < -ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] "
                f"but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            rows, columns = matrix.shape
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Tensor, steps: int) -> None:
        for _ in range(steps):  # the other way round than in the older `spectral_norm`
            self._u.copy_(normalize(_mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(normalize(_mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            result: Tensor = normalize(weight, dim=0, eps=self.eps)
            return result
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        scaled: Tensor = weight / _vdot(u, _mv(matrix, v))
        return scaled

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: it is taken to be of norm one."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value (arXiv:1802.05957).

    Raises:
        ValueError: the module has no such tensor, or there are no steps.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, TRANSPOSED) else 0
    return register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps)
    )
