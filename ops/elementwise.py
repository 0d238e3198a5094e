"""Arithmetic of tensors: with tensors, with Python numbers, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .dtype import Array, Scalar, default_dtype
from .errors import OperatorError, UnsupportedDtype
from .pointwise import (
    as_array,
    binary,
    cast,
    checked_broadcast,
    in_place,
    number_as,
    with_number,
    write,
)
from .promotion import common_dtype, common_dtype_with, kind, number_dtype
from .table import operator

__all__ = ["add", "div", "mul", "pow_number", "sub"]

ndarray: Final = np.ndarray
asarray: Final = np.asarray
_add: Final = np.add
_subtract: Final = np.subtract
_multiply: Final = np.multiply
_BOOL: Final = np.dtype(np.bool_)


def _scaled(other: Array, self: Array, alpha: Scalar) -> Array:
    """`alpha * other`, in the dtype that `self` and `other` meet in."""
    dtype = common_dtype(self, other)
    _check_alpha(dtype, alpha)
    return with_number(_multiply, cast(other, dtype), alpha)


def _check_alpha(dtype: np.dtype[Any], alpha: Scalar) -> None:
    if isinstance(alpha, bool) and dtype != _BOOL:
        raise OperatorError("Boolean alpha only supported for Boolean results.")
    if kind(dtype) < 2 and not isinstance(alpha, int):
        raise OperatorError(
            "For integral input tensors, argument alpha must not be a floating point number.",
            code="dtype-mismatch",
            headline="`alpha` must be a whole number for tensors of whole numbers",
        )


# --------------------------------------------------------------------------- add, sub, mul


@operator("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
def add(self: Array, other: Array, alpha: Scalar) -> Array:
    if alpha != 1:
        other = _scaled(other, self, alpha)
    if self.dtype is other.dtype:
        try:
            result = _add(self, other)
        except ValueError:
            checked_broadcast(self.shape, other.shape)
            raise
        return result if type(result) is ndarray else asarray(result)
    return binary(_add, self, other)


@operator("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
def add_number(self: Array, other: Scalar, alpha: Scalar) -> Array:
    if alpha != 1:
        _check_alpha(common_dtype_with(self, other), alpha)
        other = other * alpha
    return with_number(_add, self, other)


def _check_subtraction(*dtypes: np.dtype[Any]) -> None:
    bools = [dtype == _BOOL for dtype in dtypes]
    if all(bools):
        raise OperatorError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead.",
            code="dtype-mismatch",
            headline="`-` does not work on two bool tensors",
        )
    if any(bools):
        raise OperatorError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
            "trying to invert a mask, use the `~` or `logical_not()` operator instead.",
            code="dtype-mismatch",
            headline="`-` does not work on a bool tensor",
        )


@operator("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
def sub(self: Array, other: Array, alpha: Scalar) -> Array:
    dtype = self.dtype
    if dtype is not other.dtype or dtype is _BOOL:
        _check_subtraction(dtype, other.dtype)
    if alpha != 1:
        other = _scaled(other, self, alpha)
    if dtype is other.dtype:
        try:
            result = _subtract(self, other)
        except ValueError:
            checked_broadcast(self.shape, other.shape)
            raise
        return result if type(result) is ndarray else asarray(result)
    return binary(_subtract, self, other)


@operator("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
def sub_number(self: Array, other: Scalar, alpha: Scalar) -> Array:
    if self.dtype is _BOOL or isinstance(other, bool):
        _check_subtraction(self.dtype, number_dtype(other))
    if alpha != 1:
        _check_alpha(common_dtype_with(self, other), alpha)
        other = other * alpha
    return with_number(_subtract, self, other)


@operator("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
def rsub(self: Array, other: Array, alpha: Scalar) -> Array:
    return sub(other, self, alpha)


@operator("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
def rsub_number(self: Array, other: Scalar, alpha: Scalar) -> Array:
    if self.dtype is _BOOL or isinstance(other, bool):
        _check_subtraction(self.dtype, number_dtype(other))
    if alpha != 1:
        dtype = common_dtype_with(self, other)
        _check_alpha(dtype, alpha)
        self = with_number(_multiply, cast(self, dtype), alpha)
    return with_number(_subtract, self, other, swapped=True)


@operator("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor")
def mul(self: Array, other: Array) -> Array:
    if self.dtype is other.dtype:
        try:
            result = _multiply(self, other)
        except ValueError:
            checked_broadcast(self.shape, other.shape)
            raise
        return result if type(result) is ndarray else asarray(result)
    return binary(_multiply, self, other)


@operator("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor")
def mul_number(self: Array, other: Scalar) -> Array:
    return with_number(_multiply, self, other)


# --------------------------------------------------------------------------- division


def _check_divisor(divisor: Array) -> None:
    if divisor.dtype.kind in "iu" and not divisor.all():
        raise OperatorError(
            "ZeroDivisionError",
            code="division-by-zero",
            headline="whole numbers are divided by zero",
        )


def _true_divide(a: Array, b: Array) -> Any:
    if kind(a.dtype) < 2:
        a, b = a.astype(default_dtype.float), b.astype(default_dtype.float)
    return np.true_divide(a, b)


def _floor_divide(a: Array, b: Array) -> Any:
    if a.dtype == _BOOL:
        raise UnsupportedDtype("\"div_floor\" not implemented for 'Bool'")
    _check_divisor(asarray(b))
    return np.floor_divide(a, b)


def _trunc_divide(a: Array, b: Array) -> Any:
    if kind(a.dtype) == 2:
        return np.trunc(np.true_divide(a, b))
    _check_divisor(asarray(b))
    quotient, rest = np.divmod(a, b)
    return quotient + ((rest != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def _divider(rounding_mode: str | None) -> Callable[..., Any]:
    if rounding_mode is None:
        return _true_divide
    if rounding_mode == "floor":
        return _floor_divide
    if rounding_mode == "trunc":
        return _trunc_divide
    raise OperatorError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
        f"but found '{rounding_mode}'",
        headline=f"`rounding_mode` is None, 'trunc' or 'floor', not {rounding_mode!r}",
    )


@operator("aten::div.Tensor(Tensor self, Tensor other) -> Tensor")
def div(self: Array, other: Array) -> Array:
    if self.dtype is other.dtype and self.dtype.kind in "fc":
        return binary(np.true_divide, self, other)
    return binary(_true_divide, self, other)


@operator("aten::div.Scalar(Tensor self, Scalar other) -> Tensor")
def div_number(self: Array, other: Scalar) -> Array:
    if kind(self.dtype) < 2 and not isinstance(other, complex):
        self = self.astype(default_dtype.float)
    return with_number(np.true_divide, self, other)


def _with_array(kernel: Callable[..., Any], self: Array, other: Scalar) -> Array:
    """`kernel` of two arrays, the second one a number."""
    dtype = common_dtype_with(self, other)
    return as_array(kernel(cast(self, dtype), number_as(other, dtype)))


@operator("aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor")
def div_rounded(self: Array, other: Array, rounding_mode: str | None) -> Array:
    return binary(_divider(rounding_mode), self, other)


@operator("aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor")
def div_number_rounded(self: Array, other: Scalar, rounding_mode: str | None) -> Array:
    return _with_array(_divider(rounding_mode), self, other)


@operator("aten::floor_divide(Tensor self, Tensor other) -> Tensor")
def floor_divide(self: Array, other: Array) -> Array:
    return binary(_floor_divide, self, other)


@operator("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor")
def floor_divide_number(self: Array, other: Scalar) -> Array:
    return _with_array(_floor_divide, self, other)


def _remainder(a: Array, b: Array) -> Any:
    _check_divisor(asarray(b))
    return np.remainder(a, b)


def _fmod(a: Array, b: Array) -> Any:
    _check_divisor(asarray(b))
    return np.fmod(a, b)


@operator("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor")
def remainder(self: Array, other: Array) -> Array:
    return binary(_remainder, self, other)


@operator("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor")
def remainder_number(self: Array, other: Scalar) -> Array:
    return _with_array(_remainder, self, other)


@operator("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor")
def number_remainder(self: Scalar, other: Array) -> Array:
    dtype = common_dtype_with(other, self)
    return as_array(_remainder(number_as(self, dtype), cast(other, dtype)))


@operator("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor")
def fmod(self: Array, other: Array) -> Array:
    return binary(_fmod, self, other)


@operator("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor")
def fmod_number(self: Array, other: Scalar) -> Array:
    return _with_array(_fmod, self, other)


# --------------------------------------------------------------------------- powers


def _power(a: Array, b: Array) -> Any:
    if a.dtype.kind not in "iub":
        return np.power(a, b)
    if a.dtype == _BOOL:
        raise UnsupportedDtype("\"pow\" not implemented for 'Bool'")
    negative = b < 0
    if not negative.any():
        return np.power(a, b)
    parity = np.where(b & 1, a, a * a)  # of 1 and -1: the only ones with whole reciprocals
    below = np.where(np.abs(a) == 1, parity, 0).astype(a.dtype)
    return np.where(negative, below, np.power(a, np.where(negative, 0, b)))


@operator("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")
def pow_tensors(self: Array, exponent: Array) -> Array:
    return binary(_power, self, exponent)


@operator("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")
def pow_number(self: Array, exponent: Scalar) -> Array:
    if isinstance(exponent, int) and self.dtype.kind in "iu" and exponent < 0:
        raise OperatorError(
            "Integers to negative integer powers are not allowed.",
            code="dtype-mismatch",
            headline="a tensor of whole numbers cannot be raised to a negative whole power",
            roles={"exponent": f"is {exponent}"},
        )
    if exponent == 2 and (kind(self.dtype) >= 2 or isinstance(exponent, int)):
        return mul(self, self)
    if kind(self.dtype) == 2 and self.itemsize >= 4:
        if exponent == 0.5:
            return as_array(np.sqrt(self))
        if exponent == 3:
            return as_array(self * self * self)
        if exponent == -1:
            return as_array(np.reciprocal(self))
        return with_number(np.power, self, exponent)
    return _with_array(_power_in_width, self, exponent)


def _power_in_width(a: Array, b: Array) -> Any:
    """16-bit floats are raised in float32."""
    if kind(a.dtype) == 2 and a.itemsize < 4:
        return asarray(np.power(a.astype(np.float32), b.astype(np.float32))).astype(a.dtype)
    return _power(a, b)


@operator("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor")
def number_pow(self: Scalar, exponent: Array) -> Array:
    dtype = common_dtype_with(exponent, self)
    return as_array(_power_in_width(number_as(self, dtype), cast(exponent, dtype)))


# --------------------------------------------------------------------------- signs and rounding


@operator("aten::neg(Tensor self) -> Tensor")
def neg(self: Array) -> Array:
    if self.dtype == _BOOL:
        raise OperatorError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead.",
            code="dtype-mismatch",
            headline="`-` does not work on a bool tensor",
        )
    return as_array(np.negative(self))


@operator("aten::abs(Tensor self) -> Tensor", "prim::abs(Tensor x) -> Tensor")
def absolute(self: Array) -> Array:
    return as_array(np.absolute(self))


@operator("aten::positive(Tensor(a) self) -> Tensor(a)")
def positive(self: Array) -> Array:
    return self


def _rounder(kernel: Callable[..., Any]) -> Callable[[Array], Array]:
    def rounded(self: Array) -> Array:
        if kind(self.dtype) < 2:
            return self.copy()
        return as_array(kernel(self))

    return rounded


for _name, _kernel in (
    *(("ceil", np.ceil), ("floor", np.floor), ("trunc", np.trunc), ("round", np.rint)),
    ("fix", np.trunc),
):
    operator(f"aten::{_name}(Tensor self) -> Tensor")(_rounder(_kernel))
    operator(f"aten::{_name}_(Tensor(a!) self) -> Tensor(a!)")(in_place(_rounder(_kernel)))


@operator("aten::round.decimals(Tensor self, *, int decimals) -> Tensor")
def round_decimals(self: Array, decimals: int) -> Array:
    if kind(self.dtype) < 2 or not decimals:
        return as_array(np.rint(self)) if kind(self.dtype) == 2 else self.copy()
    scale = self.dtype.type(10.0 ** abs(decimals))
    if decimals > 0:
        return as_array((np.rint(self * scale) / scale).astype(self.dtype))
    return as_array((np.rint(self / scale) * scale).astype(self.dtype))


# --------------------------------------------------------------------------- in place


def add_in_place(self: Array, other: Array, alpha: Scalar) -> Array:
    if alpha == 1 and self.dtype is other.dtype and self.shape == other.shape:
        _add(self, other, self)
        return self
    return write(self, add(self, other, alpha))


operator("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")(
    add_in_place
)

_IN_PLACE: Final[dict[str, Callable[..., Array]]] = {
    "aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)": add_number,
    "aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)": sub,
    "aten::sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)": sub_number,
    "aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": mul,
    "aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": mul_number,
    "aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": div,
    "aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": div_number,
    "aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)": (
        div_rounded
    ),
    "aten::div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)": (
        div_number_rounded
    ),
    "aten::floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": floor_divide,
    "aten::floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": floor_divide_number,
    "aten::remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": remainder,
    "aten::remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": remainder_number,
    "aten::fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)": fmod,
    "aten::fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)": fmod_number,
    "aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)": pow_tensors,
    "aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)": pow_number,
    "aten::neg_(Tensor(a!) self) -> Tensor(a!)": neg,
    "aten::abs_(Tensor(a!) self) -> Tensor(a!)": absolute,
}
for _schema, _forward in _IN_PLACE.items():
    operator(_schema)(in_place(_forward))

operator("aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor")(mul)
operator("aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor")(mul_number)
operator("aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")(sub)
operator("aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")(sub_number)
operator("aten::divide.Tensor(Tensor self, Tensor other) -> Tensor")(div)
operator("aten::divide.Scalar(Tensor self, Scalar other) -> Tensor")(div_number)
operator("aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor")(
    div_rounded
)
operator("aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor")(
    div_number_rounded
)
operator("aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor")(div)
operator("aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor")(div_number)
operator("aten::negative(Tensor self) -> Tensor")(neg)
operator("aten::absolute(Tensor self) -> Tensor")(absolute)
