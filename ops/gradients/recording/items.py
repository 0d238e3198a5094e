"""Items of tensors, read and written by operators, so that they are recorded."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, Final

import numpy as np

from ...arithmetic.chosen import rows_of
from ...eager.aten import aten
from ...eager.dispatch import eager_function
from ...eager.looks import is_left_alone
from ...memory.dtype import Array
from ...memory.inference import MADE
from ...memory.made_since import WATCHED
from ...memory.overlap import lies_as, may_share
from ...memory.quiet import QUIET, enter, leave
from ...memory.versions import written
from ...table.direct import LISTENING
from ...table.grad_mode import ANOMALY
from ...table.pointwise import scalar_of
from ...table.table import TABLE
from ...tensors.differentiable import BEHIND
from ...tensors.indexing import BASIC, as_index, put_item, read_places
from ...tensors.indexing import get_item as read_item
from ...tensors.keys import without_tensors
from ...tensors.overriding import STATE
from ...tensors.tape_port import tape
from ...tensors.tensor import PLAIN_TENSORS, Tensor
from ...tensors.tracing import ACTIVE
from ..nodes.autograd import Edge, Node, edge_of
from ..nodes.packing import PACKING
from ..nodes.view_nodes import AsStridedBackward0, chosen_part, copied_part
from ..table.rules import is_unwatched

__all__ = ["as_part", "dims_of", "get_item", "in_order", "is_mask", "parts", "set_item"]


_alias: Final = eager_function("aten::alias")
_index: Final = eager_function("aten::index")
_index_put_: Final = eager_function("aten::index_put_")
_select: Final = eager_function("aten::select")
_slice: Final = eager_function("aten::slice")
_unsqueeze: Final = eager_function("aten::unsqueeze")


def get_item(tensor: Tensor, key: Any) -> Tensor:
    """`tensor[key]` by operators."""
    kind = type(key)
    try:
        if kind is int:
            return _select(tensor, 0, key)  # type: ignore[no-any-return]
        if key is None:
            return _unsqueeze(tensor, 0)  # type: ignore[no-any-return]
        if kind is slice and (key != _ALL or STATE.below is not None):
            return _sliced(tensor, 0, key)
        if kind is tuple and BASIC.issuperset(map(type, key)):
            return _viewed(tensor, key)
        return _item(tensor, key)
    except IndexError:
        _tell(tensor, key)
        raise


def _tell(tensor: Tensor, key: object) -> None:
    """Say what is wrong with a key.

    Raises:
        IndexError: there is no such part.
    """
    if type(tensor) in PLAIN_TENSORS:
        read_item(tensor._array, without_tensors(key))


def _item(tensor: Tensor, key: Any) -> Tensor:
    """The same for keys that more than one number, slice, None or a tuple of these is in."""
    kind = type(key)
    if kind is slice:
        return _viewed(tensor, (key,))
    if kind in PLAIN_TENSORS and key._array.ndim:
        return _index(tensor, [key])  # type: ignore[no-any-return]
    if kind is list and {*map(type, key)} == {int}:
        return _index(tensor, [as_part(key)])  # type: ignore[no-any-return]
    if kind is tuple and all(map(_is_of_places, key)) and len(key) <= tensor._array.ndim:
        return _index(tensor, [*key])  # type: ignore[no-any-return]
    named = _places_in(tensor, key) if kind is tuple else None
    if named is not None:
        return _indexed(tensor, named)
    view, indices = _walk(tensor, key)
    if indices:
        return _indexed(view, indices)
    return _alias(view) if view is tensor else view


def _places_in(tensor: Tensor, key: tuple[Any, ...]) -> list[Tensor | None] | None:
    """The tensors of whole numbers that a key is made of, with None for dimensions before them that
    are taken as they are; None if there is something else in it, or too much."""
    found: list[Tensor | None] = []
    for part in key:
        if type(part) is slice and part == _ALL:
            found.append(None)
        elif _is_of_places(part):
            found.append(part)
        else:
            return None
    if len(found) > tensor._array.ndim:
        return None
    while found and found[-1] is None:
        found.pop()
    return found or None


def _is_of_places(part: Any) -> bool:
    """Whether a part of a key is a tensor of whole numbers."""
    if type(part) not in PLAIN_TENSORS:
        return False
    return bool(part._array.ndim) and part._array.dtype == np.int64


def _indexed(view: Tensor, indices: list[Tensor | None]) -> Tensor:
    """What index tensors, and None between them, name: with None, which no front knows, without
    looking for how the operator is to be called, where nobody listens to that."""
    kinds = {*map(type, indices)}
    is_heard = ACTIVE or LISTENING or STATE.below is not None or type(view) not in PLAIN_TENSORS
    if is_heard or type(None) not in kinds or not kinds <= _FOUND:
        return _index(view, indices)  # type: ignore[no-any-return]
    entry = TABLE.operator("aten::index.Tensor")
    assert entry is not None
    values = [view._array, [None if each is None else each._array for each in indices]]
    args = [view, indices]
    made: Any = tape().taped(entry, values, args, False, args, read_places)
    return made  # type: ignore[no-any-return]


def _sliced(tensor: Tensor, dim: int, part: slice) -> Tensor:
    """The part of a dimension that a slice names; modes see numbers where it says none."""
    start, stop, step = part.start, part.stop, 1 if part.step is None else part.step
    if STATE.below is not None:
        start, stop = 0 if start is None else start, _MOST if stop is None else stop
    return _slice(tensor, dim, start, stop, step)  # type: ignore[no-any-return]


def _viewed(tensor: Tensor, parts: tuple[Any, ...]) -> Tensor:
    """The view that numbers, slices, None and `...` name."""
    dim, view = 0, tensor
    for part in parts:
        kind = type(part)
        if kind is int:
            view = _select(view, dim, part)
        elif kind is slice:
            if part != _ALL:
                view = _sliced(view, dim, part)
            elif dim >= view._array.ndim:
                raise IndexError(part)
            dim += 1
        elif part is None:
            view = _unsqueeze(view, dim)
            dim += 1
        else:
            taken = len(parts) - parts.count(None) - parts.count(Ellipsis)
            dim += tensor._array.ndim - taken
    return _alias(view) if view is tensor else view


def parts(tensor: Tensor) -> Tensor:
    """The real and imaginary parts of complex numbers along a last dimension, by an operator."""
    return aten.view_as_real(tensor)


def set_item(tensor: Tensor, key: object, value: Any) -> None:
    """`tensor[key] = value` by operators."""
    is_index = type(key) in PLAIN_TENSORS
    if isinstance(value, Tensor) and not is_index and _is_copied_at_once(tensor, key, value):
        return
    if key is False:
        put_item(tensor._array, key, value._array if isinstance(value, Tensor) else value)
        return
    if not isinstance(value, Tensor):
        loud = enter(QUIET)
        try:
            value = Tensor._of(scalar_of(value, tensor._array.dtype).copy())
        finally:
            leave(loud)
    sizes = value._array.shape
    if is_index and _is_put_at_once(tensor, key, value):
        return
    try:
        view, indices = _walk(tensor, None if key is True else key)
    except IndexError:
        _tell(tensor, key)
        raise
    if indices:
        if sizes and sizes[0] == 1:
            value = value.view(_without_leading_ones(sizes))
        if not sizes and value.dtype is not view.dtype and all(map(_is_mask_or_none, indices)):
            value = value.to(view.dtype)
        view.index_put_(indices, value)
    elif sizes == view._array.shape:
        view.copy_(value)
    elif not sizes:
        view.fill_(value)
    else:
        sizes = _without_leading_ones(sizes)
        value = value.view(sizes)
        view.copy_(value if sizes == view.shape else value.expand(view.shape))


def _without_leading_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return sizes[next((at for at, size in enumerate(sizes) if size != 1), len(sizes)) :]


def _is_put_at_once(tensor: Tensor, key: Any, value: Tensor) -> bool:
    """Whether elements of that dtype were written to where one tensor of places or bools says."""
    source, places = value._array, key._array
    if source.dtype is not tensor._array.dtype or (source.ndim and source.shape[0] == 1):
        return False
    if not places.ndim or places.dtype not in _NAMING:
        return False
    _index_put_(tensor, [key], value)
    return True


def _is_mask_or_none(index: Tensor | None) -> bool:
    return index is None or is_mask(index)


def _is_copied_at_once(tensor: Tensor, key: object, value: Tensor) -> bool:
    """Whether elements of just these sizes and that dtype, from memory elsewhere, were copied to a
    part that numbers and slices name of a tensor that is no view, or to what a mask chooses of a
    part, with nobody listening: that leaves one node, and nothing is made of the part."""
    if not is_left_alone(tensor) or not is_left_alone(value) or tensor._view_of is not None:
        return False
    array, source = tensor._array, value._array
    if array.dtype is not source.dtype or array.dtype.kind in "biu":
        return False
    if WATCHED or ANOMALY[0] or MADE[0] or tensor._retains_grad or not is_unwatched():
        return False
    if type(key) is tuple and len(key) > 1 and type(key[-1]) in PLAIN_TENSORS:
        return _is_chosen_at_once(tensor, key[:-1], key[-1], value)
    parts = _plain(key)
    if parts is None:
        return False
    try:
        part = array[parts]
    except IndexError:
        return False  # which is told elsewhere
    if part.shape != source.shape or 0 in part.strides or part.shape == array.shape:
        return False
    before, edge = edge_of(tensor), edge_of(value)
    if edge is None if before is None else before[0].is_leaf:
        return False
    if may_share(part, source):
        return _is_part_itself(before, edge, part, value)
    written(array)
    part[...] = source
    _leave(tensor, copied_part(before, edge, parts))
    return True


def _is_chosen_at_once(
    tensor: Tensor, key: tuple[object, ...], mask: Tensor, value: Tensor
) -> bool:
    """The same for what a mask chooses of a part that numbers name."""
    array, source, chooses = tensor._array, value._array, mask._array
    if not _INTS.issuperset(map(type, key)) or chooses.dtype.kind != "b" or PACKING.used:
        return False
    try:
        part = array[*key, ...]  # type: ignore[arg-type]
    except IndexError:
        return False  # which is told elsewhere
    if chooses.ndim != 1 or chooses.shape != part.shape[:1] or 0 in part.strides:
        return False
    places = rows_of(chooses)
    if source.shape != (places.size, *part.shape[1:]) or may_share(array, source):
        return False
    before, edge = edge_of(tensor), edge_of(value)
    if edge is None if before is None else before[0].is_leaf:
        return False
    written(array)
    part[places] = source
    _leave(tensor, chosen_part(before, edge, key, mask))
    return True


def _leave(tensor: Tensor, node: Node) -> None:
    """Have a tensor that was written come from a node."""
    tensor._mark(BEHIND)
    tensor._requires_grad = True
    tensor._grad_node, tensor._output_number = node, 0


def _is_part_itself(before: Edge | None, edge: Edge | None, part: Array, value: Tensor) -> bool:
    """Whether a value is the very part that it is written to, as it is since it was written last
    (`x[i] += y` comes to that): nothing changes, and no node says so."""
    if before is None or edge is None or not lies_as(part, value._array):
        return False
    node = edge[0]
    if type(node) is not AsStridedBackward0 or node.edges[0] != before or node.attached is not None:
        return False
    written(part)
    return True


def _plain(key: object) -> tuple[EllipsisType | int | slice, ...] | None:
    """The parts of a key of numbers, slices between numbers, None and `...`, that among them; None
    of others."""
    parts = key if type(key) is tuple else (key,)
    for part in parts:
        kind = type(part)
        if kind is slice:
            if not _ENDS.issuperset((type(part.start), type(part.stop), type(part.step))):
                return None
            if part.step is not None and part.step <= 0:
                return None
        elif kind not in BASIC:
            return None
    return parts if Ellipsis in parts else (*parts, ...)


_ENDS: Final = frozenset({int, type(None)})
_INTS: Final = frozenset({int})
_ALL: Final = slice(None)
_MOST: Final = (1 << 63) - 1
_NAMING: Final = frozenset(map(np.dtype, (np.bool_, np.int64)))
"""Dtypes of tensors that name places."""
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
            if dim >= view.ndim:
                raise IndexError(part)
            if not _is_whole(part, view.shape[dim]):
                view = _sliced(view, dim, part)
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


def _is_whole(part: slice, size: int) -> bool:
    """Whether a slice is all there is, with nothing to be made for it."""
    return part == _ALL or (
        part.start in (0, None) and part.stop in (size, None) and part.step in (1, None)
    )


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


def as_part(part: object) -> Any:
    """A part of a key: a tensor for an array or a list, an int for what can be one."""
    if part is None or part is Ellipsis or isinstance(part, (bool, int, slice, Tensor)):
        return part
    if isinstance(part, np.ndarray):
        return Tensor._of(part)
    if isinstance(part, (list, tuple, range)):
        given = [p._array if isinstance(p, Tensor) else p for p in part]
        made = np.asarray(given)
        return Tensor._of(made if made.size else made.astype(np.int64))
    return as_index(part)
