"""Successes among a number of trials."""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.gradients.table.rows import aten
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .bernoulli import spread_over_batch
from .constraints import Constraint
from .probs_or_logits import ProbsOrLogits, which_is_given
from .utils import broadcast_all

__all__ = ["Binomial"]


def _above_zero(x: Tensor) -> Tensor:
    """max(x, 0), whose gradient at 0 lies between those of both sides."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(ProbsOrLogits):
    """The number of successes in `total_count` trials, each with probability `probs`."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _batched = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(
        self,
        total_count: Tensor | int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = which_is_given(probs, logits)
        count, value = broadcast_all(total_count, value)
        self.total_count = count.type_as(value)
        self._keep_given(name, value)
        super().__init__(value.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.mean * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return aten.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        n, k, logits = self.total_count, self._checked(value), self.logits
        ways = (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()
        # n log(1 + exp(logits)), without overflow
        normalizer = n * _above_zero(logits) + n * (-logits.abs()).exp().log1p()
        return k * logits - normalizer + ways

    def _one_count(self, name: str) -> int:
        largest = int(self.total_count.max())
        if int(self.total_count.min()) != largest:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return largest

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        surprise = self.log_prob(self.enumerate_support(False))
        return -(surprise.exp() * surprise).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        values = aten.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        return spread_over_batch(values, self._batch_shape, expand)
