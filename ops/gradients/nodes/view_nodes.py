"""The nodes of what was written through a view, or through another view of the same memory."""

from __future__ import annotations

from functools import cached_property
from weakref import ref

import numpy as np

from ...eager.dispatch import eager_function
from ...memory.dtype import Array
from ...memory.remembered import remembered
from ...memory.storage import address
from ...tensors.tensor import Tensor
from .autograd import Edge, Node, edge_of

__all__ = ["AsStridedBackward0", "CopySlices", "Places"]


Steps = tuple[int, ...]
Lying = tuple[int, int, Steps, Steps]
"""The address of an array, the bytes of an element, sizes and strides."""


def _lying(array: Array) -> Lying:
    return address(array), array.itemsize, array.shape, array.strides


class Places:
    """Where the elements of a tensor and of a view of it lie, as numbers of places in memory.

    How the two lie is noted at once; the rest is for those nodes alone that are walked through.
    """

    def __init__(self, base: Array, view: Array) -> None:
        self._base = _lying(base)
        self._view = _lying(view)

    @property
    def split_base(self) -> bool:
        """Whether an element of the tensor is two of the view's."""
        return self._base[1] > self._view[1]

    @property
    def split_view(self) -> bool:
        """Whether an element of the view is two of the tensor's."""
        return self._view[1] > self._base[1]

    @cached_property
    def _numbers(self) -> tuple[tuple[int, Steps, Steps], tuple[int, Steps, Steps]]:
        unit = min(self._base[1], self._view[1])
        start = min(self._base[0], self._view[0])
        return _numbered(self._base, start, unit), _numbered(self._view, start, unit)

    @cached_property
    def size(self) -> int:
        """How many places there are."""
        return max(_end(*of) for of in self._numbers)

    @property
    def base(self) -> Array:
        """The places of the tensor's elements, which are not written to."""
        return _places(*self._numbers[0])

    @property
    def view(self) -> Array:
        """Those of the view's."""
        return _places(*self._numbers[1])

    def spread(self, grad: Tensor, of_base: bool) -> Tensor:
        """The memory that a gradient of one of the two lies in, flat; zero elsewhere."""
        if self.split_base if of_base else self.split_view:
            grad = eager_function("aten::view_as_real")(grad)
        places = Tensor._of((self.base if of_base else self.view).reshape(-1))
        flat = grad.new_zeros([self.size])
        spread: Tensor = flat.index_add(0, places, grad.reshape([-1]))
        return spread

    def gather(self, flat: Tensor, of_base: bool) -> Tensor:
        """What lies in flat memory, as one of the two tensors."""
        places = Tensor._of(self.base if of_base else self.view)
        found: Tensor = flat.take(places)
        if self.split_base if of_base else self.split_view:
            found = eager_function("aten::view_as_complex")(found)
        return found


def _numbered(lies: Lying, start: int, unit: int) -> tuple[int, Steps, Steps]:
    """The first place, sizes and strides of an array, in units as small as the smaller elements."""
    at, itemsize, shape, steps = lies
    strides = tuple(step // unit for step in steps)
    if itemsize > unit:
        shape, strides = (*shape, itemsize // unit), (*strides, 1)
    return (at - start) // unit, shape, strides


def _end(offset: int, shape: Steps, strides: Steps) -> int:
    """The place behind the last one; 0 where there are no elements."""
    if 0 in shape:
        return 0
    steps = zip(shape, strides, strict=True)
    return offset + 1 + sum((size - 1) * max(stride, 0) for size, stride in steps)


@remembered(8 << 20)
def _places(offset: int, shape: Steps, strides: Steps) -> Array:
    places = np.full(shape, offset, np.int64)
    for dim, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        steps = np.arange(size) * stride
        places += steps.reshape((size,) + (1,) * (len(shape) - dim - 1))
    return places


class AsStridedBackward0(Node):
    """The node of a view whose memory was written after it was made."""

    __slots__ = ("places",)

    def __init__(self, places: Places, edge: Edge) -> None:
        super().__init__([edge])
        self.places = places

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        (grad,) = grads
        if grad is None:
            return [None]
        return [self.places.gather(self.places.spread(grad, False), True)]


class CopySlices(Node):
    """The node of a tensor part of which was written through a view, by the node `inner`."""

    __slots__ = ("inner", "own", "places")

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, inner: Node, own: int | None) -> None:
        self.own = own
        edge = edge_of(base)
        if self.own is not None:
            inner.edges[self.own] = edge
        others = [e for i, e in enumerate(inner.edges) if i != self.own]
        super().__init__([edge, *others])
        self.inner = inner
        self.places = Places(base._array, view._array)
        inner.extras().writes_for = ref(self)

    def of_view(self) -> Node:
        """The node of the view, as it is since it was written."""
        return AsStridedBackward0(self.places, (self, 0))

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        (grad,) = grads
        if grad is None:
            return [None] * len(self.edges)
        flat = self.places.spread(grad, True)
        results = self.inner.apply([self.places.gather(flat, False)])
        through = None if self.own is None else results[self.own]
        others = [r for i, r in enumerate(results) if i != self.own]
        if self.edges[0] is None:
            return [None, *others]
        rest = flat.index_fill(0, Tensor._of(self.places.view.reshape(-1)), 0)
        if through is not None:
            rest = rest + self.places.spread(through, False)
        return [self.places.gather(rest, True), *others]

    def release(self) -> None:
        self.inner.release()
