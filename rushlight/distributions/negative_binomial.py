"""Successes before a number of failures."""

from __future__ import annotations

from collections.abc import Sequence

from ..nn.functional import logsigmoid
from ..ops.gradients.table.rows import aten
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .gamma import Gamma
from .probs_or_logits import ProbsOrLogits, which_is_given
from .utils import broadcast_all, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits):
    """The number of successes, of probability `probs`, before `total_count` failures."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _batched = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = which_is_given(probs, logits)
        count, value = broadcast_all(total_count, value)
        self.total_count = count.type_as(value)
        self._keep_given(name, value)
        super().__init__(value.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def _gamma(self) -> Gamma:
        """The law of rates, of which this is a mixture of Poisson laws."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return aten.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        n, k = self.total_count, self._checked(value)
        powers = n * logsigmoid(-self.logits) + k * logsigmoid(self.logits)
        ways = (n + k).lgamma() - (1.0 + k).lgamma() - n.lgamma()
        return powers + ways.masked_fill(n + k == 0.0, 0.0)
