"""Indexing by tensors and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..arithmetic.choice import check_mask
from ..arithmetic.chosen import chosen_places, put_chosen, put_where, take_chosen
from ..kernels import LARGE, in_order, written_by_numpy
from ..memory.dtype import Array, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.overlap import check_apart, warn_if_expanded
from ..memory.storage import settled
from ..table.inline import native
from ..table.pointwise import (
    number_as,
)
from ..table.refusals import check_number
from ..table.table import operator
from .index_errors import (
    PLACES,
    check_fits,
    check_mask_shape,
    index_error,
    of_nothing,
    warn_of_bytes,
)
from .places import (
    combined_by_numpy,
    copied,
    put_by,
    taken_by,
)
from .read_layout import WHOLE, laid, takes_rows

__all__ = ["index", "index_put", "index_put_copy"]

Indices = Sequence[Array | None]
_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)


def _key(self: Array, indices: Indices) -> tuple[Any, ...]:
    """The NumPy index for a list of index tensors; None stands for a whole dimension."""
    key: list[object] = []
    for index in indices:
        if index is None:
            key.append(WHOLE)
            continue
        kind = index.dtype.kind
        if kind == "b" or index.dtype == np.uint8:
            if kind != "b":
                warn_of_bytes()
            if index.ndim and len(indices) > self.ndim:
                raise _too_many(self, indices)
            check_mask_shape(self, index, len(key))
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
    native=native("small_index({0}, {1})", gives="made"),
    face="operator",
    prepared=True,
    data_dependent=lambda self, indices: any(
        each is not None and each.dtype == np.bool_ for each in indices
    ),
)
def index(self: Array, indices: Indices) -> Array:
    """The elements at some positions, always a copy."""
    only = indices[0] if len(indices) == 1 else None
    if only is not None and _chooses(self, only) and (self.flags.c_contiguous or self.ndim == 1):
        return take_chosen(self, only)
    found = taken_by(self, indices)
    if found is None and _pays_copy(self, indices):
        found = taken_by(in_order(self), indices)
        if found is not None and found.ndim > 1:
            key = tuple([WHOLE if each is None else each for each in indices])
            return laid(found, self, key)
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


def _pays_copy(self: Array, indices: Indices) -> bool:
    """Whether one index tensor names so much of a tensor that does not lie in one piece that a copy
    of all is read sooner."""
    given = [(axis, each) for axis, each in enumerate(indices) if each is not None]
    if self.flags.c_contiguous or len(given) != 1 or self.size < LARGE:
        return False
    axis, places = given[0]
    if places.dtype is not _INT64 or axis >= self.ndim:
        return False
    return self.size // self.shape[axis] * places.size * _AS_MANY >= self.size


_AS_MANY: Final = 8
"""How many elements are copied for each that is read, at most."""


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
    if values.base is not None or self.base is not None or values is self or self.dtype is _INT64:
        check_apart(self, (values, *indices), itself=False)
    if len(indices) == 1 and not accumulate and _put_by_mask(self, indices[0], values):
        return self
    if values.size == 1 and not accumulate and _is_mask(indices):
        values = _number_for_mask(self, indices, values)
        if len(indices) == 1 and _put_by_mask(self, indices[0], values):
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
            combined_by_numpy(np.add, self, key, values)
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
    if values.ndim <= len(rest):
        return put_where(self, mask, values)
    fits = values.ndim == 1 + len(rest) and values.shape[1:] == rest
    return fits and put_chosen(self, mask, values)


def _is_mask(indices: Indices) -> bool:
    masks = [index.dtype for index in indices if index is not None]
    return len(masks) == 1 and masks[0] in (np.bool_, np.uint8)


def _number_for_mask(self: Array, indices: Indices, value: Array) -> Array:
    """The value that goes to where the last of the indices, a mask, says, as `self` has numbers."""
    place = len(indices) - 1
    mask = indices[place]
    if mask is not None and mask.dtype == np.uint8:
        check_mask_shape(self, mask, place)
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
    native=native("small_put({0}, {1}, {2})", at={3: "False"}, gives="written"),
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


@operator(
    "aten::_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, "
    "bool accumulate=False, bool unsafe=False) -> Tensor(a!)",
    "aten::_index_put_impl_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, "
    "bool accumulate=False, bool unsafe=False) -> Tensor(a!)",
    prepared=True,
    written="unchecked",
    face="operator",
)
def index_put_impl(
    self: Array, indices: Indices, values: Array, accumulate: bool, unsafe: bool
) -> Array:
    """`index_put` as exported programs call it; places are checked although they need not be."""
    return index_put(self, indices, values, accumulate)


@operator(
    "aten::_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, "
    "bool accumulate=False, bool unsafe=False) -> Tensor",
    layout="L",
    prepared=True,
    face="operator",
)
def index_put_impl_copy(
    self: Array, indices: Indices, values: Array, accumulate: bool, unsafe: bool
) -> Array:
    return index_put(copied(self), indices, values, accumulate)
