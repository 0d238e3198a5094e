"""`tensor[...]` in Python: reading and writing by numbers, slices, None, ..., masks and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange
from ..memory.overlap import check_written, lies_as
from ..memory.quiet import QUIET, enter, leave
from ..selection.copying import copy_into
from ..selection.index import index, index_put
from ..shapes.shape import expand
from ..table.direct import TRIALS, direct_form
from ..table.pointwise import scalar_of
from ..table.table import TABLE

__all__ = ["BASIC", "get_item", "set_item"]

ALL: Final = slice(None)
_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)
BASIC: Final = frozenset({int, slice, type(None), type(Ellipsis)})
"""What parts of a key are by which nothing is looked up in other tensors."""


def get_item(array: Array, key: object) -> Array:
    """The part of a tensor that a key names: a view, or a copy where tensors index.

    Raises:
        IndexError: there is no such part, or the key is none.
    """
    key = _with_numbers(key)
    view = _basic_view(array, key)
    if view is not None:
        return view
    if _names_places(array, key):
        found: Array = _read(array, list(key) if isinstance(key, tuple) else [key])
        return found
    if type(key) is np.ndarray and key.dtype is _BOOL and 0 < key.ndim <= array.ndim:
        return index(array, [key])
    view, indices = _walk(array, key)
    if indices:
        view = _read(view, indices)
    return view


def _basic_view(array: Array, key: object) -> Array | None:
    """What NumPy gives for a key of numbers, slices, None and `...`; None where it refuses, or
    gives what torch does not."""
    parts = key if type(key) is tuple else (key,)
    if not BASIC.issuperset(map(type, parts)):
        return None
    for part in parts:
        if type(part) is slice and part.step is not None and not _is_step(part.step):
            return None
    try:
        found: Array = array[parts if Ellipsis in parts else (*parts, ...)]
    except (IndexError, TypeError, ValueError):
        return None
    return found


def _is_step(step: object) -> bool:
    return type(step) is int and step > 0


def _with_numbers(key: object) -> object:
    """A key with numbers in the place of tensors that are single whole numbers."""
    if type(key) is np.ndarray:
        return key if key.ndim or key.dtype is not _INT64 else int(key)
    if type(key) is not tuple or np.ndarray not in map(type, key):
        return key
    return tuple([_with_numbers(each) if type(each) is np.ndarray else each for each in key])


def _names_places(array: Array, key: object) -> bool:
    """Whether a key is made of index tensors of whole numbers alone, of which there are not too
    many."""
    parts = key if type(key) is tuple else (key,)
    for part in parts:
        if type(part) is not np.ndarray or part.dtype is not _INT64 or not part.ndim:
            return False
    return 0 < len(parts) <= array.ndim


class _Calls:
    """An operator's calls by index tensors, which native code learns once they come often.

    Those with masks depend on what is in them; they are done by the forward.
    """

    def __init__(self, name: str, forward: Any) -> None:
        self._name, self._forward = name, forward
        self._left = TRIALS

    def __call__(self, view: Array, indices: list[Any], *others: object) -> Any:
        for each in indices:
            if each is not None and each.dtype is not _INT64:
                return self._forward(view, indices, *others)
        self._left -= 1
        return (self._forward if self._left > 0 else self._direct)(view, indices, *others)

    @cached_property
    def _direct(self) -> Any:
        entry = TABLE.operator(self._name)
        return self._forward if entry is None else direct_form(entry)


_read: Final = _Calls("aten::index.Tensor", index)
_write: Final = _Calls("aten::index_put_", index_put)


def set_item(array: Array, key: object, value: object) -> None:
    """Write a number or a tensor to the part of a tensor that a key names.

    Raises:
        IndexError: there is no such part, or the key is none.
        OperatorError: the value does not fit there.
        ValueError: it is a whole number that does not even fit into 64 bits.
    """
    loud = enter(QUIET)
    try:
        if key is False:  # nothing is written, whatever the value's shape is
            _check_number(array, value)
        elif key is True:
            _set(array[None], [], value)
        else:
            _set(*_parts(array, key, value), value)
    finally:
        leave(loud)


def _parts(array: Array, key: object, value: object) -> tuple[Array, list[Array | None]]:
    """`_walk`; where that fails, a value that is no number of the tensor's is told first."""
    try:
        view = _basic_view(array, key)
        return _walk(array, key) if view is None else (view, [])
    except Exception:
        _check_number(array, value)
        raise


def _check_number(array: Array, value: Any) -> None:
    if not isinstance(value, np.ndarray):
        scalar_of(value, array.dtype)


def _set(view: Array, indices: list[Array | None], value: Any) -> None:
    if type(value) is int and not -_BEYOND <= value < _BEYOND:
        raise ValueError("Overflow when unpacking long long")
    if not indices:
        if isinstance(value, np.ndarray):
            source = value  # of the same shape it may be the very part that is written
            if source.shape != view.shape:
                source = expand(_without_leading_ones(value), view.shape)
            if not lies_as(view, source):
                check_written(view, (source,))
                copy_into(view, source)
        else:
            check_written(view)
            view.fill(scalar_of(value, view.dtype))
        return
    if not isinstance(value, np.ndarray):
        value = scalar_of(value, view.dtype)
    elif value.ndim and value.shape[0] == 1:
        value = _without_leading_ones(value)
    _write(view, indices, value, False)


_BEYOND: Final = 1 << 63


def _without_leading_ones(value: Array) -> Array:
    while value.ndim and value.shape[0] == 1:
        value = value[0, ...]
    return value


def _walk(array: Array, key: object) -> tuple[Array, list[Array | None]]:
    """The view a key's plain parts name, and the tensors that index it, by dimension."""
    parts = key if isinstance(key, tuple) else (key,)
    parts = tuple(map(_as_part, parts))
    dim, taken = 0, 0
    whole = array
    indices: dict[int, Array] = {}
    for part in parts:
        if part is None:
            array = array[(ALL,) * dim + (None,)]
            dim += 1
        elif part is Ellipsis:
            dim += array.ndim - dim - _dims_after(parts)
        elif isinstance(part, bool):
            array = array[(ALL,) * dim + (None,)]
            indices[dim] = np.full(1, part)
            dim += 1
        elif isinstance(part, int):
            array = _select(array, dim, part, whole, dim + taken)
            taken += 1
        elif isinstance(part, slice):
            _check_rank(array, dim, whole)
            array = array[(ALL,) * dim + (_slice(part),)]
            dim += 1
        elif not part.ndim and part.dtype.kind in "iu" and part.dtype != np.uint8:
            array = _select(array, dim, int(part), whole, dim + taken)
            taken += 1
        else:
            array, dim = _note_tensor(array, dim, part, indices, whole)
    return array, _in_order(indices)


def _note_tensor(
    array: Array, dim: int, part: Array, indices: dict[int, Array], whole: Array
) -> tuple[Array, int]:
    """Take up an index tensor; a 0-d bool adds a dimension."""
    is_mask = _is_mask(part)
    if not part.ndim:
        array = array[(ALL,) * dim + (None,)]
        indices[dim] = part.reshape(1).astype(bool) if is_mask else part
        return array, dim + 1
    after = dim + (part.ndim if is_mask else 1)
    _check_rank(array, after - 1, whole)
    indices[dim] = part
    return array, after


def _is_mask(index: Array) -> bool:
    return index.dtype.kind == "b" or index.dtype == np.uint8


def _in_order(indices: dict[int, Array]) -> list[Array | None]:
    """The index tensors as a list with None for the dimensions between them."""
    ordered: list[Array | None] = []
    covered = 0
    for dim, tensor in indices.items():
        ordered += [None] * (dim - covered)
        ordered.append(tensor)
        covered = dim + (tensor.ndim if _is_mask(tensor) else 1)
    return ordered


def _dims_after(parts: Sequence[object]) -> int:
    """How many dimensions the parts after the `...` stand for."""
    count = 0
    position = next(i for i, part in enumerate(parts) if part is Ellipsis)
    for part in parts[position + 1 :]:
        if isinstance(part, np.ndarray):
            count += part.ndim if _is_mask(part) else 1
        elif part is not None and part is not Ellipsis and not isinstance(part, bool):
            count += 1
    return count


def _check_rank(array: Array, dim: int, whole: Array) -> None:
    if dim >= array.ndim:
        raise IndexOutOfRange(
            f"too many indices for tensor of dimension {whole.ndim}",
            headline=f"too many indices for a tensor of {whole.ndim} dimensions",
        )


def _select(array: Array, dim: int, place: int, whole: Array, shown_dim: int) -> Array:
    """One place of a dimension, which is the `shown_dim` of the whole tensor."""
    if not whole.ndim:
        raise IndexOutOfRange(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    _check_rank(array, dim, whole)
    size = array.shape[dim]
    if not -size <= place < size:
        if not -(1 << 63) <= place < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        raise IndexOutOfRange(
            f"index {place} is out of bounds for dimension {shown_dim} with size {size}",
            headline=f"index {place} is out of range for dimension {shown_dim} of size {size}",
        )
    return array[(ALL,) * dim + (place, ...)]


def _slice(part: slice) -> slice:
    if part.step is not None and int(part.step) <= 0:
        sentence = "step must be greater than zero" if part.step else "slice step cannot be zero"
        raise ValueError(sentence)
    return part


def _as_part(part: object) -> object:
    """A part of a key in one of the forms that `_walk` knows."""
    if part is None or part is Ellipsis or isinstance(part, (bool, int, slice, np.ndarray)):
        return part
    if isinstance(part, np.bool_):
        return bool(part)
    if isinstance(part, (list, tuple, range)):
        made = np.asarray(part)
        return made.astype(np.int64) if not made.size or made.dtype.kind == "f" else made
    if isinstance(part, str):
        raise TypeError("new(): invalid data type 'str'")
    if hasattr(part, "__index__") and not isinstance(part, float):
        return int(part.__index__())
    raise IndexOutOfRange(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {type(part).__name__})",
        headline=f"a tensor cannot be indexed by a {type(part).__name__}",
    )
