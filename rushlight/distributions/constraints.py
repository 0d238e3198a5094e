"""What parameters and values have to satisfy.

`check(value)` gives a bool tensor of the value's shape without its last `event_dim` dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..ops.gradients.table.rows import aten
from ..ops.memory.dtype import DTYPES
from ..ops.tensors.construct import finfo
from ..ops.tensors.tensor import Tensor

__all__ = [
    "Constraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "independent",
    "integer_interval",
    "interval",
    "half_open_interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "MixtureSameFamilyConstraint",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_semidefinite",
    "positive_definite",
    "positive_integer",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A region of values.

    Attributes:
        is_discrete: whether its points lie apart.
        event_dim: how many last dimensions make one value together.
    """

    if TYPE_CHECKING:  # attributes of some, properties of others

        @property
        def is_discrete(self) -> bool: ...
        @property
        def event_dim(self) -> int: ...
    else:
        is_discrete = False
        event_dim = 0
    _bounds: ClassVar[tuple[str, ...]] = ()
    """Attributes that the constructor takes and that are shown."""

    def check(self, value: Tensor) -> Tensor:
        """Whether each value lies in the region."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{self.__class__.__name__[1:]}({bounds})"


def _check_is_constraint(base: object) -> None:
    if not isinstance(base, Constraint):
        raise AssertionError(f"base_constraint must be a Constraint, got {type(base).__name__}")


def _all_of_last(checked: Tensor, dims: int) -> Tensor:
    """Whether all are true over the last `dims` dimensions."""
    return checked.flatten(checked.dim() - dims).all(-1) if dims else checked


class _Dependent(Constraint):
    """A region that other values decide on."""

    def __init__(self, *, is_discrete: bool = NotImplemented, event_dim: int = NotImplemented):
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    def _known(self, name: str) -> Any:
        value = getattr(self, f"_{name}")
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    @property
    def is_discrete(self) -> bool:
        return bool(self._known("is_discrete"))

    @property
    def event_dim(self) -> int:
        return int(self._known("event_dim"))

    def __call__(
        self, *, is_discrete: bool = NotImplemented, event_dim: int = NotImplemented
    ) -> _Dependent:
        """The same with more said of it."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: object) -> bool:
    """Whether other values decide on the region."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives a constraint; asked of the class it is a dependent constraint."""

    def __init__(
        self,
        fn: Callable[..., object] | None = None,
        *,
        is_discrete: bool = NotImplemented,
        event_dim: int = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., object]) -> Self:  # type: ignore[override]
        return type(self)(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A region whose values have some dimensions more, all of which must satisfy another."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        _check_is_constraint(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError(
                "reinterpreted_batch_ndims must be an int, got "
                f"{type(reinterpreted_batch_ndims).__name__}"
            )
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(
                f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}"
            )
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim + self.reinterpreted_batch_ndims)

    def check(self, value: Tensor) -> Tensor:
        checked = self.base_constraint.check(value)
        if checked.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_of_last(checked, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        name = self.__class__.__name__[1:]
        return f"{name}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The region of a mixture: that of any of its components, which a dimension is added for."""

    def __init__(self, base_constraint: Constraint) -> None:
        _check_is_constraint(base_constraint)
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim)

    def check(self, value: Tensor) -> Tensor:
        own = self.event_dim
        checked = self.base_constraint.check(value.unsqueeze(-1 - own))
        return checked.flatten(value.dim() - own).all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_constraint!r})"


# --------------------------------------------------------------------------- numbers


class _Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros and a single one."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return boolean.check(value).all(-1) & value.sum(-1).eq(1)


class _Above(Constraint):
    """Numbers with a lower bound."""

    _bounds = ("lower_bound",)

    def __init__(self, lower_bound: Tensor | float) -> None:
        self.lower_bound = lower_bound
        super().__init__()


class _Below(Constraint):
    """Numbers with an upper bound."""

    _bounds = ("upper_bound",)

    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound
        super().__init__()


class _Between(Constraint):
    """Numbers with both."""

    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Tensor | float, upper_bound: Tensor | float) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()


def _are_whole(value: Tensor, within: Tensor) -> Tensor:
    """Which of the values that lie within are whole numbers."""
    return within if value.dtype.kind in "iu" else within & (value % 1 == 0)


class _IntegerInterval(_Between):
    """Whole numbers from one to another."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _are_whole(value, (value >= self.lower_bound) & (value <= self.upper_bound))


class _IntegerLessThan(_Below):
    """Whole numbers up to one."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _are_whole(value, value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Whole numbers from one on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _are_whole(value, value >= self.lower_bound)


class _Real(Constraint):
    """All numbers, not NaN."""

    def check(self, value: Tensor) -> Tensor:
        return value.isnan().logical_not()


class _GreaterThan(_Above):
    """Numbers above one."""

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_Above):
    """Numbers from one on."""

    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class _LessThan(_Below):
    """Numbers below one."""

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers from one to another."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers from one up to another, without that."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


# --------------------------------------------------------------------------- vectors and matrices


class _Simplex(Constraint):
    """Vectors of shares: none negative, and 1 in all (to 1e-6)."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts that sum up to a number."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Matrices with nothing above the diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return _all_of_last(value == value.tril(), 2)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        is_lower = lower_triangular.check(value)
        return is_lower & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Cholesky factors of correlations: lower, positive diagonal, rows of length 1."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        slack = finfo(value.dtype).eps * value.shape[-1] * 10  # room for rounding
        is_lower = lower_cholesky.check(value)
        return is_lower & (value.norm(dim=-1) - 1).abs().le(slack).all(-1)


class _Square(Constraint):
    """Matrices with as many rows as columns."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        is_square = value.shape[-2] == value.shape[-1]
        return value.new_full(value.shape[:-2], is_square, dtype=DTYPES["bool"])


class _Symmetric(_Square):
    """Matrices equal to their transposes (to 1e-6)."""

    def check(self, value: Tensor) -> Tensor:
        is_square = super().check(value)
        if not is_square.all():
            return is_square
        return _all_of_last(aten.isclose(value, value.mT, atol=1e-6), 2)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices with no negative eigenvalue."""

    def check(self, value: Tensor) -> Tensor:
        is_symmetric = super().check(value)
        if not is_symmetric.all():
            return is_symmetric
        return (aten.linalg_eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Tensor) -> Tensor:
        is_symmetric = super().check(value)
        if not is_symmetric.all():
            return is_symmetric
        _, info = aten.linalg_cholesky_ex(value)
        return info == 0


# --------------------------------------------------------------------------- several in one tensor


class _Several(Constraint):
    """Slices of a tensor along `dim`, each with a region of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(each, Constraint) for each in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return any(each.is_discrete for each in self.cseq)

    def _check_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for value with {value.dim()} dimensions"
            )


class _Cat(_Several):
    """Regions of `lengths` slices each."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})"
            )

    @property
    def event_dim(self) -> int:
        return max(int(each.event_dim) for each in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        pieces = value.split(self.lengths, self.dim)
        checked = [each.check(piece) for each, piece in zip(self.cseq, pieces, strict=True)]
        return aten.cat(checked, self.dim)


class _Stack(_Several):
    """A region for each slice."""

    @property
    def event_dim(self) -> int:
        deepest = max(each.event_dim for each in self.cseq)
        return int(deepest + 1 if self.dim + deepest < 0 else deepest)

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        slices = value.unbind(self.dim)
        checked = [each.check(one) for each, one in zip(self.cseq, slices, strict=False)]
        return aten.stack(checked, self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
