"""One of several classes, as a vector of zeros and a single one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from ..ops.gradients.table.rows import aten
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OfCategorical(Distribution):
    """A law of vectors, one element for each class of a `Categorical` inside."""

    _categorical: Categorical

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        new._categorical = self._categorical.expand(batch_shape)

    def _new(self, *args: object, **options: object) -> Tensor:
        """A new tensor of the parameter's dtype."""
        return self._categorical._new(*args, **options)

    @property
    def probs(self) -> Tensor:
        """The classes' probabilities, (*, classes)."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of `probs` and `logits`."""
        return self._categorical.param_shape


class OneHotCategorical(OfCategorical):
    """A vector with a one for the class that was drawn.

    Args:
        probs: (*, classes), what probabilities are proportional to.
        logits: logarithms of that, instead.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _batched = {}

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(
            self._categorical.batch_shape, Size(shape[-1:]), validate_args=validate_args
        )

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._as_vectors(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _as_vectors(self, numbers: Tensor) -> Tensor:
        return aten.one_hot(numbers, self._categorical._num_events).to(self.probs.dtype)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._as_vectors(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        return self._categorical.log_prob(self._checked(value).argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._event_shape[0]
        values = aten.eye(count, dtype=self._param.dtype, device=self._param.device)
        values = values.view((count,) + (1,) * len(self._batch_shape) + (count,))
        return values.expand((count, *self._batch_shape, count)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Draws pass gradients on as if they were the probabilities (Bengio et al.,
    arXiv:1308.3432)."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
