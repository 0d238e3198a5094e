"""The nodes of what was written through a view, or through another view of the same memory."""

from __future__ import annotations

from weakref import ref

import numpy as np

from ...eager.dispatch import eager_function
from ...memory.dtype import Array
from ...memory.remembered import remembered
from ...memory.storage import address
from ...tensors.tensor import Tensor
from .autograd import Edge, Node, edge_of

__all__ = ["AsStridedBackward0", "CopySlices", "Places"]


class Places:
    """Where the elements of a tensor and of a view of it lie, as numbers of places in memory."""

    def __init__(self, base: Array, view: Array) -> None:
        self.split_base = base.itemsize > view.itemsize
        self.split_view = view.itemsize > base.itemsize
        unit = min(base.itemsize, view.itemsize)
        at, of_view = address(base), address(view)
        start = min(at, of_view)
        self._base = (at - start) // unit, *_form(base, unit)
        self._view = (of_view - start) // unit, *_form(view, unit)
        self.size = max(_end(*self._base), _end(*self._view))

    @property
    def base(self) -> Array:
        """The places of the tensor's elements, which are not written to."""
        return _places(*self._base)

    @property
    def view(self) -> Array:
        """Those of the view's."""
        return _places(*self._view)

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


Steps = tuple[int, ...]


def _form(array: Array, unit: int) -> tuple[Steps, Steps]:
    """The sizes and strides of an array of smaller elements."""
    shape, strides = array.shape, tuple(s // unit for s in array.strides)
    if array.itemsize > unit:
        return (*shape, array.itemsize // unit), (*strides, 1)
    return shape, strides


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
