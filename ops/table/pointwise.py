"""Elementwise computation over arrays: casting, broadcasting, writing in place.

The family files declare operators with these.  Same dtypes on both sides is the common case and is
looked at first; everything else takes the path through `promotion`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..kernels import cast_by_kernel
from ..memory.dims import broadcast_error
from ..memory.dtype import Array, Dtype, Scalar, of_numpy
from ..memory.errors import KernelError, OperatorError, UnsupportedDtype
from ..memory.order import beside
from ..memory.overlap import check_written
from ..memory.remembered import Recent
from .promotion import can_cast, common_dtype, common_dtype_with, kind, result_dtype
from .refusals import check_number, letter

__all__ = [
    "LARGEST_FLOAT32",
    "as_array",
    "binary",
    "by_strides_of",
    "cast",
    "cast_error",
    "check_cast",
    "check_result_shape",
    "checked_broadcast",
    "compare",
    "in_place",
    "in_place_kernel",
    "checked_operand",
    "exactly",
    "number_as",
    "number_in",
    "number_to_fill",
    "operand",
    "scalar_of",
    "unary",
    "with_number",
    "write",
]

Kernel = Callable[..., object]
ndarray: Final = np.ndarray
asarray: Final = np.asarray
_BOOL: Final = np.dtype(np.bool_)
_FLOAT32: Final = np.dtype(np.float32)
LARGEST_FLOAT32: Final = float(np.finfo(np.float32).max)
_FLOAT16: Final = np.dtype(np.float16)
_FLOAT64: Final = np.dtype(np.float64)
_INT64: Final = np.dtype(np.int64)
_USUAL: Final[dict[Dtype, tuple[type, ...]]] = {
    _FLOAT32: (float, int),
    np.dtype(np.float64): (float, int),
    _INT64: (int,),
}
"""Dtypes that meet Python numbers of these types in themselves."""
_MOST_NUMBERS: Final = 1000


def as_array(value: object, dtype: Dtype | None = None) -> Array:
    """What NumPy gave back as a tensor: its functions turn 0-d arrays into numbers."""
    if type(value) is ndarray and (dtype is None or value.dtype is dtype):
        return value
    return asarray(value, dtype)


def by_strides_of(given: Array, computed: object) -> Array:
    """What NumPy has computed of one tensor, laid out as torch does where elements are repeated."""
    result: Array = computed if type(computed) is ndarray else asarray(computed)
    return beside(result, given) if 0 in given.strides else result


def cast(array: Array, dtype: Dtype) -> Array:
    """The array in that dtype; itself if it is in it already.

    Whole numbers wrap; complex numbers lose their imaginary part.
    """
    if array.dtype is dtype or array.dtype == dtype:
        return array
    if array.dtype.kind == "c" and dtype != _BOOL and kind(dtype) != 3:
        array = array.real
    if dtype == _FLOAT16 and array.dtype == _FLOAT64:  # torch goes by way of float32
        array = array.astype(_FLOAT32)
    if dtype.kind == "V" and dtype.name == "float8_e4m3fn":
        # it has no infinity: what is too large becomes the largest
        array = asarray(np.clip(array, -_LARGEST_E4M3FN, _LARGEST_E4M3FN))
    return by_strides_of(array, cast_by_kernel(array, dtype))


_LARGEST_E4M3FN: Final = 448.0


def number_as(number: Scalar, dtype: Dtype) -> Array:
    """A Python number as a 0-d tensor; a number too large for a whole-number dtype wraps.

    Raises:
        OverflowError: it is a whole number that does not even fit into 64 bits.
    """
    _check_width(number)
    if dtype.kind in "iu":
        if isinstance(number, complex):
            number = number.real
        bits = 8 * dtype.itemsize
        wrapped = int(number) & ((1 << bits) - 1)
        if dtype.kind == "i" and wrapped >> (bits - 1):
            wrapped -= 1 << bits
        return asarray(wrapped, dtype)
    if isinstance(number, complex) and kind(dtype) != 3 and dtype != _BOOL:
        number = number.real
    return cast(asarray(number), dtype)


def number_in(number: Scalar, dtype: Dtype) -> Array:
    """A Python number as a 0-d tensor, if the dtype can hold it.

    Raises:
        OperatorError: it is too large, or complex and the dtype is not.
        OverflowError: it is a whole number that does not even fit into 64 bits.
    """
    _check_width(number)
    check_number(number, dtype)
    return number_as(number, dtype)


def _check_width(number: Scalar) -> None:
    if isinstance(number, int) and not -(1 << 63) <= number < 1 << 64:
        raise OverflowError("int too big to convert")


def _remembered(
    make: Callable[[Scalar, Dtype], Array],
) -> Callable[[Scalar, Dtype], Array]:
    known: Recent[tuple[Dtype, Scalar | str], Array] = Recent(_MOST_NUMBERS)

    def remembered(number: Scalar, dtype: Dtype) -> Array:
        word: Scalar | str = number
        # there are two float zeros, which are equal; of unsigned dtypes -1 is one, -1.0 is not
        if not number or dtype.kind == "u":
            word = str(number)
        found = known.get((dtype, word))
        if found is None:
            found = known.keep((dtype, word), make(number, dtype))
            found.setflags(write=False)
        return found

    return remembered


operand: Final = _remembered(number_as)
"""`number_as`, remembered: an array to compute with, not to write to nor to give back."""

checked_operand: Final = _remembered(number_in)
"""`number_in`, remembered likewise."""


def scalar_of(number: Scalar, dtype: Dtype) -> Array:
    """`checked_operand`; 16-bit floats overflow, where torch makes tensors of numbers.

    Raises:
        OperatorError: the number is too large, or complex and the dtype is not.
    """
    if letter(dtype) != "h":
        return checked_operand(number, dtype)
    return operand(number, dtype) if not isinstance(number, complex) else _halved(number, dtype)


def number_to_fill(number: Scalar, dtype: Dtype, count: int) -> Array | float:
    """What `count` elements are filled with: `checked_operand`, for a single one `scalar_of`; of
    float32 a float that fits is itself.

    Raises:
        OperatorError: the number is too large, or complex and the dtype is not.
    """
    if type(number) is float and dtype is _FLOAT32 and abs(number) <= LARGEST_FLOAT32:
        return number
    return scalar_of(number, dtype) if count == 1 else checked_operand(number, dtype)


def _halved(number: complex, dtype: Dtype) -> Array:
    check_number(number, _FLOAT64)
    return operand(number.real, dtype)


# --------------------------------------------------------------------------- shapes


def checked_broadcast(
    a: tuple[int, ...], b: tuple[int, ...], names: tuple[str, str] = ("self", "other")
) -> tuple[int, ...]:
    """The shape that both broadcast to.

    Raises:
        OperatorError: there is none.
    """
    if a == b or not b:
        return a
    if not a:
        return b
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise broadcast_error(a, b, names) from None


# --------------------------------------------------------------------------- two operands


def binary(kernel: Kernel, a: Array, b: Array) -> Array:
    """`kernel(a, b)` in the common dtype of both.

    Raises:
        OperatorError: the shapes do not broadcast, or there is no common dtype.
    """
    left, right = a, b
    if a.dtype is not b.dtype:
        dtype = common_dtype(a, b)
        left, right = cast(a, dtype), cast(b, dtype)
    try:
        result = kernel(left, right)
    except ValueError:
        checked_broadcast(a.shape, b.shape)
        raise
    if type(result) is ndarray and a.flags.c_contiguous and a.size == result.size:
        return result
    return beside(result, a, b)


def with_number(kernel: Kernel, a: Array, number: Scalar, *, swapped: bool = False) -> Array:
    """`kernel(a, number)`, or `kernel(number, a)` if `swapped`, in the common dtype of both."""
    dtype = a.dtype
    if type(number) in _USUAL.get(dtype, ()):
        value = operand(number, dtype)
        return by_strides_of(a, kernel(value, a) if swapped else kernel(a, value))
    dtype = common_dtype_with(a, number)
    one = cast(a, dtype)
    value = operand(number, dtype)
    return by_strides_of(a, kernel(value, one) if swapped else kernel(one, value))


def exactly(kernel: Kernel, a: Array, b: Array | Scalar, dtype: Dtype) -> Array:
    """`kernel(a, b)` in the dtype both meet in, for products and quotients.

    Where that is a 16-bit float, torch takes a `b` of one element as it is: in float32.
    """
    is_number = type(b) is not ndarray
    if dtype.itemsize < 4 and kind(dtype) == 2 and (is_number or b.size == 1):  # type: ignore[union-attr]
        exact = operand(b, _FLOAT32) if is_number else cast(b, _FLOAT32)  # type: ignore[arg-type]
        return cast(binary(kernel, cast(cast(a, dtype), _FLOAT32), exact), dtype)
    other = operand(b, dtype) if is_number else cast(b, dtype)  # type: ignore[arg-type]
    return binary(kernel, cast(a, dtype), other)


def compare(kernel: Kernel, a: Array, b: Array) -> Array:
    """`binary` for comparisons, which NumPy cannot do for every pair."""
    return binary(kernel, a, b)


# --------------------------------------------------------------------------- one operand


def unary(kernel: Kernel, a: Array) -> Array:
    """`kernel(a)` in the dtype of `a`."""
    return by_strides_of(a, kernel(a))


# --------------------------------------------------------------------------- in place


def write(target: Array, result: Array) -> Array:
    """Write an operator's result into `target`, which is returned.

    Raises:
        OperatorError: it does not fit in shape or dtype.
    """
    if target.shape != result.shape:
        check_result_shape(target.shape, checked_broadcast(target.shape, result.shape))
    if target.dtype is not result.dtype:
        check_cast(result.dtype, target.dtype)
        result = cast(result, target.dtype)
    target[...] = result
    return target


def check_result_shape(target: tuple[int, ...], shape: tuple[int, ...]) -> None:
    if shape != target:
        raise OperatorError(
            f"output with shape {_shape(target)} doesn't match the broadcast shape {_shape(shape)}",
            code="shape-mismatch",
            headline=f"a result of shape {list(shape)} cannot be written into `self`, "
            f"which has shape {list(target)}",
            roles={"self": f"has shape {list(target)}"},
        )


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def cast_error(source: Dtype, target: Dtype) -> OperatorError:
    a, b = of_numpy(source), of_numpy(target)
    return OperatorError(
        f"result type {a.scalar_name} can't be cast to the desired output type {b.scalar_name}",
        code="dtype-mismatch",
        headline=f"a `{a}` result cannot be written into `self`, which is `{b}`",
        roles={"self": f"is `{b}`"},
    )


def check_cast(source: Dtype, target: Dtype) -> None:
    """Refuse a result that may not be written into a tensor of `target`.

    Raises:
        OperatorError: it may not.
    """
    if not can_cast(source, target):
        raise cast_error(source, target)


def in_place(forward: Callable[..., Array], *, late: bool = False) -> Callable[..., Array]:
    """The in-place form of a forward: computes, then writes into the first argument.

    With `late` memory that elements share is told after all else.
    """

    def write_result(self: Array, *rest: object) -> Array:
        if not late:
            check_written(self, rest)
        try:
            result = forward(self, *rest)
        except (UnsupportedDtype, KernelError):
            _check_target(self, rest)
            raise
        if late:
            check_result_shape(self.shape, result.shape)
            check_written(self, rest)
        return write(self, result)

    write_result.checks_overlap = True  # type: ignore[attr-defined]
    return write_result


def in_place_kernel(kernel: Kernel, forward: Callable[..., Array]) -> Callable[..., Array]:
    """`in_place` of a function of two numbers, for float32 straight into the first argument."""
    general = in_place(forward)

    def write_result(self: Array, other: Any, *alpha: object) -> Array:
        plain = not alpha or (alpha[0] == 1 and type(alpha[0]) is not complex)
        if plain and self.dtype is _FLOAT32:
            if type(other) is ndarray:
                if other.dtype is _FLOAT32 and other.shape == self.shape:
                    check_written(self, (other,))
                    kernel(self, other, self)
                    return self
            elif type(other) in _USUAL[_FLOAT32]:
                check_written(self)
                kernel(self, operand(other, _FLOAT32), self)
                return self
        return general(self, other, *alpha)

    write_result.checks_overlap = True  # type: ignore[attr-defined]
    return write_result


def _check_target(self: Array, rest: tuple[object, ...]) -> None:
    """Refuse what could not be written into `self`; this comes before other refusals.

    A number that is not the first of the rest is a factor, and no operand.
    """
    numbers = [each for each in rest[:1] if isinstance(each, (int, float, complex))]
    arrays = [each for each in rest if isinstance(each, np.ndarray)]
    shape = self.shape
    for each in arrays:
        shape = checked_broadcast(shape, each.shape)
    check_result_shape(self.shape, shape)
    dtype = result_dtype([self, *arrays, *numbers])
    check_cast(dtype, self.dtype)
