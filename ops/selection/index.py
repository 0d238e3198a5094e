"""Indexing by tensors, gathering, scattering, copying into."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..arithmetic.choice import check_mask
from ..arithmetic.chosen import chosen_places, put_chosen, take_chosen
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.overlap import check_apart, warn_if_expanded
from ..memory.remembered import remembered
from ..memory.storage import settled
from ..table.formula import formula
from ..table.out_dtypes import SAME, SELF_AND_RESULT
from ..table.pointwise import (
    cast,
    check_result_shape,
    checked_broadcast,
    number_as,
    number_to_fill,
)
from ..table.promotion import kind
from ..table.refusals import check_number
from ..table.table import operator
from ..table.without_data import rows_of
from .index_errors import (
    PLACES,
    check_fits,
    check_mask_shape,
    check_rows,
    first_outside,
    index_error,
    of_nothing,
    outside_dimension,
    warn_of_bytes,
)
from .places import (
    by_slices,
    combined_natively,
    copied,
    one,
    positions,
    put_by,
    taken_by,
    taken_natively,
    written_by_numpy,
)
from .read_layout import WHOLE, laid, takes_rows

__all__ = [
    "check_index",
    "check_ranks",
    "check_scatter",
    "copy_into",
    "fill",
    "index",
    "index_put",
    "is_within",
    "row_starts",
]

Indices = Sequence[Array | None]
_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)
_UINT64: Final = np.dtype(np.uint64)

# --------------------------------------------------------------------------- index


def _key(self: Array, indices: Indices) -> tuple[Any, ...]:
    """The NumPy index for a list of index tensors; None stands for a whole dimension."""
    key: list[object] = []
    for position, index in enumerate(indices):
        if index is None:
            key.append(WHOLE)
            continue
        kind = index.dtype.kind
        if kind == "b" or index.dtype == np.uint8:
            if kind != "b":
                warn_of_bytes()
            if index.ndim and len(indices) > self.ndim:
                raise _too_many(self, indices)
            check_mask_shape(self, index, len(key), position)
            key.extend(chosen_places(index) if index.ndim else [index.astype(bool)])
        elif index.dtype in PLACES:
            key.append(settled(index))
        else:
            raise IndexOutOfRange(
                "tensors used as indices must be long, int, byte or bool tensors",
                headline=f"an index must be of whole numbers or bools, not `{dtype_of(index)}`",
            )
    if len(indices) > self.ndim and len(key) > self.ndim:
        raise _too_many(self, indices)
    return tuple(key)


def _too_many(self: Array, indices: Indices) -> IndexOutOfRange:
    return IndexOutOfRange(
        f"too many indices for tensor of dimension {self.ndim} (got {len(indices)})",
        headline=f"{len(indices)} indices for a tensor of {self.ndim} dimensions",
    )


@operator(
    "aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor",
    out="",
    face="operator",
    prepared=True,
)
@operator(
    "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    face="operator",
    prepared=True,
    data_dependent=lambda self, indices: any(
        each is not None and each.dtype == np.bool_ for each in indices
    ),
)
def index(self: Array, indices: Indices) -> Array:
    """The elements at some positions, always a copy."""
    only = indices[0] if len(indices) == 1 else None
    if only is not None and _chooses(self, only) and self.flags.c_contiguous:
        return take_chosen(self, only)
    found = taken_by(self, indices)
    if found is not None:
        return found
    if only is not None and self.size and _takes(self, only):
        try:
            return np.asarray(self.take(only, 0))
        except IndexError:  # which is told in the words of the other way
            pass
    key = _key(self, indices)
    try:
        result = np.asarray(self[key])
    except IndexError as error:
        result = np.asarray(self[of_nothing(self, key, error)])
    if np.may_share_memory(result, self):
        return result.copy()
    return laid(result, self, key) if result.ndim > 1 else result


def _takes(self: Array, places: Array) -> bool:
    """Whether NumPy's `take` lays out what an index tensor names as torch does."""
    return places.dtype is _INT64 and self.ndim > 0 and takes_rows(self, places)


def _chooses(self: Array, mask: Array) -> bool:
    """Whether a mask of bools chooses among the first dimensions of a tensor."""
    return mask.dtype is _BOOL and mask.ndim > 0 and mask.shape == self.shape[: mask.ndim]


def index_put(self: Array, indices: Indices, values: Array, accumulate: bool) -> Array:
    """Write values to some positions of `self`, which is returned.

    One number goes to where a mask of bools says whatever the number's dtype is.
    """
    if len(indices) > self.ndim:
        _key(self, indices)
    warn_if_expanded(self, "index_put_", "tensor[indices] = tensor")
    if values.base is not None or self.base is not None or values is self:
        check_apart(self, (values, *indices), itself=False)
    if values.size == 1 and not accumulate and _is_mask(indices):
        values = _number_for_mask(self, indices, values)
    if len(indices) == 1 and not accumulate and _put_by_mask(self, indices[0], values):
        return self
    if put_by(self, indices, values, accumulate):
        return self
    key = _key(self, indices)
    if not self.size:
        try:
            self[key]
        except IndexError as error:
            key = of_nothing(self, key, error)
    if self.dtype != values.dtype:
        check_fits(self, key, values)
        raise OperatorError(
            "Index put requires the source and destination dtypes match, got "
            f"{dtype_of(self).scalar_name} for the destination and "
            f"{dtype_of(values).scalar_name} for the source.",
            code="dtype-mismatch",
            headline=f"`values` is `{dtype_of(values)}`, `self` is `{dtype_of(self)}`",
            roles={"values": f"must be `{dtype_of(self)}`"},
        )
    # NumPy minds no leading ones that are too many; of other dimensions too many it adds elsewhere
    if values.ndim > 1 and (accumulate or values.shape[0] == 1):
        check_fits(self, key, values)
    written_by_numpy()
    try:
        if accumulate:
            np.add.at(self, key, values)
        else:
            self[key] = values
    except IndexError as error:
        check_fits(self, key, values)
        raise index_error(self, error, key) from None
    except ValueError:
        check_fits(self, key, values)
        raise
    return self


def _put_by_mask(self: Array, mask: Array | None, values: Array) -> bool:
    """Whether values that fit a mask of bools as they are were written to where it says."""
    if mask is None or not _chooses(self, mask) or values.dtype is not self.dtype:
        return False
    rest = self.shape[mask.ndim :]
    fits = not values.ndim or (values.ndim == 1 + len(rest) and values.shape[1:] == rest)
    return fits and put_chosen(self, mask, values)


def _is_mask(indices: Indices) -> bool:
    masks = [index.dtype for index in indices if index is not None]
    return len(masks) == 1 and masks[0] in (np.bool_, np.uint8)


def _number_for_mask(self: Array, indices: Indices, value: Array) -> Array:
    """The value that goes to where the last of the indices, a mask, says, as `self` has numbers."""
    place = len(indices) - 1
    mask = indices[place]
    if mask is not None and mask.dtype == np.uint8:
        check_mask_shape(self, mask, place, place)
        check_mask(mask)
    if value.dtype == self.dtype:
        return value
    number = value.reshape(()).item()
    check_number(number, self.dtype)
    return number_as(number, self.dtype)


operator(
    "aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) "
    "-> Tensor(a!)",
    "aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, "
    "bool accumulate=False) -> Tensor(a!)",
    prepared=True,
    written="unchecked",
    face="both",
)(index_put)


@operator(
    "aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, "
    "bool accumulate=False) -> Tensor",
    autocast_in_graphs="widest",
    out="",
    order="out hacked_twin",
    layout="L",
    prepared=True,
)
@operator(
    "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) "
    "-> Tensor",
    autocast_in_graphs="widest",
    layout="L",
    prepared=True,
)
def index_put_copy(self: Array, indices: Indices, values: Array, accumulate: bool) -> Array:
    return index_put(copied(self), indices, values, accumulate)


# --------------------------------------------------------------------------- along a dimension


def is_within(index: Array, size: int) -> bool:
    """Whether whole numbers are all at least 0 and below `size`."""
    if index.dtype is _INT64:  # numbers below 0 are too large ones without a sign
        index = index.view(_UINT64)
        return bool(index.item(index.argmax()) < size)
    low, high = index.argmin(), index.argmax()
    return bool(index.item(low) >= 0 and index.item(high) < size)


def _check_places(index: Array, name: str) -> None:
    if index.dtype is not _INT64 and index.dtype != np.int32:
        both = "int32 or int64" if name == "index_select" else "int32/int64"
        raise OperatorError(
            f"{name}(): Expected dtype {both} for index",
            code="dtype-mismatch",
            headline=f"`index` must be of whole numbers, it is `{dtype_of(index)}`",
            roles={"index": "must be int64"},
        )


def check_index(self: Array, dim: int, index: Array, name: str) -> int:
    axis = wrap_dim(dim, self.ndim)
    if index.size:
        _check_places(index, name)
    size = self.shape[axis] if self.ndim else 1
    if index.size and not is_within(by_slices(index, axis), size):
        if name == "index_select":
            raise IndexOutOfRange(
                "index out of range in self",
                headline=f"`index` leaves dimension {axis}, which has size {size}",
            )
        wrong = first_outside(index.reshape(-1), 0, size)
        assert wrong is not None
        raise outside_dimension(axis, wrong, size)
    return axis


@operator(
    "aten::index_select(Tensor self, int dim, Tensor index) -> Tensor",
    prepared=True,
    out_dtype=SELF_AND_RESULT,
    out_overlap="apart",
    rows=rows_of("self"),
)
def index_select(self: Array, dim: int, index: Array) -> Array:
    wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexOutOfRange("index_select(): Index is supposed to be a vector")
    if not self.ndim and index.size != 1:
        raise OperatorError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    try:
        axis = check_index(self, dim, index, "index_select")
    except IndexOutOfRange:
        check_rows(self, dim, index)
        raise
    if not self.ndim:
        return self.copy()
    places = index if index.ndim else index.reshape(1)
    found = taken_natively(self, axis, places)
    return self.take(places, axis) if found is None else found


def check_ranks(self: Array, index: Array, axis: int, other: str = "input") -> None:
    """Refuse index tensors that do not go with a tensor; `other` is its name in the message."""
    if self.shape == index.shape:
        return
    if max(self.ndim, 1) != max(index.ndim, 1):
        raise OperatorError(
            f"Index tensor must have the same number of dimensions as {other} tensor",
            code="shape-mismatch",
            headline=f"`index` has {index.ndim} dimensions, the {other} tensor {self.ndim}",
            roles={"index": f"must have {self.ndim} dimensions"},
        )
    if other != "input":
        return
    for dim in range(index.ndim if self.ndim else 0):
        if dim != axis and index.shape[dim] > self.shape[dim]:
            raise OperatorError(
                f"Size does not match at dimension {dim} expected index {list(index.shape)} to be "
                f"no larger than self {list(self.shape)} apart from dimension {axis}",
                code="shape-mismatch",
                headline=f"`index` is larger than `self` in dimension {dim}",
            )


def check_scatter(self: Array, dim: int, index: Array, src: object) -> int:
    """The dimension that `scatter` and its kin write along.

    Raises:
        OperatorError: the tensors do not go together.
    """
    axis = wrap_dim(dim, self.ndim)
    if index.size:
        _check_places(index, "scatter")
    source = src if isinstance(src, np.ndarray) else None
    if source is not None and source.dtype != self.dtype:
        raise OperatorError(
            "scatter(): Expected self.dtype to be equal to src.dtype",
            code="dtype-mismatch",
            headline=f"`src` is `{dtype_of(source)}`, `self` is `{dtype_of(self)}`",
            roles={"src": f"must be `{dtype_of(self)}`"},
        )
    if not index.size:
        return axis
    if index.shape == self.shape and (source is None or source.shape == index.shape):
        check_index(self, dim, index, "scatter")
        return axis
    check_ranks(self, index, axis, "self")
    lacks = _lacks_room(self, index, source, axis)
    if source is not None:
        check_ranks(source, index, axis, "src")
    if lacks:
        largest = (
            "" if source is None else f" and to be no larger size than src {list(source.shape)}"
        )
        raise OperatorError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} "
            f"apart from dimension {axis}{largest}",
            code="shape-mismatch",
            headline="`index` is too large",
        )
    check_index(self, dim, index, "scatter")
    return axis


def _lacks_room(self: Array, index: Array, source: Array | None, axis: int) -> bool:
    """Whether there is no place or no number for some element of `index`; a tensor of no dimensions
    counts as one of one."""
    wanted, shape = index.shape or (1,), self.shape or (1,)
    if any(dim != axis and n > shape[dim] for dim, n in enumerate(wanted)):
        return True
    given = wanted if source is None else source.shape or (1,) * len(wanted)
    return any(n > given[wrap_dim(dim, len(given))] for dim, n in enumerate(wanted))


@operator(
    "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    prepared=True,
    out_dtype=SAME,
    out_overlap="apart",
    rows=rows_of("index self"),
)
def gather(self: Array, dim: int, index: Array, sparse_grad: bool) -> Array:
    axis = wrap_dim(dim, self.ndim)
    if not index.size:  # of any number of dimensions
        return np.empty(index.shape, self.dtype)
    _check_places(index, "gather")
    check_ranks(self, index, axis)
    if self.ndim and index.ndim:
        found = taken_natively(self, axis, index) if index.ndim == self.ndim else None
        if found is not None:
            return found
    check_index(self, dim, index, "gather")
    if not self.ndim or not index.ndim:
        return np.asarray(self.reshape(-1).take(index))
    return np.asarray(self[positions(index, axis)])


@remembered(8 << 20)
def row_starts(shape: tuple[int, ...]) -> Array:
    """The positions in memory of the rows of a contiguous tensor, as a column.

    Remembered: do not write to it.
    """
    *before, length = shape
    return np.arange(0, math.prod(shape), length or 1).reshape(*before, 1)


def _scattered(self: Array, dim: int, index: Array, source: Array | Scalar) -> Array:
    axis = check_scatter(self, dim, index, source)
    if not index.size:
        return self
    check_apart(self, (index, source))
    if isinstance(source, np.ndarray):
        shape = index.shape or (1,)
        part: Any = source
        if source.ndim and source.shape != shape:
            part = source[tuple(slice(n) for n in shape)]
    else:
        part = one(source, self.dtype)
    fits = self.ndim and index.ndim == self.ndim and part.shape in (index.shape, ())
    if fits and combined_natively(self, axis, index, part, "put"):
        return self
    written_by_numpy()
    if self.ndim:
        self[positions(index if index.ndim else index.reshape(1), axis)] = part
    else:
        self[...] = np.reshape(part, -1)[-1]
    return self


@operator(
    "aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    order="value src",
    prepared=True,
    out_dtype=SAME,
)
def scatter(self: Array, dim: int, index: Array, src: Array) -> Array:
    return _scattered(copied(self), dim, index, src)


@operator(
    "aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    prepared=True,
    out_dtype=SAME,
)
def scatter_number(self: Array, dim: int, index: Array, value: Scalar) -> Array:
    return _scattered(copied(self), dim, index, value)


operator(
    "aten::scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
    written="unchecked",
    prepared=True,
)(_scattered)
operator(
    "aten::scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
    prepared=True,
    written="unchecked",
)(_scattered)


def _scatter_added(self: Array, dim: int, index: Array, src: Array) -> Array:
    axis = check_scatter(self, dim, index, src)
    if not index.size:
        return self
    check_apart(self, (index, src))
    if self.itemsize == 2 and kind(self.dtype) == 2:
        wide = _scatter_added(self.astype(np.float32), dim, index, src.astype(np.float32))
        written_by_numpy()
        self[...] = wide.astype(self.dtype)
        return self
    if self.ndim == index.ndim == src.ndim:
        part = src if src.shape == index.shape else src[tuple(slice(n) for n in index.shape)]
        if self.ndim and combined_natively(self, axis, index, part, "sum"):
            return self
    written_by_numpy()
    if not (self.ndim and index.ndim and src.ndim):
        np.add.at(self.reshape(-1), settled(index).reshape(-1), src.reshape(-1)[: index.size])
    else:
        np.add.at(self, positions(index, axis), src[tuple(slice(n) for n in index.shape)])
    return self


@operator(
    "aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    prepared=True,
    out_dtype=SAME,
)
def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array:
    return _scatter_added(copied(self), dim, index, src)


operator(
    "aten::scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
    written="unchecked",
    prepared=True,
)(_scatter_added)


# --------------------------------------------------------------------------- copying into


def copy_into(self: Array, src: Array) -> Array:
    """Write `src`, cast and broadcast, into `self`, which is returned.

    Raises:
        OperatorError: the shapes do not fit.
    """
    if src.dtype is not self.dtype:
        src = cast(src, self.dtype)
    if src.shape != self.shape:
        check_result_shape(self.shape, checked_broadcast(self.shape, src.shape, ("self", "src")))
    self[...] = src
    return self


@operator(
    "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    takes_numbers=True,
    formula=formula("same", 1),
)
def copy_in_place(self: Array, src: Array, non_blocking: bool) -> Array:
    return copy_into(self, src)


operator("aten::copy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")(copy_into)


@operator(
    "aten::copy_.int(Tensor(a!) self, int other) -> Tensor(a!)",
    "aten::copy_.float(Tensor(a!) self, float other) -> Tensor(a!)",
    formula=formula("same", 1, checks=True),
)
@operator(
    "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    written="unchecked",
    face="both",
    formula=formula("same", 1, checks=True),
)
def fill(self: Array, value: Scalar) -> Array:
    self.fill(number_to_fill(value, self.dtype, self.size))
    return self


@operator(
    "aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    written="unchecked",
    face="both",
)
def fill_from(self: Array, value: Array) -> Array:
    if value.ndim:
        raise OperatorError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} "
            "dimensions.",
            code="shape-mismatch",
            headline=f"`value` must be 0-d, it has shape {list(value.shape)}",
        )
    return copy_into(self, value)


@operator("aten::zero_(Tensor(a!) self) -> Tensor(a!)", written="unchecked")
def zero(self: Array) -> Array:
    self[...] = 0
    return self


@operator("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", layout="L", face="function")
def filled(self: Array, value: Scalar) -> Array:
    return fill(np.empty_like(self), value)
