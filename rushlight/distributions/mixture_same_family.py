"""Mixtures of laws of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .categorical import Categorical
from .constraints import Constraint, MixtureSameFamilyConstraint
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


def _check(mixture: object, component: object) -> None:
    if not isinstance(mixture, Categorical):
        raise ValueError(
            " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
        )
    if not isinstance(component, Distribution):
        raise ValueError(
            "The Component distribution needs to be an instance of torch.distributions.Distribution"
        )
    ours, theirs = mixture.batch_shape, component.batch_shape[:-1]
    for size, other in zip(reversed(ours), reversed(theirs), strict=False):
        if size != 1 and other != 1 and size != other:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({ours}) is not compatible with "
                f"`component_distribution.batch_shape`({theirs})"
            )
    count, held = mixture.logits.shape[-1], component.batch_shape[-1]
    if count != held:
        raise ValueError(
            f"`mixture_distribution component` ({count}) does not equal "
            f"`component_distribution.batch_shape[-1]` ({held})"
        )


class MixtureSameFamily(Distribution):
    """A component is drawn by `mixture_distribution`, then a value of it.

    Args:
        mixture_distribution: chooses among the components.
        component_distribution: the last dimension of its batch is the components'.
    """

    arg_constraints: dict[str, Constraint] = {}
    has_rsample = False
    _batched = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        _check(mixture_distribution, component_distribution)
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = component_distribution.batch_shape[-1]
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        batch = Size(component_distribution.batch_shape[:-1])
        super().__init__(batch, event, validate_args=validate_args)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        components = batch_shape + (self._num_component,)
        new._component_distribution = self._component_distribution.expand(components)
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims

    @constraints.dependent_property
    def support(self) -> Constraint:
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """What chooses."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """What is chosen from."""
        return self._component_distribution

    def _averaged(self, of_components: Tensor) -> Tensor:
        """The mean over components, by their probabilities."""
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return (probs * of_components).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._averaged(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        inside = self._averaged(self.component_distribution.variance)
        off = self.component_distribution.mean - self._pad(self.mean)
        return inside + self._averaged(off.pow(2.0))

    def cdf(self, x: Tensor) -> Tensor:
        of_components = self.component_distribution.cdf(self._pad(x))
        return (of_components * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        of_components = self.component_distribution.log_prob(self._pad(self._checked(x)))
        return (of_components + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self._batch_shape)
            number = chosen.reshape(chosen.shape + (1,) * (1 + self._event_ndims))
            number = number.expand(drawn.shape[:dim] + (1,) + self._event_shape)
            return drawn.gather(dim, number).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        """A dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        """Dimensions for the batch that the mixture lacks, and for the value."""
        lacking = len(self._batch_shape) - len(self.mixture_distribution.batch_shape)
        batch, count = x.shape[:-1], x.shape[-1:]
        return x.reshape(batch + (1,) * lacking + count + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )
