"""Transforms onto regions: `biject_to` one to one, `transform_to` in any way that optimizers can
use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from . import constraints, transforms
from .constraints import Constraint
from .transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]
Made = TypeVar("Made", bound=Factory)


class ConstraintRegistry:
    """Which transform leads from all real numbers to a kind of region."""

    def __init__(self) -> None:
        self._registry: dict[type[Constraint], Factory] = {}
        super().__init__()

    @overload
    def register(self, constraint: object, factory: None = None) -> Callable[[Made], Made]: ...
    @overload
    def register(self, constraint: object, factory: Made) -> Made: ...
    def register(self, constraint: object, factory: Factory | None = None) -> object:
        """Say how to make the transform for a class of constraints (or that of an instance);
        without a factory, a decorator of one.

        Raises:
            TypeError: neither a constraint nor a class of them.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, Constraint)):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, "
                f"but got {kind}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The transform onto this region.

        Raises:
            NotImplementedError: none is known.
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            kind = type(constraint).__name__
            raise NotImplementedError(f"Cannot transform {kind} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _in_both(*kinds: type[Constraint] | Constraint) -> Callable[[Factory], Factory]:
    """Register a bijection, which is a transform as well."""

    def register(factory: Factory) -> Factory:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return register


@_in_both(constraints.real)
def _to_real(constraint: object) -> Transform:
    return transforms.identity_transform


@_in_both(constraints.greater_than, constraints.greater_than_eq)
def _to_above(constraint: constraints._Above) -> Transform:
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_in_both(constraints.less_than)
def _to_below(constraint: constraints._Below) -> Transform:
    mirror = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), mirror])


@_in_both(constraints.interval, constraints.half_open_interval)
def _to_interval(constraint: constraints._Between) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    unit = transforms.SigmoidTransform()
    if isinstance(low, int | float) and (low, high) == (0, 1):
        return unit
    return transforms.ComposeTransform([unit, transforms.AffineTransform(low, high - low)])


@_in_both(constraints.corr_cholesky)
def _to_corr_cholesky(constraint: object) -> Transform:
    return transforms.CorrCholeskyTransform()


biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: transforms.LowerCholeskyTransform())
for _kind in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_kind, lambda _: transforms.PositiveDefiniteTransform())


def _register_combined(registry: ConstraintRegistry) -> None:
    """Regions made of regions, each part by the same registry."""

    def independent(constraint: constraints._IndependentConstraint) -> Transform:
        base = registry(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    def cat(constraint: constraints._Cat) -> Transform:
        parts = [registry(each) for each in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    def stack(constraint: constraints._Stack) -> Transform:
        return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)

    registry.register(constraints.independent, independent)
    registry.register(constraints.cat, cat)
    registry.register(constraints.stack, stack)


_register_combined(biject_to)
_register_combined(transform_to)
