"""`tensor[...]` in Python: reading and writing by numbers, slices, None, ..., masks and tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from ..kernels import TRIALS
from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange
from ..memory.overlap import check_written, lies_as, may_share
from ..memory.quiet import QUIET, enter, leave
from ..memory.versions import written
from ..selection.copying import copy_into
from ..selection.index import index, index_put
from ..shapes.shape import expand
from ..table.direct import direct_call, direct_form
from ..table.pointwise import LARGEST_FLOAT32, scalar_of
from ..table.table import TABLE

__all__ = [
    *("BASIC", "as_index", "basic_view", "get_item", "put_item", "read_places", "set_item"),
    "write_places",
]

ndarray: Final = np.ndarray
ALL: Final = slice(None)
_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)
_FLOAT32: Final = np.dtype(np.float32)
BASIC: Final = frozenset({int, slice, type(None), type(Ellipsis)})
"""What parts of a key are by which nothing is looked up in other tensors."""


def get_item(array: Array, key: object) -> Array:
    """The part of a tensor that a key names: a view, or a copy where tensors index.

    Raises:
        IndexError: there is no such part, or the key is none.
    """
    key = _with_numbers(key)
    view = basic_view(array, key)
    if view is not None:
        return view
    places = _named_places(array, key)
    if places is not None:
        return read_places(array, places)
    if type(key) is np.ndarray and key.dtype is _BOOL and 0 < key.ndim <= array.ndim:
        return index(array, [key])
    view, indices = _seen_at_once(array, key) or _walk(array, key)
    if indices:
        view = read_places(view, indices)
    return view


def basic_view(array: Array, key: Any) -> Array | None:
    """What NumPy gives for a key of numbers, slices, None and `...`; None where it refuses, or
    gives what torch does not."""
    for part in key if type(key) is tuple else (key,):
        kind = type(part)
        if kind is slice:
            if part.step is not None and not _is_step(part.step):
                return None
        elif kind not in BASIC:
            return None
    try:
        found: Array = array[key]
        if type(found) is not ndarray:  # a number
            found = array[(*key, ...) if type(key) is tuple else (key, ...)]
        return found
    except (IndexError, TypeError, ValueError):
        return None


def _row(array: Array, place: int) -> Array | None:
    """The part at a place of the first dimension; None where there is none."""
    try:
        return array[place, ...]
    except IndexError:
        return None


def _is_step(step: object) -> bool:
    return type(step) is int and step > 0


def _with_numbers(key: object) -> object:
    """A key with numbers in the place of tensors that are single whole numbers."""
    if type(key) is np.ndarray:
        return key if key.ndim or key.dtype is not _INT64 else int(key)
    if type(key) is not tuple or np.ndarray not in map(type, key):
        return key
    return tuple([_with_numbers(each) if type(each) is np.ndarray else each for each in key])


def _is_index(array: Array, key: Array) -> bool:
    """Whether an array alone names places along the first dimension, or is a mask of the first
    ones."""
    if not key.ndim or key.ndim > array.ndim:
        return key.ndim > 0 < array.ndim and key.dtype is _INT64
    return key.dtype is _INT64 or (key.dtype is _BOOL and key.shape == array.shape[: key.ndim])


def _named_places(array: Array, key: object) -> list[Array | None] | None:
    """The index tensors of whole numbers that a key is made of, with None for dimensions before
    them that are taken as they are; None if there is something else in it, or too much."""
    indices: list[Array | None] = []
    for part in key if type(key) is tuple else (key,):
        if type(part) is np.ndarray:
            if part.dtype is not _INT64 or not part.ndim:
                return None
            indices.append(part)
        elif type(part) is slice and part == ALL:
            indices.append(None)
        else:
            return None
    if len(indices) > array.ndim:
        return None
    while indices and indices[-1] is None:
        indices.pop()
    return indices or None


def _goes_with(view: Array, indices: Sequence[Array | None], value: Array) -> bool:
    """Whether one mask of bools of the first dimensions of a tensor says where to write what is the
    same for all places."""
    mask = indices[0]
    if len(indices) > 1 or mask is None or mask.dtype is not _BOOL:
        return False
    return bool(mask.ndim) and value.ndim <= view.ndim - mask.ndim


class _Calls:
    """An operator's calls by index tensors, which native code learns once they come often.

    Those with masks depend on what is in them, and are done by the forward, unless what is written
    is the same wherever one is true.
    """

    def __init__(self, name: str, forward: Callable[..., Array]) -> None:
        self._name, self._forward = name, forward
        self._left = TRIALS
        self._natively: Callable[..., object] | None = None
        self._tell: Callable[[Callable[..., object]], None] | None = None

    def __call__(self, view: Array, indices: Sequence[Array | None], *others: Any) -> Array:
        is_sure = True
        for each in indices:
            if each is not None and each.dtype is not _INT64:
                is_sure = False
        if not is_sure and not (others and _goes_with(view, indices, others[0])):
            return self._forward(view, indices, *others)
        self._left -= 1
        return (self._forward if self._left > 0 else self._direct)(view, indices, *others)

    def when_learned(self, tell: Callable[[Callable[..., object]], None]) -> None:
        """Have somebody told what does calls natively, once they have come often."""
        self._tell = tell
        if self._natively is not None:
            tell(self._natively)

    @cached_property
    def _direct(self) -> Callable[..., Any]:
        entry = TABLE.operator(self._name)
        if entry is None:
            return self._forward
        self._natively = direct_call(entry)
        if self._tell is not None and self._natively is not None:
            self._tell(self._natively)
        return direct_form(entry)


read_places: Final = _Calls("aten::index.Tensor", index)
write_places: Final = _Calls("aten::index_put_", index_put)


def put_item(
    array: Array, key: object, value: object, places: list[Array | None] | None = None
) -> None:
    """Do so, and count it; what fails is not counted.  Who knows already that the key is made of
    index tensors of whole numbers gives these `places`.

    Raises:
        IndexError, OperatorError, ValueError: as `set_item`.
        RuntimeError: the memory may not be written here.
    """
    written(array)
    try:
        if places is None:
            if type(key) is not int or not _is_set_plainly(array, key, value):
                set_item(array, key, value)
        else:
            _set_quietly(array, places, value)
    except BaseException:
        written(array, -1)
        raise


def set_item(array: Array, key: object, value: object) -> None:
    """Write a number or a tensor to the part of a tensor that a key names.

    Raises:
        IndexError: there is no such part, or the key is none.
        OperatorError: the value does not fit there.
        ValueError: it is a whole number that does not even fit into 64 bits.
    """
    places: list[Array | None] | None
    if type(key) is ndarray:
        places = [key] if _is_index(array, key) else None
    else:
        has_places = type(key) is tuple and ndarray in map(type, key)
        places = _named_places(array, key) if has_places else None
    if places is None and _is_set_plainly(array, key, value):
        return
    loud = enter(QUIET)
    try:
        if places is not None:
            _set(array, places, value)
        elif key is False:  # nothing is written, whatever the value's shape is
            _check_number(array, value)
        elif key is True:
            _set(array[None], [], value)
        else:
            _set(*_parts(array, key, value), value)
    finally:
        leave(loud)


def _set_quietly(array: Array, places: list[Array | None], value: object) -> None:
    loud = enter(QUIET)
    try:
        _set(array, places, value)
    finally:
        leave(loud)


def _is_set_plainly(array: Array, key: object, value: Any) -> bool:
    """Whether a number that its dtype has was written, or elements of just these sizes and that
    dtype from memory elsewhere."""
    kind, dtype = type(value), array.dtype
    if kind is ndarray:
        if dtype is not value.dtype:
            return False
    elif not (
        (kind is float and dtype is _FLOAT32 and abs(value) <= LARGEST_FLOAT32)
        or (kind is int and dtype is _INT64 and -_BEYOND <= value < _BEYOND)
        or (kind is bool and dtype is _BOOL)
    ):
        return False
    view = _row(array, key) if type(key) is int else basic_view(array, key)
    if view is None or 0 in view.strides:
        return False
    if kind is ndarray and (view.shape != value.shape or may_share(view, value)):
        return False
    view[...] = value
    return True


def _parts(array: Array, key: object, value: object) -> tuple[Array, list[Array | None]]:
    """`_walk`; where that fails, a value that is no number of the tensor's is told first."""
    try:
        view = basic_view(array, key)
        return (_seen_at_once(array, key) or _walk(array, key)) if view is None else (view, [])
    except Exception:
        _check_number(array, value)
        raise


def _check_number(array: Array, value: Any) -> None:
    if not isinstance(value, np.ndarray):
        scalar_of(value, array.dtype)


def _set(view: Array, indices: list[Array | None], value: Any) -> None:
    if type(value) is int and not -_BEYOND <= value < _BEYOND:
        raise ValueError("Overflow when unpacking long long")
    if type(view) is not ndarray and view.dtype.names is not None:
        _set_quantized(view, indices, value)
        return
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
    write_places(view, indices, value, False)


def _set_quantized(view: Array, indices: list[Array | None], value: object) -> None:
    """Values become the tensor's numbers by the operators that know its scale."""
    given = value if isinstance(value, np.ndarray) else np.asarray(value, np.float32)
    if given.shape != view.shape:
        given = _without_leading_ones(given)
    rest = (indices, given, False) if indices else (given, False)
    entry = TABLE.operator("aten::index_put_" if indices else "aten::copy_")
    assert entry is not None
    entry.forward(view, *rest)


_BEYOND: Final = 1 << 63


def _without_leading_ones(value: Array) -> Array:
    while value.ndim and value.shape[0] == 1:
        value = value[0, ...]
    return value


def _seen_at_once(array: Array, key: object) -> tuple[Array, list[Array | None]] | None:
    """What `_walk` gives for a key of numbers, slices, None and index tensors of whole numbers, or
    of a bool for each element of one dimension; None for others, and where NumPy refuses."""
    plain: list[int | slice | None] = []
    indices: list[Array | None] = []
    for part in key if type(key) is tuple else (key,):
        given: Any = _as_part(part) if type(part) is list else part
        kind = type(given)
        if kind is int:
            plain.append(given)
            continue
        if kind is ndarray:
            if not (given.ndim and given.dtype is _INT64) and (given.ndim, given.dtype) != _MASK:
                return None
            plain.append(ALL)
        elif given is None or (kind is slice and (given.step is None or _is_step(given.step))):
            plain.append(given)
            given = None
        else:
            return None
        indices.append(given)
    while indices and indices[-1] is None:
        indices.pop()
    try:
        return array[tuple(plain)], indices
    except (IndexError, TypeError, ValueError):
        return None


_MASK: Final = (1, _BOOL)
"""How many dimensions a mask has that stands for one dimension, and its dtype."""


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
    return as_index(part)


def as_index(part: object) -> int:
    """What a part of a key that is none of its other forms stands for as a number.

    Raises:
        TypeError, IndexError: it stands for none.
    """
    if isinstance(part, str):
        raise TypeError("new(): invalid data type 'str'")
    if hasattr(part, "__index__") and not isinstance(part, float):
        return int(part.__index__())
    raise IndexOutOfRange(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {type(part).__name__})",
        headline=f"a tensor cannot be indexed by a {type(part).__name__}",
    )
