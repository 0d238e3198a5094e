"""How often each of several classes is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from ..ops.gradients.table.rows import aten
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .constraints import Constraint
from .one_hot_categorical import OfCategorical
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OfCategorical):
    """Counts of each class among `total_count` draws of a `Categorical`.

    Args:
        total_count: one number for all of the batch.
        probs: (*, classes), what probabilities are proportional to.
        logits: logarithms of that, instead.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _batched = {}

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        shape = self._categorical.param_shape
        super().__init__(
            self._categorical.batch_shape, Size(shape[-1:]), validate_args=validate_args
        )

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new.total_count = self.total_count
        new._binomial = self._binomial.expand(batch_shape + self._event_shape)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        sample_shape = Size(sample_shape)
        with no_grad():
            drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape)
            numbers = drawn.movedim(0, -1)
            counts = numbers.new_zeros(self._extended_shape(sample_shape))
            counts.scatter_add_(-1, numbers, aten.ones_like(numbers))
            return counts.type_as(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        logits, counts = broadcast_all(self.logits, self._checked(value))
        impossible = (counts == 0) & (logits == -math.inf)  # 0 times log 0 is 0 here
        powers = (logits.masked_fill(impossible, 0) * counts).sum(-1)
        return powers + (counts.sum(-1) + 1).lgamma() - (counts + 1).lgamma().sum(-1)

    def entropy(self) -> Tensor:
        n = aten.tensor(self.total_count)
        of_order = n * self._categorical.entropy() - (n + 1).lgamma()
        counts = self._binomial.enumerate_support(expand=False)[1:]
        repeated = self._binomial.log_prob(counts).exp() * (counts + 1).lgamma()
        return of_order + repeated.sum([0, -1])
