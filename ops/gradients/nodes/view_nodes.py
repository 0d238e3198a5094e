"""The nodes of what was written through a view, or through another view of the same memory."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final
from weakref import ref

import numpy as np

from ...arithmetic.chosen import rows_of
from ...eager.dispatch import eager_function
from ...memory.dtype import Array, Dtype
from ...memory.overlap import reach_of
from ...memory.remembered import remembered
from ...memory.storage import address, part_of, view_of
from ...memory.versions import version_to_keep
from ...table.grad_mode import RUNNING
from ...tensors.tensor import Tensor
from ...tensors.tracing import ACTIVE
from ..table.rules import is_unheard
from .autograd import WALKING, Edge, Node, Saved, edge_of, node_class
from .removable import SEQUENCE

_NEW: Final = object.__new__

__all__ = ["AsStridedBackward0", "CopySlices", "Places", "chosen_part", "copied_part"]


Steps = tuple[int, ...]


Lies = tuple[int, Dtype, Steps, Steps, Dtype, Steps, Steps]
"""How many bytes behind the beginning of a tensor a view of it begins, if it is not before it; and
the dtype, sizes and strides of both."""


def _lie(base: Array, view: Array) -> Lies:
    """How a tensor and a view of it lie."""
    begin = address(view) - address(base)
    return begin, base.dtype, base.shape, base.strides, view.dtype, view.shape, view.strides


class Places:
    """Where the elements of a tensor and of a view of it lie in memory.

    How the two lie is noted at once; the rest is for those nodes alone that are walked through.
    """

    __slots__ = ("_lies",)

    def __init__(self, lies: Lies) -> None:
        self._lies = lies

    @staticmethod
    def of(base: Array, view: Array) -> Places:
        """Those of a tensor and a view of it."""
        return Places(_lie(base, view))

    # ------------------------------------------------------------------ arrays

    def apart(self, grad: Array, of_base: bool) -> tuple[Array, Array] | None:
        """New memory that lies as the tensor's does, as the tensor and as the view, with what is
        given for one of them in it and zeros elsewhere; None where elements share places."""
        begin, dtype, shape, strides, kind, sizes, steps = self._lies
        if _are_simple(dtype.itemsize, shape, strides, kind.itemsize, sizes, steps):
            whole = np.array(grad, dtype, order="C") if of_base else np.zeros(shape, dtype)
            found = _part_of(whole, self._lies)
            if found is not None:
                if not of_base:
                    found[...] = grad
                return whole, found
        reach = reach_of(dtype.itemsize, shape, strides)
        end = reach_of(kind.itemsize, sizes, steps)
        if reach is None or end is None or 0 in shape or 0 in sizes:
            return None
        before = max(-begin, 0)
        memory = np.zeros(max(reach, begin + end) + before, np.uint8)
        whole = view_of(memory, shape, strides, before, dtype)
        part = view_of(memory, sizes, steps, before + begin, kind)
        if of_base:
            whole[...] = grad
        else:
            part[...] = grad
        return whole, part

    # ------------------------------------------------------------------ operators

    @property
    def split_base(self) -> bool:
        """Whether an element of the tensor is two of the view's."""
        return self._lies[1].itemsize > self._lies[4].itemsize

    @property
    def split_view(self) -> bool:
        """Whether an element of the view is two of the tensor's."""
        return self._lies[4].itemsize > self._lies[1].itemsize

    def _numbers(self) -> tuple[tuple[int, Steps, Steps], tuple[int, Steps, Steps]]:
        begin, dtype, shape, strides, kind, sizes, steps = self._lies
        unit = min(dtype.itemsize, kind.itemsize)
        base = _numbered(dtype, shape, strides, max(-begin, 0), unit)
        return base, _numbered(kind, sizes, steps, max(begin, 0), unit)

    @property
    def size(self) -> int:
        """How many places there are."""
        return max(_end(*of) for of in self._numbers())

    @property
    def base(self) -> Array:
        """The places of the tensor's elements, which are not written to."""
        return _places(*self._numbers()[0])

    @property
    def view(self) -> Array:
        """Those of the view's."""
        return _places(*self._numbers()[1])

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


def _read_of(grad: Array, lies: Lies) -> Array | None:
    """Where the view lies in a gradient of the tensor that lies as it does, which is not to be
    written; None of others, and where elements share places."""
    _, dtype, shape, strides, kind, sizes, steps = lies
    if grad.dtype is not dtype or grad.shape != shape or grad.strides != strides:
        return None
    if not _are_simple(dtype.itemsize, shape, strides, kind.itemsize, sizes, steps):
        return None
    return _part_of(grad, lies)


def _part_of(whole: Array, lies: Lies) -> Array | None:
    """The view of memory that lies row by row as the tensor's does; None if it reaches outside."""
    return part_of(whole, lies[5], lies[6], lies[0], lies[4])


@lru_cache(256)
def _are_simple(
    itemsize: int, shape: Steps, strides: Steps, size: int, sizes: Steps, steps: Steps
) -> bool:
    """Whether a tensor lies row by row, and each element of a view has places of its own."""
    if 0 in shape or 0 in sizes or not _lies_by_rows(shape, strides, itemsize):
        return False
    return reach_of(size, sizes, steps) is not None


def _lies_by_rows(shape: Steps, strides: Steps, itemsize: int) -> bool:
    """Whether an array lies row by row, without gaps."""
    for size, step in zip(reversed(shape), reversed(strides), strict=True):
        if size > 1 and step != itemsize:
            return False
        itemsize *= size
    return True


def _numbered(
    dtype: Dtype, shape: Steps, steps: Steps, begin: int, unit: int
) -> tuple[int, Steps, Steps]:
    """The first place, sizes and strides of an array, in units as small as the smaller elements."""
    strides = tuple(step // unit for step in steps)
    if dtype.itemsize > unit:
        shape, strides = (*shape, dtype.itemsize // unit), (*strides, 1)
    return begin // unit, shape, strides


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


def _is_an_array(grad: Tensor) -> bool:
    """Whether a gradient is an array alone, of which no operator need be told."""
    return type(grad) is Tensor and not ACTIVE and is_unheard()


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
        made = self.places.apart(grad._array, False) if _is_an_array(grad) else None
        if made is not None:
            return [Tensor._of(made[0])]
        return [self.places.gather(self.places.spread(grad, False), True)]


class CopySlices(Node):
    """The node of a tensor part of which was written through a view, by the node `inner`."""

    __slots__ = ("inner", "lies", "own")

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, inner: Node, own: int | None) -> None:
        edge, edges = edge_of(base), inner.edges
        if own is not None:
            edges = inner.edges = (*edges[:own], edge, *edges[own + 1 :])
        others = edges[1:] if own == 0 else [e for i, e in enumerate(edges) if i != own]
        super().__init__([edge, *others])
        self.inner, self.own = inner, own
        self.lies = _lie(base._array, view._array)
        inner.writes_for = ref(self)

    def of_view(self) -> Node:
        """The node of the view, as it is since it was written."""
        return AsStridedBackward0(Places(self.lies), (self, 0))

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        (grad,) = grads
        if grad is None:
            return [None] * len(self.edges)
        if _is_an_array(grad):
            read = _read_of(grad._array, self.lies)
            if read is not None:
                return self._applied_to_part(grad, read)
            made = Places(self.lies).apart(grad._array, True)
            if made is not None:
                return self._applied_to_arrays(*made)
        places = Places(self.lies)
        flat = places.spread(grad, True)
        through, others = self._through(places.gather(flat, False))
        if self.edges[0] is None:
            return [None, *others]
        rest = flat.index_fill(0, Tensor._of(places.view.reshape(-1)), 0)
        if through is not None:
            rest = rest + places.spread(through, False)
        return [places.gather(rest, True), *others]

    def _applied_to_arrays(self, whole: Array, part: Array) -> list[Tensor | None]:
        """The same of a gradient in memory of its own, and the part of it that was written."""
        through, others = self._through(Tensor._of(part.copy()))
        if self.edges[0] is None:
            return [None, *others]
        part[...] = 0 if through is None else through._array
        return [Tensor._of(whole), *others]

    def _applied_to_part(self, grad: Tensor, read: Array) -> list[Tensor | None]:
        """The same of a gradient that others may have, in which the part lies at `read`: it is
        copied only if what was written has changed gradients."""
        written = read.copy()
        through, others = self._through(Tensor._of(written))
        if self.edges[0] is None:
            return [None, *others]
        if through is not None and through._array is written:
            return [grad, *others]
        whole = grad._array.copy()
        part = _part_of(whole, self.lies)
        assert part is not None
        part[...] = 0 if through is None else through._array
        return [Tensor._of(whole), *others]

    def _through(self, grad: Tensor) -> tuple[Tensor | None, list[Tensor | None]]:
        """The gradients of what was written over, and of what it was made of."""
        results = self.inner.apply([grad])
        own = self.own
        if own is None:
            return None, results
        others = results[1:] if own == 0 else [r for i, r in enumerate(results) if i != own]
        return results[own], others

    def release(self) -> None:
        self.inner.release()


class _CopiedPart(Node):
    """The node of a tensor to a part of which, that a key of numbers, slices, None and `...` names,
    a tensor of just its sizes and dtype was copied."""

    __slots__ = ("key",)

    key: Any

    def name(self) -> str:
        return CopySlices.name(self)  # type: ignore[arg-type]

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        (grad,) = grads
        if grad is None:
            return [None, None]
        base, value = self.edges if WALKING.leads is None else self.asked_edges()
        if not _is_an_array(grad):
            return self._applied_by_operators(grad)
        array, rest, part = grad._array, None, None
        if value is not None:
            part = Tensor._of(array[self.key].copy())
        if base is not None:
            array = array.copy()
            array[self.key] = 0
            rest = Tensor._of(array)
        return [rest, part]

    def _applied_by_operators(self, grad: Tensor) -> list[Tensor | None]:
        """The same by operators, which are heard and recorded."""
        rest = grad.clone()
        rest[self.key] = 0.0
        return [rest, grad[self.key].clone()]


class _ChosenPart(Node):
    """The node of a tensor to elements of which, that a mask chooses of a part named by numbers,
    those of another one were copied."""

    __slots__ = ("key", "mask")

    key: tuple[Any, ...]
    mask: Saved

    def name(self) -> str:
        return CopySlices.name(self)  # type: ignore[arg-type]

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        (grad,) = grads
        if grad is None:
            return [None, None]
        mask = self.mask.tensor(self)
        if not _is_an_array(grad):
            rest = grad.clone()
            rest[(*self.key, mask)] = 0.0
            return [rest, grad[(*self.key, mask)]]
        base, value = self.edges if WALKING.leads is None else self.asked_edges()
        array, places, whole, part = grad._array, rows_of(mask._array), None, None
        if value is not None:
            part = Tensor._of(array[*self.key, ...].take(places, 0))
        if base is not None:
            array = array.copy()
            array[*self.key, ...][places] = 0
            whole = Tensor._of(array)
        return [whole, part]

    def release(self) -> None:
        self.mask.release()


_PART: Final[type[_CopiedPart]] = node_class(_CopiedPart, "CopySlices")
_CHOSEN: Final[type[_ChosenPart]] = node_class(_ChosenPart, "CopySlices")


def chosen_part(
    base: Edge | None, value: Edge | None, key: tuple[object, ...], mask: Tensor
) -> Node:
    """The node of a tensor to elements of a part of which another one was copied."""
    node = _NEW(_CHOSEN)
    node.edges, node.key = (base, value), key
    node.mask = Saved(mask, None, version_to_keep(mask._array))
    node.bounds, node.attached, node.sequence = RUNNING.bounds, None, next(SEQUENCE)
    return node


def copied_part(base: Edge | None, value: Edge | None, key: object) -> Node:
    """The node of a tensor to a part of which another one was copied, of where both came from."""
    node = _NEW(_PART)
    node.edges, node.key = (base, value), key
    node.bounds, node.attached, node.sequence = RUNNING.bounds, None, next(SEQUENCE)
    return node
