"""The gamma law."""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.gradients.table.rows import aten
from ..ops.tensors.construct import finfo
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Gamma"]


def _standard_gamma(concentration: Tensor) -> Tensor:
    """Draws with rate 1."""
    return aten._standard_gamma(concentration)


class Gamma(ExponentialFamily):
    """x^(concentration - 1) exp(-rate x) rate^concentration / Gamma(concentration)."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"concentration": 0, "rate": 0}
    concentration: Tensor
    rate: Tensor

    def __init__(
        self,
        concentration: Tensor | float,
        rate: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self._take(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)  # never 0; gradients stay as they are
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = aten.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._checked(value)
        shape, rate = self.concentration, self.rate
        return shape.xlogy(rate) + (shape - 1).xlogy(value) - rate * value - shape.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        return aten.special_gammainc(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape - self.rate.log() + shape.lgamma() + (1.0 - shape) * shape.digamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return (x + 1).lgamma() - (x + 1) * (-y).log()
