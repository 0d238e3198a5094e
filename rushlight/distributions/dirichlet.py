"""The Dirichlet law of shares."""

from __future__ import annotations

from collections.abc import Sequence

from ..autograd.function import Function, FunctionCtx
from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


def _Dirichlet_backward(x: Tensor, concentration: Tensor, grad_output: Tensor) -> Tensor:
    """Each share's own movement, less what it takes from all (Jankowiak and Obermeyer,
    arXiv:1806.01851)."""
    total = concentration.sum(-1, True).expand_as(concentration)
    own = aten._dirichlet_grad(x, concentration, total)
    result: Tensor = own * (grad_output - (x * grad_output).sum(-1, True))
    return result


class _Dirichlet(Function):
    """Draws whose shares move with the concentrations."""

    @staticmethod
    def forward(ctx: FunctionCtx, concentration: Tensor) -> Tensor:
        shares = aten._sample_dirichlet(concentration)
        ctx.save_for_backward(shares, concentration)
        return shares

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> Tensor:
        """What the shares' gradient is to the concentrations."""
        shares, concentration = ctx.saved_tensors
        return _Dirichlet_backward(shares, concentration, gradient)


class Dirichlet(ExponentialFamily):
    """prod x_i^(c_i - 1) Gamma(sum c) / prod Gamma(c_i), for shares x.

    Args:
        concentration: c, (*, shares).
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _batched = {"concentration": 1}

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        batch, event = concentration.shape[:-1], concentration.shape[-1:]
        super().__init__(Size(batch), Size(event), validate_args=validate_args)

    @property
    def _total(self) -> Tensor:
        return self.concentration.sum(-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        is_corner = (self.concentration < 1).all(-1, keepdim=True)
        corner = aten.one_hot(mode.argmax(-1), mode.shape[-1]).to(mode.dtype)
        return aten.where(is_corner, corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        others = total - self.concentration
        return self.concentration * others / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn: Tensor = _Dirichlet.apply(self.concentration.expand(shape))
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        powers = (self.concentration - 1.0).xlogy(self._checked(value)).sum(-1)
        return powers + self._total.lgamma() - self.concentration.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        c, total, count = self.concentration, self._total, self.concentration.size(-1)
        normalizer = c.lgamma().sum(-1) - total.lgamma()
        slopes = ((c - 1.0) * c.digamma()).sum(-1)
        result: Tensor = normalizer + (total - count) * total.digamma() - slopes
        return result

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
