"""What all distributions have: shapes, checks of parameters and values, copies of other shapes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from ..ops.table.grad_mode import no_grad
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from .constraints import Constraint, is_dependent
from .utils import _lazy_property_and_property, broadcast_all

__all__ = ["Distribution"]


class Distribution:
    """A law that random tensors follow.

    A draw has the shape `sample_shape + batch_shape + event_shape`: independent draws, of a batch
    of laws, whose single values have `event_shape`.

    Attributes:
        arg_constraints: what each parameter has to satisfy.
        support: what values satisfy.
        has_rsample: whether draws pass gradients to parameters.
        has_enumerate_support: whether all values can be listed.

    Raises (when made, if `validate_args`):
        ValueError: a parameter that does not satisfy its constraint.
    """

    _validate_args = __debug__
    _batched: ClassVar[dict[str, int]]
    """Attributes that have the batch's shape, and how many dimensions of their own follow it."""

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their arguments unless told otherwise."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Size = Size(),
        event_shape: Size = Size(),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. "
                "Please set `arg_constraints = {}` or initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        for name, constraint in wanted.items():
            waits = isinstance(getattr(type(self), name, None), _lazy_property_and_property)
            if (name in vars(self) or not waits) and not is_dependent(constraint):
                self._check_parameter(name, constraint)

    def _check_parameter(self, name: str, constraint: Constraint) -> None:
        value = getattr(self, name)
        if constraint.check(value).all():
            return
        raise ValueError(
            f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) "
            f"of distribution {self!r} to satisfy the constraint {constraint!r}, "
            f"but found invalid values:\n{value}"
        )

    def _take(self, validate_args: bool | None, **parameters: Tensor | float) -> None:
        """Keep parameters, broadcast to the one shape that becomes the batch's."""
        tensors = broadcast_all(*parameters.values())
        for name, tensor in zip(parameters, tensors, strict=True):
            setattr(self, name, tensor)
        Distribution.__init__(self, tensors[0].size(), validate_args=validate_args)

    def _get_checked_instance(self, cls: type, _instance: Self | None = None) -> Self:
        """An empty instance to fill, or the one that a subclass has begun.

        Raises:
            NotImplementedError: a subclass with a constructor of its own did not begin one.
        """
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method."
            )
        return self.__new__(type(self))

    def _begin_copy(self, _instance: Self | None) -> Self:
        """An instance for `expand`, for the class that says what is `_batched`."""
        owner = next((c for c in type(self).__mro__ if "_batched" in vars(c)), None)
        if owner is None:
            raise NotImplementedError
        return self._get_checked_instance(owner, _instance)

    def _expand_parts(self, new: Self, batch_shape: Size) -> None:
        for name, own in self._batched.items():
            if name in vars(self):
                value: Tensor = vars(self)[name]
                setattr(new, name, value.expand(batch_shape + value.shape[value.ndim - own :]))

    def _finish_copy(self, new: Self, batch_shape: Size) -> Self:
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def expand(self, batch_shape: Sequence[int], _instance: Self | None = None) -> Self:
        """The same law with a larger batch; parameters are views of these, nothing is checked.

        Args:
            batch_shape: what the batch's shape broadcasts to.
            _instance: what a subclass has made of itself, to be filled.

        Raises:
            NotImplementedError: a subclass that does not say how.
        """
        new = self._begin_copy(_instance)
        batch_shape = Size(batch_shape)
        self._expand_parts(new, batch_shape)
        return self._finish_copy(new, batch_shape)

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of laws."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    if TYPE_CHECKING:  # attributes in some classes, properties in others

        @property
        def arg_constraints(self) -> Mapping[str, Constraint]: ...
        @property
        def support(self) -> Constraint: ...
        @property
        def has_rsample(self) -> bool: ...
        @property
        def has_enumerate_support(self) -> bool: ...
    else:
        has_rsample = False
        has_enumerate_support = False

        @property
        def arg_constraints(self) -> dict[str, Constraint]:
            """What each parameter has to satisfy."""
            raise NotImplementedError

        @property
        def support(self) -> Constraint:
            """What values satisfy."""
            raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The expected value, of shape `batch_shape + event_shape`."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The likeliest value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance from the mean."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Draws without gradients, `sample_shape + batch_shape + event_shape`."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Draws that pass gradients to the parameters.

        Raises:
            NotImplementedError: the law has no such draws.
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """`n` draws; deprecated."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability of a value: the value's shape but for
        `event_shape`."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to this one."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The value up to which lies this probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first dimension, for all of the batch (or 1 where not `expand`).

        Raises:
            NotImplementedError: there are too many.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The expected negative logarithm of the density, in nats, of `batch_shape`."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Sequence[int] = Size()) -> Size:
        """The shape of draws."""
        own = self._batch_shape + self._event_shape if self._event_shape else self._batch_shape
        return Size(sample_shape) + own if sample_shape else own

    def _validate_sample(self, value: Tensor) -> None:
        """Whether a value can be one of this law's.

        Raises:
            ValueError: it is no tensor, has another shape or lies outside the support.
        """
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        own = len(self._event_shape)
        if value.size()[value.dim() - own :] != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.size()} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for ours, theirs in zip(reversed(expected), reversed(value.size()), strict=False):
            if ours != theirs and ours != 1 and theirs != 1:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.size()} vs {expected}."
                )
        self._check_support(value)

    def _check_support(self, value: Tensor) -> None:
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable "
                "sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not support.check(value).all():
            raise ValueError(
                "Expected value argument "
                f"({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    def _checked(self, value: Tensor) -> Tensor:
        """The value, after a look at it if arguments are checked."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            if name in vars(self):
                value = vars(self)[name]
                shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{self.__class__.__name__}({', '.join(shown)})"
