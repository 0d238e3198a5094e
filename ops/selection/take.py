"""Elements taken by a count through all, along a dimension, or where a mask holds."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..arithmetic.choice import check_mask
from ..arithmetic.chosen import chosen_places, parts_of_places, take_chosen
from ..kernels import is_whole
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import settled, view_of
from ..shapes.shape import view
from ..table.layouts import contiguous
from ..table.out_dtypes import SAME, SELF_AND_RESULT, OutDtype
from ..table.pointwise import checked_broadcast
from ..table.table import operator
from ..table.without_data import always
from .along import check_index
from .index_errors import first_outside, no_such_element
from .places import taken_natively

_INT64: Final = np.dtype(np.int64)


@operator(
    "aten::take(Tensor self, Tensor index) -> Tensor",
    out_dtype=OutDtype(
        "same",
        "{name}(): self and out expected to have the same dtype, but got self.dtype = "
        "{result} and out.dtype = {out}",
    ),
    out_overlap="apart",
    prepared=True,
)
def take(self: Array, index: Array) -> Array:
    if index.dtype != _INT64:
        given = dtype_of(index).scalar_name
        raise OperatorError(f"take(): Expected a long tensor for index, but got {given}")
    if not self.size and index.size:
        raise IndexOutOfRange("take(): tried to take from an empty tensor")
    flat = self.reshape(-1)
    found = taken_natively(flat, 0, index.reshape(-1)) if is_whole(index) else None
    if found is not None:
        return found.reshape(index.shape)
    try:
        return np.asarray(flat.take(index))
    except IndexError:
        wrong = first_outside(index.reshape(-1), -self.size, self.size)
        if wrong is None:
            raise
        raise no_such_element(wrong, self.size) from None


_PLACES: Final = (np.dtype(np.int32), np.dtype(np.int64))


@operator(
    "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    out_dtype=SAME,
    prepared=True,
    on_slices="places",
)
def take_along_dim(self: Array, indices: Array, dim: int | None) -> Array:
    if dim is None:
        row, flat = view(self, [-1]), view(indices, [-1])
        if flat.size and flat.dtype not in _PLACES:
            raise OperatorError("gather(): Expected dtype int32/int64 for index")
        check_index(row, 0, flat, "take_along_dim")
        return row.take(flat)
    name = "torch.take_along_dim()"
    if self.ndim != indices.ndim:
        raise OperatorError(
            f"{name}: input and indices should have the same number of dimensions, but got "
            f"{self.ndim} dimensions for input, and {indices.ndim} dimensions for indices",
            code="shape-mismatch",
        )
    _check_long(indices)
    axis = wrap_dim(dim, self.ndim)
    if not self.ndim:
        raise IndexOutOfRange(f"Dimension specified as {dim} but tensor has no dimensions")
    found = taken_natively(self, axis, indices)
    if found is not None:
        return found
    first, second = (
        tuple(1 if at == axis else n for at, n in enumerate(array.shape))
        for array in (self, indices)
    )
    shape = checked_broadcast(first, second, ("a", "b"))
    whole = [(*shape[:axis], array.shape[axis], *shape[axis + 1 :]) for array in (self, indices)]
    if indices.size and not self.shape[axis]:
        raise OperatorError("ZeroDivisionError")
    places = np.remainder(indices, max(self.shape[axis], 1))  # counted round and round
    wide, along = np.broadcast_to(self, whole[0]), np.broadcast_to(places, whole[1])
    return contiguous(np.take_along_axis(wide, along, axis))


def _check_long(indices: Array) -> None:
    if indices.dtype != _INT64:
        raise OperatorError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{dtype_of(indices).scalar_name}",
            code="dtype-mismatch",
            roles={"indices": "must be int64"},
        )


@operator(
    "aten::masked_select(Tensor self, Tensor mask) -> Tensor",
    out_dtype=SELF_AND_RESULT,
    out_overlap="apart",
    data_dependent=always,
)
def masked_select(self: Array, mask: Array) -> Array:
    check_mask(mask, "masked_select: expected BoolTensor for mask")
    if self.shape != mask.shape:
        shape = checked_broadcast(mask.shape, self.shape, ("mask", "self"))
        self, mask = np.broadcast_to(self, shape), np.broadcast_to(mask, shape)
    return take_chosen(self, np.ascontiguousarray(mask)) if mask.ndim else self[settled(mask)]


# --------------------------------------------------------------------------- where nonzero


@operator("aten::argwhere(Tensor self) -> Tensor", out="", data_dependent=always)
@operator(
    "aten::nonzero(Tensor self) -> Tensor",
    out_dtype=OutDtype(
        "same",
        "nonzero: Expected out tensor to have scalar type {result} but got scalar type{out}",
    ),
    out_layout="L",
    data_dependent=always,
)
def nonzero(self: Array) -> Array:
    found = chosen_places(self).T if self.ndim else np.argwhere(settled(self))
    if found.size:
        return found
    return view_of(np.empty(0, _INT64), found.shape, (8, 8 * len(found)))  # stored by columns


@operator("aten::nonzero_numpy(Tensor self) -> Tensor[]", face="operator", data_dependent=always)
def nonzero_parts(self: Array) -> list[Array]:
    return parts_of_places(self)
