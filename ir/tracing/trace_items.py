"""`tensor[key]` and `tensor[key] = value` while tracing: an operator for each part of a key."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from ...ops.eager.aten import aten
from ...ops.gradients.recording.items import as_part, dims_of, in_order, is_mask
from ...ops.memory.dtype import CPU
from ...ops.tensors.tensor import Tensor
from ...ops.tensors.tracing import current_tracer
from ...typecheck.types.types import DEVICE, INT, NONE, TENSOR, ListType
from ..graphs.graph import Value
from .trace_writer import Writer

__all__ = ["get_item", "note_made", "set_item"]

_END: Final = sys.maxsize


def get_item(tensor: Tensor, key: object) -> object:
    """`tensor[key]`."""
    view, indices = _walk(tensor, key)
    if indices:
        return aten.index(view, indices)
    return aten.alias(view) if view is tensor else view


def set_item(tensor: Tensor, key: object, value: object) -> None:
    """`tensor[key] = value`, which writes into the tensor unless indices alone are its key."""
    view, indices = _walk(tensor, key)
    if not isinstance(value, Tensor):
        value = Tensor._of(np.asarray(value, tensor._array.dtype))
    if indices:
        if value._array.dtype != view._array.dtype:
            value = value.to(view.dtype)
        with _in_place(view is not tensor):
            aten.index_put_(view, indices, _without_ones(value, view))
        return
    with _in_place():
        _fill(view, value)


@contextmanager
def _in_place(wanted: bool = True) -> Iterator[None]:
    """Have what writes into a view written down as such, also where a trace wants new memory."""
    tracer: Any = current_tracer()
    before, tracer.writes_views = tracer.writes_views, wanted
    try:
        yield
    finally:
        tracer.writes_views = before


def _fill(view: Tensor, value: Tensor) -> None:
    if value._array.shape == view._array.shape:
        view.copy_(value)
    elif not value._array.ndim:
        view.fill_(value)
    else:
        view.copy_(_without_ones(value, view).expand(view._array.shape))


def _without_ones(value: Tensor, target: Tensor) -> Tensor:
    """A value without the leading dimensions of size 1 that it has too many of."""
    shape = value._array.shape
    first = 0
    while first < len(shape) and shape[first] == 1 and len(shape) - first > target._array.ndim:
        first += 1
    return value.view(shape[first:]) if first else value


def _walk(tensor: Tensor, key: object) -> tuple[Tensor, list[Tensor | None]]:
    """The view that the plain parts of a key name, and the tensors that index it."""
    parts = [_as_part(part) for part in _parts(key)]
    consumed = sum(map(dims_of, parts))
    dim = 0
    view = tensor
    indices: dict[int, Tensor] = {}
    for part in parts:
        if part is None:
            view = aten.unsqueeze(view, dim)
            dim += 1
        elif part is Ellipsis:
            dim += tensor._array.ndim - consumed
        elif isinstance(part, bool):
            view = aten.unsqueeze(view, dim)
            indices[dim] = Tensor._of(np.full(1, part))
            dim += 1
        elif _is_truth(part):
            view = aten.unsqueeze(view, dim)
            indices[dim] = aten.unsqueeze(part, 0)
            dim += 1
        elif isinstance(part, int) or _is_number(part):
            view = aten.select(view, dim, part)
        elif isinstance(part, slice):
            start = 0 if part.start is None else part.start
            stop = _END if part.stop is None else part.stop
            view = aten.slice(view, dim, start, stop, 1 if part.step is None else part.step)
            dim += 1
        else:
            indices[dim] = part
            dim += dims_of(part)
    return view, in_order(indices)


def copy_to(tensor: Tensor) -> Tensor:
    """A new tensor put on its device, which a trace shows."""
    return aten.to(tensor, dtype=tensor.dtype, device=CPU)


def note_made(tracer: Writer, tensor: Tensor, through: Sequence[str]) -> None:
    """Write down how a tensor was made: `through` operators of data, or of its sizes."""
    for name in through:
        if name == "to":
            copy_to(tensor)
        else:
            _insert(tracer, tensor, name, [tracer.value_of(tensor)])
    if not through:
        sizes = [tracer.constant(size, INT) for size in tensor._array.shape]
        whole = tracer.insert("prim::ListConstruct", sizes, [ListType(INT)]).output
        kind = [tracer.constant(number, INT) for number in (tensor.dtype.number, 0)]
        rest = [tracer.constant(CPU, DEVICE), *(tracer.constant(None, NONE) for _ in range(2))]
        _insert(tracer, tensor, "empty.memory_format", [whole, *kind, *rest])


def _insert(tracer: Writer, tensor: Tensor, overload: str, inputs: list[Value]) -> None:
    tracer.learn_result(tensor, tracer.apply(f"aten::{overload}", inputs, TENSOR))


def _parts(key: object) -> tuple[object, ...]:
    if isinstance(key, tuple):
        return key
    if isinstance(key, list) and any(isinstance(p, (slice, type(None), Tensor)) for p in key):
        return tuple(key)
    return (key,)


def _is_truth(part: object) -> bool:
    return isinstance(part, Tensor) and not part._array.ndim and is_mask(part)


def _is_number(part: object) -> bool:
    return isinstance(part, Tensor) and not part._array.ndim and not is_mask(part)


def _as_part(part: object) -> Any:
    made = as_part(part)
    return copy_to(made) if isinstance(part, (list, tuple, range)) else made
