"""What transforms make of another law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from . import constraints
from .constraints import Constraint
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .transforms.base import Shape
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


def _as_list(transforms: object) -> list[Transform]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(each, Transform) for each in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms


class TransformedDistribution(Distribution):
    """The law of y = f(x), x of `base_distribution`: its density at x divided by |dy/dx|.

    Args:
        base_distribution: the law of x.
        transforms: f, one or several of them, the first one first.

    Raises:
        ValueError: no transforms, or a base of too few dimensions for them.
    """

    arg_constraints: dict[str, Constraint] = {}
    _batched = {}
    base_dist: Distribution

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = _as_list(transforms)
        whole = ComposeTransform(self.transforms)
        taken, given = whole.domain.event_dim, whole.codomain.event_dim
        shape, own = base_distribution.batch_shape, len(base_distribution.event_shape)
        shape = Size(shape + base_distribution.event_shape)
        if len(shape) < taken:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {taken}, "
                f"but got {shape}."
            )
        made = whole.forward_shape(shape)
        needed = whole.inverse_shape(made)
        if shape != needed:
            base_distribution = base_distribution.expand(Size(needed[: len(needed) - own]))
        if taken > own:
            base_distribution = Independent(base_distribution, taken - own)
        self.base_dist = base_distribution
        kept = len(made) - max(given, own + given - taken)
        super().__init__(Size(made[:kept]), Size(made[kept:]), validate_args=validate_args)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        super()._expand_parts(new, batch_shape)
        shape: Shape = batch_shape + self._event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        inner = Size(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.base_dist = self.base_dist.expand(inner)
        new.transforms = self.transforms

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Constraint:
        if not self.transforms:
            of_base: Constraint = self.base_dist.support
            return of_base
        made = self.transforms[-1].codomain
        lacking = len(self._event_shape) - made.event_dim
        return constraints.independent(made, lacking) if lacking > 0 else made

    @property
    def has_rsample(self) -> bool:
        return bool(self.base_dist.has_rsample)

    def _forth(self, value: Tensor) -> Tensor:
        for transform in self.transforms:
            value = transform(value)
        return value

    def _back(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return value

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return self._forth(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._forth(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        after, own = self._checked(value), len(self._event_shape)
        stretch: Tensor | float = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(after)
            own += transform.domain.event_dim - transform.codomain.event_dim
            each = transform.log_abs_det_jacobian(before, after)
            stretch = stretch + _sum_rightmost(each, own - transform.domain.event_dim)
            after = before
        density = self.base_dist.log_prob(after)
        return _sum_rightmost(density, own - len(self.base_dist.event_shape)) - stretch

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """The share below turned into the share above where the transforms fall."""
        sign = ComposeTransform(self.transforms).sign
        rises = isinstance(sign, int) and sign == 1
        return value if rises else 0.5 + sign * (value - 0.5)

    def cdf(self, value: Tensor) -> Tensor:
        return self._monotonize_cdf(self.base_dist.cdf(self._back(self._checked(value))))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forth(self.base_dist.icdf(self._monotonize_cdf(value)))
