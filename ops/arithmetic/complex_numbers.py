"""Complex numbers: their parts, conjugates, and views as pairs of reals."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ..memory.complex_parts import is_complex, parts
from ..memory.dtype import Array, default_dtype, dtype_of
from ..memory.errors import OperatorError
from ..memory.storage import view_of
from ..table.declare import with_twin
from ..table.formula import Part, moved
from ..table.layouts import contiguous
from ..table.out_dtypes import FOUND, OutDtype
from ..table.pointwise import as_array, checked_broadcast
from ..table.promotion import kind
from ..table.refusals import Refusal
from ..table.table import operator

_OUT_OF_COMPLEX: Final = OutDtype(
    "same",
    "Expected object of scalar type {result} but got scalar type {out} for argument 'out'",
)


@operator("aten::real(Tensor(a) self) -> Tensor(a)")
def real(self: Array) -> Array:
    return parts(self)[..., 0] if is_complex(self.dtype) else self


@operator("aten::imag(Tensor(a) self) -> Tensor(a)")
def imag(self: Array) -> Array:
    if not is_complex(self.dtype):
        raise OperatorError(
            "imag is not implemented for tensors with non-complex dtypes.",
            code="dtype-mismatch",
            headline="only complex tensors have an imaginary part",
        )
    return parts(self)[..., 1]


@operator("aten::isreal(Tensor self) -> Tensor", layout="L", out="")
def isreal(self: Array) -> Array:
    if not is_complex(self.dtype):
        return np.ones(self.shape, np.bool_)
    return as_array(parts(self)[..., 1] == 0)


@operator("aten::_conj(Tensor(a) self) -> Tensor(a)", face="both", lazily="complex")
@operator("aten::conj(Tensor(a) self) -> Tensor(a)", lazily="complex")
def conj(self: Array) -> Array:
    return as_array(np.conjugate(self)) if is_complex(self.dtype) else self


@with_twin("aten::conj_physical(Tensor self) -> Tensor", out_dtype=FOUND)
def conj_physical(self: Array) -> Array:
    return conj(self)


operator("aten::_conj_physical(Tensor self) -> Tensor", face="both")(conj_physical)


@operator(
    "aten::resolve_conj(Tensor(a) self) -> Tensor(a)",
    "aten::resolve_neg(Tensor(a) self) -> Tensor(a)",
)
def resolved(self: Array) -> Array:
    """The tensor itself: those that compute when they are read have no array."""
    return self


@operator("aten::_neg_view(Tensor(a) self) -> Tensor(a)", face="both", lazily="all")
def negative_view(self: Array) -> Array:
    return as_array(np.negative(self))


_refuse_angle: Final = Refusal("q", "angle_cpu")


def _parts_of_angle(result: Array, self: Array) -> list[Part]:
    if self.dtype.kind != "f" or self.itemsize < 4:
        return []
    steps = [("less", "", (0, 2)), ("choose", "", (3, 1, 2))]
    steps += [("isnan", "", (0,)), ("choose", "", (5, 0, 4))]
    return [Part(steps, [self, math.pi, 0.0], result)]


@operator("aten::angle(Tensor self) -> Tensor", parts=_parts_of_angle)
def angle(self: Array) -> Array:
    _refuse_angle(self.dtype)
    if self.dtype.kind == "c":
        return contiguous(as_array(np.arctan2(self.imag, self.real)))
    if kind(self.dtype) < 2:
        return np.where(self < 0, math.pi, 0.0).astype(default_dtype.float)
    flat = np.where(self < 0, self.dtype.type(math.pi), self.dtype.type(0))
    return as_array(np.where(np.isnan(self), self, flat))


# --------------------------------------------------------------------------- put together


def _check_parts(first: Array, second: Array) -> None:
    names = [dtype_of(part).scalar_name for part in (first, second)]
    if not all(name in ("Half", "Float", "Double") for name in names):
        raise OperatorError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{names[0]} and {names[1]}",
            code="dtype-mismatch",
        )
    if names[0] != names[1]:
        raise OperatorError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} "
            "for second argument",
            code="dtype-mismatch",
        )


def _joined(first: Array, second: Array) -> Array:
    dtype: Any = np.complex128 if first.dtype == np.float64 else np.complex64
    result = np.empty(checked_broadcast(first.shape, second.shape), dtype)
    result.real, result.imag = first, second
    return result


def _side_by_side(result: Array, real: Array, imag: Array) -> list[Part]:
    return [moved(real, result.real), moved(imag, result.imag)] if real.itemsize > 2 else []


@operator(
    "aten::complex(Tensor real, Tensor imag) -> Tensor",
    layout="P",
    out_dtype=_OUT_OF_COMPLEX,
    parts=_side_by_side,
)
def of_parts(real: Array, imag: Array) -> Array:
    _check_parts(real, imag)
    joined = _joined(real, imag)
    return joined.astype(dtype_of(real).complex_form.numpy) if real.itemsize < 4 else joined


_refuse_polar: Final = Refusal("h", "polar_cpu")


@operator(
    "aten::polar(Tensor abs, Tensor angle) -> Tensor",
    autocast="full",
    layout="P",
    out_dtype=_OUT_OF_COMPLEX,
)
def polar(abs: Array, angle: Array) -> Array:
    """The complex numbers of these sizes and angles."""
    _check_parts(abs, angle)
    _refuse_polar(abs.dtype)
    checked_broadcast(abs.shape, angle.shape)
    return _joined(as_array(abs * np.cos(angle)), as_array(abs * np.sin(angle)))


# --------------------------------------------------------------------------- views


@operator("aten::view_as_real(Tensor(a) self) -> Tensor(a)", face="function")
def view_as_real(self: Array) -> Array:
    """The same memory with one dimension more: real and imaginary part."""
    if not is_complex(self.dtype):
        raise OperatorError(
            "view_as_real is only supported for complex tensors", code="dtype-mismatch"
        )
    return parts(self)


@operator("aten::view_as_complex(Tensor(a) self) -> Tensor(a)", autocast="full", face="function")
def view_as_complex(self: Array) -> Array:
    """The same memory with the last dimension, of size 2, taken as complex numbers."""
    if dtype_of(self).name not in ("float16", "float32", "float64"):
        raise OperatorError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {dtype_of(self).scalar_name}",
            code="dtype-mismatch",
        )
    if not self.ndim:
        raise OperatorError("Input tensor must have one or more dimensions", code="shape-mismatch")
    if self.shape[-1] != 2:
        raise OperatorError("Tensor must have a last dimension of size 2", code="shape-mismatch")
    dtype = dtype_of(self).complex_form.numpy
    if self.size:
        _check_pairs(self)
    return view_of(self, self.shape[:-1], self.strides[:-1], 0, dtype)


def _check_pairs(self: Array) -> None:
    if self.strides[-1] != self.itemsize:
        raise OperatorError(
            "Tensor must have a last dimension with stride 1", code="shape-mismatch"
        )
    for dim, stride in enumerate(self.strides[:-1]):
        if stride % (2 * self.itemsize):
            raise OperatorError(
                f"Tensor must have a stride divisible by 2 for all but last dimension, dimension "
                f"{dim} has stride {stride // self.itemsize}",
                code="shape-mismatch",
            )
