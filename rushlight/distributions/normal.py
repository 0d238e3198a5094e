"""The normal law."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..ops.gradients.table.rows import aten
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily
from .utils import _in_shape, _standard_normal

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi)).

    Args:
        loc: means.
        scale: standard deviations.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = {"loc": 0, "scale": 0}
    loc: Tensor
    scale: Tensor

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self._take(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return aten.normal(_in_shape(self.loc, shape), _in_shape(self.scale, shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + self.scale * _standard_normal(shape, self.loc.dtype, self.loc.device)

    def log_prob(self, value: Tensor) -> Tensor:
        off = self._checked(value) - self.loc
        spread = self.scale.pow(2)
        return -off.pow(2) / (2 * spread) - self.scale.log() - math.log(2 * math.pi) / 2

    def cdf(self, value: Tensor) -> Tensor:
        off = (self._checked(value) - self.loc) / (self.scale * math.sqrt(2))
        return (off.erf() + 1) / 2

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return (1 + math.log(2 * math.pi)) / 2 + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        precision = self.scale.pow(-2)
        return self.loc * precision, -precision / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return (-math.pi / y).log() / 2 - x.pow(2) / (4 * y)
