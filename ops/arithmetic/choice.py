"""Choice between elements: by a condition, by a mask."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import LARGE, by_formula
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import OperatorError
from ..memory.order import beside
from ..memory.overlap import check_inputs, overlaps_itself, warn_if_expanded
from ..memory.warned import warn_caller_once
from ..table.formula import Part, formula
from ..table.layouts import contiguous
from ..table.out_dtypes import OutDtype
from ..table.pointwise import (
    as_array,
    cast,
    check_result_shape,
    checked_broadcast,
    checked_operand,
    scalar_of,
    write,
)
from ..table.promotion import common_dtype, common_dtype_with, result_dtype
from ..table.refusals import Refusal, check_number, cpp_name
from ..table.table import operator
from ..table.without_data import always
from .chosen import parts_of_places

__all__ = ["check_mask", "where"]

_OUT_OF_WHERE: Final = OutDtype("same", "Expected out type to be {result} but got {out}")

_OLD_CONDITION: Final = (
    "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a "
    "future version of PyTorch. Use a boolean condition instead."
)

_where: Final = np.where
_BOOL: Final = np.dtype(np.bool_)
_FLOAT32: Final = np.dtype(np.float32)


@operator(
    "aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    out_dtype=_OUT_OF_WHERE,
    formula=formula("choose", 0, 1, 2),
)
def where(condition: Array, self: Array, other: Array) -> Array:
    if condition.dtype is not _BOOL:
        _check_condition(condition)
    if self.dtype is not other.dtype:
        dtype = common_dtype(self, other)
        self, other = cast(self, dtype), cast(other, dtype)
    return _chosen(condition, self, other)


def _check_condition(condition: Array) -> None:
    if condition.dtype == np.uint8:
        warn_caller_once(_OLD_CONDITION)
        return
    raise OperatorError(
        "where expected condition to be a boolean tensor, but got a tensor with dtype "
        + dtype_of(condition).scalar_name,
        code="dtype-mismatch",
        headline=f"`condition` is `{dtype_of(condition)}`, it must be of bools",
        roles={"condition": "must be of bools"},
    )


def _chosen(condition: Array, self: Array, other: Array) -> Array:
    """`where` of a mask and two tensors of one dtype."""
    found: Array | None = None
    if condition.size >= LARGE:
        found = by_formula("choose", condition, self, other)
    try:
        if found is None:
            found = _where(condition, self, other)
        if condition.flags.c_contiguous and condition.size == found.size:
            return found
        return beside(found, condition, self, other)
    except ValueError:
        shape = checked_broadcast(condition.shape, self.shape, ("condition", "self"))
        checked_broadcast(shape, other.shape, ("self", "other"))
        raise


@operator(
    "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
    out="",
    out_dtype=_OUT_OF_WHERE,
    formula=formula("choose", 0, 1, 2, checks=True),
)
def where_other_number(condition: Array, self: Array, other: Scalar) -> Array:
    dtype = common_dtype_with(self, other)
    return where(condition, cast(self, dtype), scalar_of(other, dtype))


@operator(
    "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
    out="",
    out_dtype=_OUT_OF_WHERE,
    formula=formula("choose", 0, 1, 2, checks=True),
)
def where_self_number(condition: Array, self: Scalar, other: Array) -> Array:
    dtype = common_dtype_with(other, self)
    return where(condition, scalar_of(self, dtype), cast(other, dtype))


@operator(
    "aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
    out="",
    out_dtype=_OUT_OF_WHERE,
    formula=formula("choose", 0, 1, 2, checks=True),
)
def where_numbers(condition: Array, self: Scalar, other: Scalar) -> Array:
    dtype = result_dtype([self, other])
    return where(condition, scalar_of(self, dtype), scalar_of(other, dtype))


@operator(
    "aten::where(Tensor condition) -> Tensor[]", out_dtype=_OUT_OF_WHERE, data_dependent=always
)
def where_true(condition: Array) -> list[Array]:
    if condition.ndim == 0:
        return [np.zeros(int(bool(condition)), np.int64)]
    return parts_of_places(condition)


def check_mask(mask: Array, sentence: str = "") -> None:
    """Refuse a mask that is not of bools.

    Args:
        mask: what must be of bools.
        sentence: torch's for it, where it is not that of `masked_fill_`.

    Raises:
        OperatorError: it is not.
    """
    if mask.dtype is not _BOOL:
        raise OperatorError(
            sentence
            or "masked_fill_ only supports boolean masks, "
            f"but got mask with dtype {cpp_name(dtype_of(mask))}",
            code="dtype-mismatch",
            headline=f"`mask` is `{dtype_of(mask)}`, it must be of bools",
            roles={"mask": "must be of bools"},
        )


_refuse_masked_fill: Final = Refusal("u", "masked_fill")


@operator(
    "aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    order="Scalar_out Tensor",
    formula=formula("fill", 0, 1, 2, checks=True),
    on_slices="elements",
)
def masked_fill(self: Array, mask: Array, value: Scalar) -> Array:
    check_mask(mask)
    if self.shape != mask.shape:
        checked_broadcast(mask.shape, self.shape, ("mask", "self"))
    if self.dtype is not _FLOAT32 or isinstance(value, complex):
        _refuse_masked_fill(self.dtype)
    made = _chosen(mask, checked_operand(value, self.dtype), self)
    return made if made.flags.c_contiguous else contiguous(made)


def _number_in(value: Array) -> Array:
    if value.ndim:
        raise OperatorError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s).",
            code="shape-mismatch",
            headline=f"`value` must be 0-d, it has shape {list(value.shape)}",
        )
    return value


def _parts_of_masked_fill(result: Array, self: Array, mask: Array, value: Array) -> list[Part]:
    if value.dtype != self.dtype:  # a number of another one may not fit
        return []
    return [Part([("fill", "", (0, 1, 2))], [self, mask, value], result)]


@operator(
    "aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    parts=_parts_of_masked_fill,
)
def masked_fill_tensor(self: Array, mask: Array, value: Array) -> Array:
    check_mask(mask)
    checked_broadcast(mask.shape, self.shape, ("mask", "self"))
    number = _number_in(value)
    _refuse_masked_fill(self.dtype)
    check_number(number.item(), self.dtype)
    return contiguous(as_array(np.where(mask, cast(number, self.dtype), self)))


def masked_fill_in_place(self: Array, mask: Array, value: Scalar) -> Array:
    check_mask(mask)
    warn_if_expanded(self, "masked_fill_", "tensor[mask] = scalar")
    if self.shape != mask.shape:
        shape = checked_broadcast(self.shape, mask.shape, ("self", "mask"))
        check_result_shape(self.shape, shape)
    check_inputs(self, (mask,))
    return _written_where(mask, self, masked_fill(self, mask, value))


def _written_where(mask: Array, self: Array, filled: Array) -> Array:
    """A tensor filled; elements in one place are written by those that the mask names alone."""
    if not overlaps_itself(self):
        return write(self, filled)
    np.copyto(self, filled, where=mask)
    return self


def masked_fill_tensor_in_place(self: Array, mask: Array, value: Array) -> Array:
    check_mask(mask)
    warn_if_expanded(self, "masked_fill_", "tensor[mask] = scalar")
    checked_broadcast(self.shape, mask.shape, ("self", "mask"))
    check_inputs(self, (mask,))
    return _written_where(mask, self, masked_fill_tensor(self, mask, value))


operator(
    "aten::masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
    written="unchecked",
)(masked_fill_in_place)
operator(
    "aten::masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)",
    written="unchecked",
)(masked_fill_tensor_in_place)
