"""Sums whose negative elements become zero, which graphs that were made for phones have in place of
two operators."""

from __future__ import annotations

from ..arithmetic.elementwise import add, add_number
from ..memory.dtype import Array, Scalar
from ..table.pointwise import in_place
from ..table.table import operator
from .activation import relu


@operator(
    "aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    out="out",
    order="Tensor out Scalar Scalar_out",
)
def _add_relu(self: Array, other: Array, alpha: Scalar) -> Array:
    return relu(add(self, other, alpha))


@operator("aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
def _add_relu_number(self: Array, other: Scalar, alpha: Scalar) -> Array:
    return relu(add_number(self, other, alpha))


operator("aten::_add_relu_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")(
    in_place(_add_relu)
)
operator("aten::_add_relu_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)")(
    in_place(_add_relu_number)
)
