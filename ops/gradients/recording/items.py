"""Items of tensors, read and written by operators, so that they are recorded."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...eager.dispatch import eager_function
from ...memory.quiet import QUIET, enter, leave
from ...table.direct import LISTENING
from ...table.pointwise import scalar_of
from ...table.table import TABLE
from ...tensors.indexing import read_places
from ...tensors.tape_port import tape
from ...tensors.tensor import PLAIN_TENSORS, Tensor
from ...tensors.tracing import ACTIVE

__all__ = ["as_part", "dims_of", "get_item", "in_order", "is_mask", "parts", "set_item"]


_alias: Final = eager_function("aten::alias")
_index: Final = eager_function("aten::index")
_select: Final = eager_function("aten::select")
_slice: Final = eager_function("aten::slice")
_unsqueeze: Final = eager_function("aten::unsqueeze")


def get_item(tensor: Tensor, key: Any) -> Tensor:
    """`tensor[key]` by operators."""
    kind = type(key)
    if kind is int:
        return _select(tensor, 0, key)  # type: ignore[no-any-return]
    if kind is tuple and _SIMPLE.issuperset(map(type, key)):
        return _viewed(tensor, key)
    if kind is slice or key is None:
        return _viewed(tensor, (key,))
    if kind in PLAIN_TENSORS and key._array.ndim:
        return _index(tensor, [key])  # type: ignore[no-any-return]
    view, indices = _walk(tensor, key)
    if indices:
        return _indexed(view, indices)
    return _alias(view) if view is tensor else view


def _indexed(view: Tensor, indices: list[Tensor | None]) -> Tensor:
    """What index tensors, and None between them, name: with None, which no front knows, without
    looking for how the operator is to be called, where nobody listens to that."""
    kinds = {*map(type, indices)}
    if ACTIVE or LISTENING or type(None) not in kinds or not kinds <= _FOUND:
        return _index(view, indices)  # type: ignore[no-any-return]
    entry = TABLE.operator("aten::index.Tensor")
    assert entry is not None
    values = [view._array, [None if each is None else each._array for each in indices]]
    args = [view, indices]
    made: Any = tape().taped(entry, values, args, False, args, read_places)
    return made  # type: ignore[no-any-return]


def _viewed(tensor: Tensor, parts: tuple[Any, ...]) -> Tensor:
    """The view that numbers, slices, None and `...` name."""
    dim, view = 0, tensor
    for part in parts:
        kind = type(part)
        if kind is slice:
            if part != _ALL:
                step = part.step
                view = _slice(view, dim, part.start, part.stop, 1 if step is None else step)
            dim += 1
        elif kind is int:
            view = _select(view, dim, part)
        elif part is None:
            view = _unsqueeze(view, dim)
            dim += 1
        else:
            dim += tensor._array.ndim - sum(map(dims_of, parts))
    return _alias(view) if view is tensor else view


def parts(tensor: Tensor) -> Tensor:
    """The real and imaginary parts of complex numbers along a last dimension, by an operator."""
    found: Tensor = eager_function("aten::view_as_real")(tensor)
    return found


def set_item(tensor: Tensor, key: object, value: Any) -> None:
    """`tensor[key] = value` by operators."""
    view, indices = _walk(tensor, key)
    if not isinstance(value, Tensor):
        loud = enter(QUIET)
        try:
            value = Tensor._of(scalar_of(value, tensor._array.dtype).copy())
        finally:
            leave(loud)
    if indices:
        if value.dtype is not view.dtype:
            value = value.to(view.dtype)
        view.index_put_(indices, value)
        return
    while value._array.ndim > view._array.ndim and value._array.shape[0] == 1:
        value = value.squeeze(0)
    view.copy_(value)


_ALL: Final = slice(None)
_SIMPLE: Final = frozenset({int, slice, type(None), type(Ellipsis)})
"""Types of the parts of keys that name views."""
_FOUND: Final = PLAIN_TENSORS | {type(None)}
"""Types of what names places."""
_PARTS: Final = PLAIN_TENSORS | {int, bool, slice, type(None), type(Ellipsis)}
"""Types of the parts of keys that are taken as they are."""


def _walk(tensor: Tensor, key: object) -> tuple[Tensor, list[Tensor | None]]:
    """The view that the plain parts of a key name, and the tensors that index it."""
    given = key if isinstance(key, tuple) else (key,)
    parts = [part if type(part) in _PARTS else as_part(part) for part in given]
    dim = 0
    view = tensor
    indices: dict[int, Tensor] = {}
    for part in parts:
        if part is None:
            view = view.unsqueeze(dim)
            dim += 1
        elif part is Ellipsis:
            dim += tensor.ndim - sum(map(dims_of, parts))
        elif isinstance(part, bool):
            view = view.unsqueeze(dim)
            indices[dim] = Tensor._of(np.full(1, part))
            dim += 1
        elif isinstance(part, int):
            view = view.select(dim, part)
        elif isinstance(part, slice):
            if part != _ALL:
                view = eager_function("aten::slice")(
                    view, dim, part.start, part.stop, 1 if part.step is None else part.step
                )
            dim += 1
        elif not part._array.ndim and part._array.dtype.kind in "iu" and part.itemsize != 1:
            view = view.select(dim, int(part))
        else:
            if not part._array.ndim:
                view = view.unsqueeze(dim)
                part = part.reshape([1])
            indices[dim] = part
            dim += max(dims_of(part), 1)
    return view, in_order(indices)


def in_order(indices: dict[int, Tensor]) -> list[Tensor | None]:
    """Index tensors by dimension as a list, with None for the dimensions between them."""
    ordered: list[Tensor | None] = []
    covered = 0
    for place, index in indices.items():
        ordered += [None] * (place - covered)
        ordered.append(index)
        covered = place + dims_of(index)
    return ordered


def is_mask(index: Tensor) -> bool:
    """Whether an index chooses by truths, or by bytes that stand for truths."""
    return index._array.dtype.kind == "b" or index._array.dtype == np.uint8


def dims_of(part: object) -> int:
    """How many dimensions of the tensor a part of a key takes up."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part._array.ndim if isinstance(part, Tensor) and is_mask(part) else 1


def as_part(part: Any) -> Any:
    """A part of a key: a tensor for an array or a list, an int for what can be one."""
    if part is None or part is Ellipsis or isinstance(part, (bool, int, slice, Tensor)):
        return part
    if isinstance(part, np.ndarray):
        return Tensor._of(part)
    if isinstance(part, (list, tuple, range)):
        given = [p._array if isinstance(p, Tensor) else p for p in part]
        made = np.asarray(given)
        return Tensor._of(made if made.size else made.astype(np.int64))
    return part.__index__()
