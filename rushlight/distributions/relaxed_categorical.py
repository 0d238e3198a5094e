"""Classes made smooth by a temperature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .categorical import Categorical
from .one_hot_categorical import OfCategorical
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OfCategorical):
    """Logarithms of the shares of `RelaxedOneHotCategorical`."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    _batched = {}

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(
            self._categorical.batch_shape, Size(shape[-1:]), validate_args=validate_args
        )

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new.temperature = self.temperature

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = clamp_probs(aten.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-drawn.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        count = self._categorical._num_events
        logits, value = broadcast_all(self.logits, self._checked(value))
        scores = (logits - value * self.temperature).log_softmax(-1).sum(-1)
        at_least = aten.full_like(self.temperature, float(count)).lgamma()
        return scores + at_least + (count - 1) * self.temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares that come near to one-hot vectors as `temperature` goes to 0 (Jang, Gu and Poole,
    arXiv:1611.01144; Maddison, Mnih and Teh, arXiv:1611.00712)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    _batched = {}
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Tensor:
        """How smooth it is."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The classes' log-probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The classes' probabilities."""
        return self.base_dist.probs
