"""What a transform is, its inverse, and several in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...ops.gradients.table.rows import aten
from ...ops.tensors.tensor import Tensor
from .. import constraints
from ..constraints import Constraint
from ..utils import _sum_rightmost

__all__ = ["ComposeTransform", "IndependentTransform", "Transform", "identity_transform"]

Shape = tuple[int, ...]


def check_length(is_enough: bool) -> None:
    """Raise ValueError where a shape is too short for what a transform takes."""
    if not is_enough:
        raise ValueError("Too few dimensions on input")


def _is_equal(ours: object, theirs: Any) -> bool:
    if isinstance(ours, Tensor) or isinstance(theirs, Tensor):
        return bool((ours == theirs).all())
    return bool(ours == theirs)


class Transform:
    """A map of tensors that can be turned back.

    `_call` and `_inverse` say how; what is called remembers the last pair if `cache_size` is 1.

    Attributes:
        domain: what it takes.
        codomain: what it gives.
        bijective: whether going forth and back, and back and forth, changes nothing.
        sign: of the derivative, where the map is monotone.
    """

    _arguments: ClassVar[tuple[str, ...]] = ()
    """Attributes that the constructor takes, in order, before `cache_size`."""
    _is_told_by_arguments: ClassVar[bool] = False
    """Whether transforms of this class with equal arguments are equal."""

    if TYPE_CHECKING:  # attributes of some, properties of others

        @property
        def domain(self) -> Constraint: ...
        @property
        def codomain(self) -> Constraint: ...
        @property
        def bijective(self) -> bool: ...
    else:
        bijective = False

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Transform | None = None
        if cache_size:
            self._cached_x_y: tuple[Tensor | None, Tensor | None] = (None, None)
        super().__init__()

    @property
    def event_dim(self) -> int:
        """How many last dimensions it takes and gives together.

        Raises:
            ValueError: it takes more or fewer than it gives.
        """
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return int(self.domain.event_dim)

    @property
    def inv(self) -> Transform:
        """The way back; its own way back is this."""
        if self._inv is None:
            self._inv = self._make_inverse()
        return self._inv

    def _make_inverse(self) -> Transform:
        return _InverseTransform(self)

    @property
    def sign(self) -> Tensor | int:
        """+1 or -1, the derivative's sign, where there is one."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same map with another cache."""
        if self._cache_size == cache_size:
            return self
        owner = next(c for c in type(self).__mro__ if "_arguments" in vars(c))
        if type(self).__init__ is not owner.__init__:  # type: ignore[misc]
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        given = [getattr(self, name) for name in self._arguments]
        make: Callable[..., Transform] = type(self)
        return make(*given, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            self._is_told_by_arguments
            and type(self) is type(other)
            and all(_is_equal(getattr(self, n), getattr(other, n)) for n in self._arguments)
        )

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Tensor) -> Tensor:
        """The result for `x`."""
        if self._cache_size == 0:
            return self._call(x)
        before, after = self._cached_x_y
        if after is None or x is not before:
            after = self._call(x)
            self._cached_x_y = (x, after)
        return after

    def _inv_call(self, y: Tensor) -> Tensor:
        """What the result `y` comes from."""
        if self._cache_size == 0:
            return self._inverse(y)
        before, after = self._cached_x_y
        if before is None or y is not after:
            before = self._inverse(y)
            self._cached_x_y = (before, y)
        return before

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx|, of the shape of `x` without its `domain.event_dim` last dimensions."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}()"

    def forward_shape(self, shape: Shape) -> Shape:
        """The result's shape, from the argument's."""
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        """The argument's shape, from the result's."""
        return shape


class _InverseTransform(Transform):
    """The way back of another transform."""

    _arguments = ("_inv",)
    _is_told_by_arguments = True

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Transform = transform

    @property
    def domain(self) -> Constraint:
        return self._inv.codomain

    @property
    def codomain(self) -> Constraint:
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        return bool(self._inv.bijective)

    @property
    def sign(self) -> Tensor | int:
        return self._inv.sign

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Shape) -> Shape:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return self._inv.forward_shape(shape)


def _widest(steps: Iterable[tuple[int, int]]) -> int:
    """How many dimensions a chain needs at its end, when each step turns `taken` into `given`."""
    own = 0
    for taken, given in steps:
        own = max(own, taken) + given - taken
    return own


def _with_event_dim(base: Constraint, event_dim: int) -> Constraint:
    more = event_dim - base.event_dim
    return constraints.independent(base, more) if more > 0 else base


class ComposeTransform(Transform):
    """One transform after another, the first one first.

    Args:
        parts: the transforms.
        cache_size: what the parts are given too, if not 0.
    """

    _arguments = ("parts",)
    _is_told_by_arguments = True

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) if cache_size else part for part in parts]

    @property
    def domain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        first = self.parts[0].domain
        back = [(p.codomain.event_dim, p.domain.event_dim) for p in reversed(self.parts)]
        return _with_event_dim(first, _widest(back))

    @property
    def codomain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        forth = [(p.domain.event_dim, p.codomain.event_dim) for p in self.parts]
        return _with_event_dim(self.parts[-1].codomain, _widest(forth))

    @property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Tensor | int:
        product: Tensor | int = 1
        for part in self.parts:
            product = product * part.sign
        return product

    def _make_inverse(self) -> Transform:
        back = ComposeTransform([part.inv for part in reversed(self.parts)])
        back._inv = self
        return back

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return aten.zeros_like(x)
        own, total, at = self.domain.event_dim, None, x
        for part in self.parts:
            taken = part.domain.event_dim
            after = y if part is self.parts[-1] else part(at)
            stretch = _sum_rightmost(part.log_abs_det_jacobian(at, after), own - taken)
            total = stretch if total is None else total + stretch
            own, at = own + part.codomain.event_dim - taken, after
        assert total is not None
        return total

    def forward_shape(self, shape: Shape) -> Shape:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inside = ",\n    ".join(map(repr, self.parts))
        return f"{self.__class__.__name__}(\n    {inside}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform some of whose batch dimensions count as the value's own.

    Args:
        base_transform: the transform.
        reinterpreted_batch_ndims: how many; Jacobians are summed up over them.
    """

    _arguments = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self) -> Constraint:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Constraint:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        return bool(self.base_transform.bijective)

    @property
    def sign(self) -> Tensor | int:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        check_length(x.dim() >= self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        check_length(y.dim() >= self.codomain.event_dim)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        each = self.base_transform.log_abs_det_jacobian(x, y)
        return _sum_rightmost(each, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Shape) -> Shape:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        inside = f"{self.base_transform!r}, {self.reinterpreted_batch_ndims}"
        return f"{self.__class__.__name__}({inside})"
