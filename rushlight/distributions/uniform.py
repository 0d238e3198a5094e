"""The uniform law."""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .constraints import Constraint
from .distribution import Distribution

__all__ = ["Uniform"]


class Uniform(Distribution):
    """1 / (high - low) from `low` up to `high`, which is left out."""

    has_rsample = True
    _batched = {"low": 0, "high": 0}
    low: Tensor
    high: Tensor

    def __init__(
        self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self._take(validate_args, low=low, high=high)

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def _width(self) -> Tensor:
        return self.high - self.low

    @property
    def mean(self) -> Tensor:
        return (self.low + self.high) / 2

    @property
    def mode(self) -> Tensor:
        return self.high * float("nan")  # none is likelier than others

    @property
    def stddev(self) -> Tensor:
        return self._width / 12**0.5

    @property
    def variance(self) -> Tensor:
        return self._width.pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        share = aten.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + self._width * share

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        is_inside = self.low.le(value) & self.high.gt(value)
        return is_inside.type_as(self.low).log() - self._width.log()

    def cdf(self, value: Tensor) -> Tensor:
        return ((self._checked(value) - self.low) / self._width).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return self.low + self._width * value

    def entropy(self) -> Tensor:
        return self._width.log()
