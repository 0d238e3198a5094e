"""One of several classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from ..ops.gradients.table.rows import aten
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.construct import finfo
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .bernoulli import spread_over_batch
from .constraints import Constraint
from .probs_or_logits import ProbsOrLogits, which_is_given

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits):
    """A number of a class, from 0.

    Args:
        probs: (*, classes), what probabilities are proportional to.
        logits: logarithms of that, instead.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False
    _batched = {"probs": 1, "logits": 1}

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = which_is_given(probs, logits)
        if value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            scaled = value / value.sum(-1, keepdim=True)
        else:
            scaled = value - value.logsumexp(-1, keepdim=True)
        self._keep_given(name, scaled)
        self._num_events: int = scaled.shape[-1]
        super().__init__(Size(scaled.shape[:-1]), validate_args=validate_args)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new._num_events = self._num_events

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    def _unknown(self) -> Tensor:
        shape = self._extended_shape()
        return aten.full(shape, math.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mean(self) -> Tensor:
        return self._unknown()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self._unknown()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        sample_shape = Size(sample_shape)
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = aten.multinomial(rows, sample_shape.numel(), True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        number = self._checked(value).long().unsqueeze(-1)
        logits = self.logits
        if number.shape[:-1] != logits.shape[:-1]:
            number, logits = aten.broadcast_tensors([number, logits])
        return logits.gather(-1, number[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        finite = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(finite * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = aten.arange(self._num_events, device=self._param.device)
        return spread_over_batch(values, self._batch_shape, expand)
