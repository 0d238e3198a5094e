"""A coin."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..nn.functional import binary_cross_entropy_with_logits
from ..ops.gradients.table.rows import aten
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily
from .probs_or_logits import ProbsOrLogits, which_is_given
from .utils import broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """1 with probability `probs`, else 0.

    Args:
        probs: probabilities of 1.
        logits: their log-odds, instead.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _batched = {"probs": 0, "logits": 0}

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, value = which_is_given(probs, logits)
        self._keep_given(name, *broadcast_all(value))
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        likelier = (self.probs >= 0.5).to(self.probs.dtype)
        return likelier.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return aten.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        missed: Tensor = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return -missed

    def entropy(self) -> Tensor:
        mean: Tensor = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return mean

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = aten.arange(2, dtype=self._param.dtype, device=self._param.device)
        return spread_over_batch(values, self._batch_shape, expand)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.probs.logit(),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.exp().log1p()


def spread_over_batch(values: Tensor, batch_shape: Size, expand: bool) -> Tensor:
    """A list of values as a first dimension before the batch's, repeated if `expand`."""
    values = values.view((-1,) + (1,) * len(batch_shape))
    return values.expand((-1, *batch_shape)) if expand else values
