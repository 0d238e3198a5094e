"""Declaring pointwise operators: an in-place twin for each, and functions of floats.

A kernel is a function of arrays of one float or complex dtype.  `of_one` and `of_two` make forwards
of kernels: whole numbers are computed in the default float dtype, 16-bit floats in float32 and
rounded, and dtypes that torch refuses are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Unpack

import numpy as np

from ..memory.dtype import Array, Dtype, Scalar, default_dtype
from .faces import Face
from .layouts import in_own_order
from .pointwise import as_array, binary, cast, in_place, operand
from .promotion import common_dtype, common_dtype_with, kind
from .record import Known, of_twin
from .refusals import Refusal, letter
from .table import operator

__all__ = [
    *(
        "in_double",
        "number_first",
        "number_second",
        "of_one",
        "of_two",
        "twin_schema",
    ),
    "with_twin",
]

Kernel = Callable[..., object]
Forward = Callable[..., Array]

ndarray: Final = np.ndarray
asarray: Final = np.asarray
_float32: Final = np.dtype(np.float32)
_float64: Final = np.dtype(np.float64)


def twin_schema(schema: str) -> str:
    """The schema of the in-place form: `f(Tensor self, ...)` becomes `f_(Tensor(a!) self, ...)`."""
    full_name, _, rest = schema.partition("(")
    name, dot, overload = full_name.partition(".")
    rest = rest.removeprefix("Tensor self").removesuffix("-> Tensor")
    return f"{name}_{dot}{overload}(Tensor(a!) self{rest}-> Tensor(a!)"


def with_twin(
    *schemas: str, twin: Face = "", **known: Unpack[Known]
) -> Callable[[Forward], Forward]:
    """Declare the function as the forward of overloads, and of their in-place forms.

    `twin` is the face of those, where it is not that of the others.
    """

    def declare(forward: Forward) -> Forward:
        operator(*schemas, **known)(forward)
        known_of_twin = of_twin(known)
        if twin:
            known_of_twin["face"] = twin
        operator(*map(twin_schema, schemas), **known_of_twin)(in_place(forward))
        return forward

    return declare


def in_double(kernel: Kernel) -> Kernel:
    """The kernel, computed in float64 whatever the operands' dtype, and rounded to it."""

    def wide(*operands: Array) -> Array:
        dtype = operands[0].dtype
        ordered = map(in_own_order, operands)
        result = kernel(*(operand.astype(_float64, copy=False) for operand in ordered))
        return asarray(result, dtype)

    return wide


def of_one(refuse: Refusal, kernel: Kernel) -> Callable[[Array], Array]:
    """The forward of a function of one float."""

    def forward(self: Array) -> Array:
        dtype = self.dtype
        if not self.flags.c_contiguous:
            self = in_own_order(self)
        if dtype is _float32 or dtype is _float64:
            result = kernel(self)
            return result if type(result) is ndarray else asarray(result)
        refuse(dtype)
        if letter(dtype) == "h":
            return cast(asarray(kernel(cast(self, _float32))), dtype)
        if kind(dtype) < 2:
            self = self.astype(default_dtype.float)
        return as_array(kernel(self))

    return forward


def of_two(
    refuse: Refusal, kernel: Kernel, *, whole: str = "float", native: bool = False
) -> Callable[[Array, Array], Array]:
    """The forward of a function of two numbers, in their common dtype.

    `whole` says what becomes of whole numbers, `float` or `same`; a `native` kernel takes 16-bit
    floats as they are.
    """

    def forward(self: Array, other: Array) -> Array:
        dtype = common_dtype(self, other)
        refuse(dtype)
        if whole == "float" and kind(dtype) < 2:
            dtype = default_dtype.float
        if letter(dtype) == "h" and not native:
            narrow = cast(self, dtype), cast(other, dtype)
            wide = binary(kernel, *(cast(each, _float32) for each in narrow))
            return cast(wide, dtype) if wide.dtype is _float32 else wide
        return binary(kernel, cast(self, dtype), cast(other, dtype))

    return forward


def _meeting_dtype(tensor: Array, number: Scalar) -> Dtype:
    """The dtype a function of floats computes in: a number is not wrapped to a whole dtype."""
    dtype = common_dtype_with(tensor, number)
    return default_dtype.float if kind(dtype) < 2 else dtype


def number_second(forward: Forward) -> Callable[[Array, Scalar], Array]:
    """The form of a forward of two floats whose second operand is a Python number."""

    def with_number(self: Array, other: Scalar) -> Array:
        dtype = _meeting_dtype(self, other)
        return forward(cast(self, dtype), operand(other, dtype))

    return with_number


def number_first(forward: Forward) -> Callable[[Scalar, Array], Array]:
    """The form of a forward of two floats whose first operand is a Python number."""

    def with_number(self: Scalar, other: Array) -> Array:
        dtype = _meeting_dtype(other, self)
        return forward(operand(self, dtype), cast(other, dtype))

    return with_number
