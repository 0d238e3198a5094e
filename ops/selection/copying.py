"""Copying one tensor into another, and filling one with a number."""

from __future__ import annotations

import numpy as np

from ..memory.dtype import Array, Scalar
from ..memory.errors import OperatorError
from ..table.formula import filled_with, formula
from ..table.inline import native
from ..table.pointwise import cast, check_result_shape, checked_broadcast, number_to_fill
from ..table.table import operator

__all__ = ["copy_into", "fill"]


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
    between_devices=True,
    takes_numbers=True,
    formula=formula("same", 1),
    native=native("array_copy({0}, {1})"),
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


@operator("aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)", face="both")
def fill_from(self: Array, value: Array) -> Array:
    if value.ndim:
        raise OperatorError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} "
            "dimensions.",
            code="shape-mismatch",
            headline=f"`value` must be 0-d, it has shape {list(value.shape)}",
        )
    return copy_into(self, value)


@operator(
    "aten::zero_(Tensor(a!) self) -> Tensor(a!)",
    on_slices="elements",
    written="unchecked",
    parts=lambda result, self: [filled_with(0, result)],
)
def zero(self: Array) -> Array:
    self[...] = 0
    return self


@operator("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", layout="L", face="function")
def filled(self: Array, value: Scalar) -> Array:
    return fill(np.empty_like(self), value)
