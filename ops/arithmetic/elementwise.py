"""Arithmetic of tensors: with tensors, with Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..kernels import LARGE, by_formula, family, is_half, is_whole, written_by_numpy
from ..memory.dtype import Array, Dtype, Scalar, default_dtype
from ..memory.errors import KernelError, OperatorError
from ..memory.order import beside
from ..table.formula import formula
from ..table.inline import (
    BOTH_FLOAT32,
    ON_FLOAT32,
    STORED_ALIKE,
    inline,
    small,
    small_with_number,
)
from ..table.pointwise import (
    as_array,
    binary,
    cast,
    checked_broadcast,
    exactly,
    number_as,
    number_in,
    operand,
    with_number,
)
from ..table.promotion import common_dtype, common_dtype_with, kind, number_dtype
from ..table.refusals import Refusal, letter
from ..table.table import operator
from .complex_quotients import divided

__all__ = ["add", "difference", "div", "mul", "sub"]

ndarray: Final = np.ndarray
asarray: Final = np.asarray
_add: Final = np.add
_subtract: Final = np.subtract
_multiply: Final = np.multiply
_divide: Final = np.true_divide
_BOOL: Final = np.dtype(np.bool_)
_FLOAT32: Final = np.dtype(np.float32)
_INT64: Final = np.dtype(np.int64)


def _matched(refuse: Refusal, a: Array, b: Array) -> tuple[Array, Array]:
    """Two tensors in the dtype they meet in, if the operator takes it."""
    dtype = common_dtype(a, b)
    refuse(dtype)
    return cast(a, dtype), cast(b, dtype)


def _with_number(
    refuse: Refusal, kernel: Callable[..., object], a: Array, number: Scalar, swapped: bool = False
) -> Array:
    if a.dtype is not _FLOAT32 and a.dtype is not _INT64:
        refuse(common_dtype_with(a, number))
    return with_number(kernel, a, number, swapped=swapped)


def _with_alpha(
    refuse: Refusal, kernel: Callable[..., object], a: Array, b: Array | Scalar, alpha: Scalar
) -> Array:
    """`kernel(a, alpha * b)`; 16-bit floats are rounded once, at the end.

    Complex numbers are multiplied by `alpha` even if it is 1, so that an infinite part has
    a NaN beside it, and subtracted by adding them times `-alpha`.
    """
    dtype = common_dtype(a, b) if isinstance(b, ndarray) else common_dtype_with(a, b)
    check_alpha(dtype, alpha)
    if kernel is _subtract and dtype.kind == "c":
        kernel, alpha = _add, -alpha
    factor = number_in(alpha, dtype)
    refuse(dtype)
    one, two = cast(a, dtype), cast(b, dtype) if isinstance(b, ndarray) else number_as(b, dtype)
    if letter(dtype) != "h":
        return binary(kernel, one, as_array(_multiply(two, factor)))
    wide = _multiply(two.astype(_FLOAT32), factor.astype(_FLOAT32))
    return binary(kernel, one.astype(_FLOAT32), as_array(wide)).astype(dtype)


def _is_complex(self: Array, other: Scalar) -> bool:
    return self.dtype.kind == "c" or type(other) is complex


def check_alpha(dtype: Dtype, alpha: Scalar) -> None:
    """See that sums of a dtype may have this factor.

    Raises:
        KernelError: it is a number of a kind above the dtype's, or a bool for other numbers.
    """
    if isinstance(alpha, bool) and dtype != _BOOL:
        raise KernelError("Boolean alpha only supported for Boolean results.")
    if kind(dtype) < 2 and not isinstance(alpha, int):
        raise KernelError(
            "For integral input tensors, argument alpha must not be a floating point number.",
            code="dtype-mismatch",
            headline="`alpha` must be a whole number for tensors of whole numbers",
        )
    if isinstance(alpha, complex) and kind(dtype) != 3:
        raise KernelError(
            "For non-complex input tensors, argument alpha must not be a complex number.",
            code="dtype-mismatch",
            headline="`alpha` must be a real number for tensors of real numbers",
        )


# --------------------------------------------------------------------------- add, sub, mul


_refuse_sum: Final = Refusal("u", "add_stub")


_ALPHA: Final = {2: "1"}
"""Plans write sums and differences out if `alpha` is 1."""
_ONE: Final = {2: "(1)"}
"""So does native code."""

_SAME_DTYPE: Final = f"{{0}}.dtype is {{1}}.dtype and {STORED_ALIKE}"
_SAME_REAL: Final = (
    "(kind := {0}.dtype) is {1}.dtype is not complex64 and kind is not complex128 "
    f"and {STORED_ALIKE}"
)
_COMPLEX_ONES: Final[dict[Dtype, Any]] = {
    np.dtype(np.complex64): np.complex64(1),
    np.dtype(np.complex128): np.complex128(1),
}
_COMPLEX: Final = {name: np.dtype(name) for name in ("complex64", "complex128")}


@operator(
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    numbers_between=True,
    takes_numbers=True,
    autocast_in_graphs="widest",
    inline=inline("{0} + {1}", _SAME_REAL, at=_ALPHA, over=np.add, names=_COMPLEX),
    out="out",
    order=(
        "t str int complex float int_complex complex_int float_complex complex_float int_float "
        "float_int -"
    ),
    formula=formula("add", 0, 1, at={2: 1}) + formula("add_scaled", 0, 1, 2, checks=True),
    native=small("add", at=_ONE),
)
def add(self: Array, other: Array, alpha: Scalar) -> Array:
    if type(alpha) is not int or alpha != 1:
        return _with_alpha(_refuse_sum, _add, self, other, alpha)
    dtype = self.dtype
    if dtype is other.dtype:
        if dtype.kind in "uc":
            _refuse_sum(dtype)
            if dtype.kind == "c":
                return binary(_add, self, as_array(_multiply(other, _COMPLEX_ONES[dtype])))
        try:
            result = _add(self, other)
        except ValueError:
            checked_broadcast(self.shape, other.shape)
            raise
        if type(result) is ndarray and self.flags.c_contiguous and self.size == result.size:
            return result
        return beside(result, self, other)
    if "c" in (dtype.kind, other.dtype.kind):
        return _with_alpha(_refuse_sum, _add, self, other, 1)
    return binary(_add, *_matched(_refuse_sum, self, other))


@operator(
    "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    autocast_in_graphs="widest",
    inline=inline("{0} + {k}", ON_FLOAT32, at=_ALPHA, over=np.add),
    native=small_with_number("add", _ONE),
    formula=formula("add", 0, 1, at={2: 1}),
    neutral=0,
)
def add_number(self: Array, other: Scalar, alpha: Scalar) -> Array:
    if type(alpha) is not int or alpha != 1 or _is_complex(self, other):
        return _with_alpha(_refuse_sum, _add, self, other, alpha)
    return _with_number(_refuse_sum, _add, self, other)


def check_subtraction(*dtypes: Dtype) -> None:
    """See that the operands of a difference are no bools.

    Raises:
        OperatorError: one is.
    """
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


def difference(a: Array, b: Array) -> Array:
    """`a - b`, as losses and distances take it.

    Raises:
        OperatorError: one of them is bools.
    """
    check_subtraction(a.dtype, b.dtype)
    return binary(np.subtract, a, b)


@operator(
    "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    numbers_between=True,
    takes_numbers=True,
    autocast_in_graphs="widest",
    inline=inline("{0} - {1}", BOTH_FLOAT32, at=_ALPHA, over=np.subtract),
    out="out",
    order="complex float int_complex complex_int float_complex complex_float int_float float_int -",
    formula=formula("subtract", 0, 1, at={2: 1}) + formula("subtract_scaled", 0, 1, 2, checks=True),
    native=small("subtract", at=_ONE),
)
def sub(self: Array, other: Array, alpha: Scalar) -> Array:
    dtype = self.dtype
    if dtype is not other.dtype or dtype is _BOOL:
        check_subtraction(dtype, other.dtype)
    if type(alpha) is not int or alpha != 1:
        return _with_alpha(_refuse_sum, _subtract, self, other, alpha)
    if dtype is other.dtype:
        if dtype.kind in "uc":
            if dtype.kind == "c":
                return _with_alpha(_refuse_sum, _subtract, self, other, 1)
            _refuse_sum(dtype)
        try:
            result = _subtract(self, other)
        except ValueError:
            checked_broadcast(self.shape, other.shape)
            raise
        if type(result) is ndarray and self.flags.c_contiguous and self.size == result.size:
            return result
        return beside(result, self, other)
    if "c" in (dtype.kind, other.dtype.kind):
        return _with_alpha(_refuse_sum, _subtract, self, other, 1)
    return binary(_subtract, *_matched(_refuse_sum, self, other))


@operator(
    "aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    autocast_in_graphs="widest",
    inline=inline("{0} - {k}", ON_FLOAT32, at=_ALPHA, over=np.subtract),
    native=small_with_number("subtract", _ONE),
    formula=formula("subtract", 0, 1, at={2: 1}),
    neutral=0,
)
def sub_number(self: Array, other: Scalar, alpha: Scalar) -> Array:
    if self.dtype is _BOOL or isinstance(other, bool):
        check_subtraction(self.dtype, number_dtype(other))
    if type(alpha) is not int or alpha != 1 or _is_complex(self, other):
        return _with_alpha(_refuse_sum, _subtract, self, other, alpha)
    return _with_number(_refuse_sum, _subtract, self, other)


@operator(
    "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    face="function",
    formula=formula("subtract_from", 0, 1, at={2: 1}),
)
def rsub(self: Array, other: Array, alpha: Scalar) -> Array:
    return sub(other, self, alpha)


@operator(
    "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    inline=inline("{k} - {0}", ON_FLOAT32, at=_ALPHA),
    native=small_with_number("subtract_from", _ONE),
    face="function",
    formula=formula("subtract_from", 0, 1, at={2: 1}),
)
def rsub_number(self: Array, other: Scalar, alpha: Scalar) -> Array:
    if self.dtype is _BOOL or isinstance(other, bool):
        check_subtraction(self.dtype, number_dtype(other))
    if type(alpha) is not int or alpha != 1 or _is_complex(self, other):
        return _with_alpha(_refuse_sum, _subtract, asarray(other, number_dtype(other)), self, alpha)
    return _with_number(_refuse_sum, _subtract, self, other, swapped=True)


@operator(
    "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
    takes_numbers=True,
    autocast_in_graphs="widest",
    inline=inline("{0} * {1}", _SAME_DTYPE, over=np.multiply),
    out="out",
    order=(
        "left_t right_ int complex float int_complex complex_int float_complex complex_float "
        "int_float float_int -"
    ),
    formula=formula("multiply", 0, 1),
    native=small("multiply"),
)
def mul(self: Array, other: Array) -> Array:
    if self.dtype is other.dtype:
        try:
            result = _multiply(self, other)
        except ValueError:
            checked_broadcast(self.shape, other.shape)
            raise
        if type(result) is ndarray and self.flags.c_contiguous and self.size == result.size:
            return result
        return beside(result, self, other)
    return exactly(_multiply, self, other, common_dtype(self, other))


@operator(
    "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor",
    autocast_in_graphs="widest",
    inline=inline("{0} * {k}", ON_FLOAT32, over=np.multiply),
    native=small_with_number("multiply"),
    formula=formula("multiply", 0, 1),
    neutral=1,
)
def mul_number(self: Array, other: Scalar) -> Array:
    if self.dtype is _FLOAT32 or self.dtype is _INT64:
        return with_number(_multiply, self, other)
    return exactly(_multiply, self, other, common_dtype_with(self, other))


# --------------------------------------------------------------------------- division


def _check_divisor(refuse: Refusal, dividend: Array, divisor: Array) -> None:
    """Refuse dtypes and zeros, but first shapes that do not meet, as torch looks at these first."""
    try:
        refuse(dividend.dtype)
        _check_zeros(dividend, divisor)
    except OperatorError:
        checked_broadcast(dividend.shape, divisor.shape)
        raise


def _check_zeros(dividend: Array, divisor: Array) -> None:
    if divisor.dtype.kind not in "iu" or not dividend.size:
        return
    if _has_zero(divisor):
        raise KernelError(
            "ZeroDivisionError",
            code="division-by-zero",
            headline="whole numbers are divided by zero",
        )


def _has_zero(divisor: Array) -> bool:
    counting = family("ordering.counting") if divisor.ndim and is_whole(divisor) else None
    found: bool | None = None if counting is None else counting.has_zero(divisor)
    if found is None:
        written_by_numpy()  # the next divisor may hold a zero
        return not divisor.all()
    return found


_refuse_div: Final = Refusal("q", "div_cpu")


def _quotient(self: Array, other: Array | Scalar) -> Array:
    """The quotient in floats: operands of whole numbers become such before they meet."""
    if isinstance(other, ndarray):
        dtype = common_dtype(self, other)
    else:
        dtype = common_dtype_with(self, other)
    _refuse_div(dtype)
    kernel = divided if dtype.kind == "c" else _divide
    return exactly(kernel, self, other, default_dtype.float if kind(dtype) < 2 else dtype)


def _quotient_by_mode(self: Array, other: Array | Scalar, rounding_mode: str | None) -> Array:
    """The quotient, rounded as told."""
    kernel = _divider(rounding_mode)
    if kernel is None:
        return _quotient(self, other)
    if isinstance(other, ndarray):
        return exactly(kernel, self, other, common_dtype(self, other))
    return exactly(kernel, self, other, common_dtype_with(self, other))


_refuse_div_floor: Final = Refusal("buqc", "div_floor_cpu")
_refuse_div_trunc: Final = Refusal("buqc", "div_trunc_cpu")


def _cut_by(name: str, a: Array, b: Array) -> Array | None:
    """A quotient that is cut, or what is left, by native code; None where NumPy is as quick."""
    return by_formula(name, a, b) if a.dtype.kind in "fiu" or is_half(a.dtype) else None


def _floor_divide(a: Array, b: Array) -> object:
    _check_divisor(_refuse_div_floor, asarray(a), asarray(b))
    found = _cut_by("floor_divide", a, b)
    return np.floor_divide(a, b) if found is None else found


def _trunc_divide(a: Array, b: Array) -> object:
    _check_divisor(_refuse_div_trunc, asarray(a), asarray(b))
    if kind(a.dtype) == 2:
        quotient = by_formula("divide", a, b)
        found = None if quotient is None else by_formula("trunc", quotient)
        return np.trunc(np.true_divide(a, b)) if found is None else found
    found = _cut_by("trunc_divide", a, b)
    if found is not None:
        return found
    quotient, rest = np.divmod(a, b)
    return quotient + ((rest != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def _divider(rounding_mode: str | None) -> Callable[..., object] | None:
    if rounding_mode is None:
        return None
    if rounding_mode == "floor":
        return _floor_divide
    if rounding_mode == "trunc":
        return _trunc_divide
    raise OperatorError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
        f"but found '{rounding_mode}'",
        headline=f"`rounding_mode` is None, 'trunc' or 'floor', not {rounding_mode!r}",
    )


@operator(
    "aten::div.Tensor(Tensor self, Tensor other) -> Tensor",
    takes_numbers=True,
    autocast_in_graphs="widest",
    inline=inline("{0} / {1}", BOTH_FLOAT32, over=np.true_divide),
    native=small("divide"),
    out="out",
    formula=formula("divide", 0, 1),
)
def div(self: Array, other: Array) -> Array:
    if self.dtype is other.dtype and self.dtype.kind == "f":
        return binary(_divide, self, other)
    return _quotient(self, other)


@operator(
    "aten::div.Scalar(Tensor self, Scalar other) -> Tensor",
    autocast_in_graphs="widest",
    inline=inline("{0} / {k}", ON_FLOAT32, over=np.true_divide),
    native=small_with_number("divide"),
    formula=formula("divide", 0, 1),
    neutral=1,
)
def div_number(self: Array, other: Scalar) -> Array:
    if self.dtype is _FLOAT32:
        return with_number(_divide, self, other)
    return _quotient(self, other)


def _with_array(kernel: Callable[..., object], self: Array, other: Scalar) -> Array:
    """`kernel` of two arrays, the second one a number."""
    dtype = common_dtype_with(self, other)
    return as_array(kernel(cast(self, dtype), number_as(other, dtype)))


@operator(
    "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    autocast_in_graphs="widest",
    prepared=True,
    out="out_mode",
)
def div_rounded(self: Array, other: Array, rounding_mode: str | None) -> Array:
    return _quotient_by_mode(self, other, rounding_mode)


@operator(
    "aten::floor_divide(Tensor self, Tensor other) -> Tensor", takes_numbers=True, prepared=True
)
def floor_divide(self: Array, other: Array) -> Array:
    return _quotient_by_mode(self, other, "floor")


@operator(
    "aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
    formula=formula("floor_divide", 0, 1, checks=True),
)
def floor_divide_number(self: Array, other: Scalar) -> Array:
    if self.dtype is _INT64 and type(other) is int and other:
        return _by_number("floor_divide", np.floor_divide, self, operand(other, _INT64))
    return _quotient_by_mode(self, other, "floor")


@operator(
    "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
    autocast_in_graphs="widest",
    formula=(
        *formula("floor_divide", 0, 1, at={2: "floor"}, checks=True),
        *formula("trunc_divide", 0, 1, at={2: "trunc"}, checks=True),
    ),
)
def div_number_rounded(self: Array, other: Scalar, rounding_mode: str | None) -> Array:
    if rounding_mode == "floor":
        return floor_divide_number(self, other)
    return _quotient_by_mode(self, other, rounding_mode)


def _by_number(name: str, kernel: Callable[..., object], a: Array, number: Array) -> Array:
    """Whole numbers of 64 bits divided by one that is not 0."""
    found = by_formula(name, a, number) if a.size >= LARGE else None
    return as_array(kernel(a, number)) if found is None else found


_refuse_remainder: Final = Refusal("buqc", "remainder_cpu")
_refuse_fmod: Final = Refusal("buqc", "fmod_cpu")


def _remainder(a: Array, b: Array) -> Array:
    _check_divisor(_refuse_remainder, asarray(a), asarray(b))
    found = _cut_by("remainder", a, b)
    if found is not None:
        return found
    if kind(a.dtype) < 2:
        return np.remainder(a, b)
    rest = np.fmod(a, b)  # NumPy's own remainder gives a zero the sign of `b`
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


def _fmod(a: Array, b: Array) -> object:
    _check_divisor(_refuse_fmod, asarray(a), asarray(b))
    found = _cut_by("fmod", a, b)
    return np.fmod(a, b) if found is None else found


@operator(
    "aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor",
    prepared=True,
    order="int_float float_int",
)
def remainder(self: Array, other: Array) -> Array:
    return binary(_remainder, self, other)


@operator(
    "aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor",
    formula=formula("remainder", 0, 1, checks=True),
)
def remainder_number(self: Array, other: Scalar) -> Array:
    if self.dtype is _INT64 and type(other) is int and other:
        return _by_number("remainder", np.remainder, self, operand(other, _INT64))
    return _with_array(_remainder, self, other)


@operator("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor")
def number_remainder(self: Scalar, other: Array) -> Array:
    dtype = common_dtype_with(other, self)
    return as_array(_remainder(number_as(self, dtype), cast(other, dtype)))


@operator("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", prepared=True)
def fmod(self: Array, other: Array) -> Array:
    return binary(_fmod, self, other)


@operator(
    "aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor",
    formula=formula("fmod", 0, 1, checks=True),
)
def fmod_number(self: Array, other: Scalar) -> Array:
    return _with_array(_fmod, self, other)
