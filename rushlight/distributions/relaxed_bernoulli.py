"""Coins made smooth by a temperature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .probs_or_logits import ProbsOrLogits, which_is_given
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ProbsOrLogits):
    """A logistic number shifted by `logits`, over `temperature` (Maddison, Mnih and Teh,
    arXiv:1611.00712)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _batched = {"probs": 0, "logits": 0}

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        name, value = which_is_given(probs, logits)
        self._keep_given(name, *broadcast_all(value))
        super().__init__(self._param.size(), validate_args=validate_args)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new.temperature = self.temperature

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        share = clamp_probs(self.probs.expand(shape))
        drawn = clamp_probs(aten.rand(shape, dtype=share.dtype, device=share.device))
        noise = drawn.log() - (-drawn).log1p()
        return (noise + share.log() - (-share).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        off = logits - value * self.temperature
        return self.temperature.log() + off - 2 * off.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that come near to coins as `temperature` goes to 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _batched = {}
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Tensor:
        """How smooth it is."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The coin's log-odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The coin's probabilities."""
        return self.base_dist.probs
