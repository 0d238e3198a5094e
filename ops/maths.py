"""Functions of one number, element by element, and some of two."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .dtype import Array, Scalar, default_dtype
from .error_functions import erf, erfc, erfinv
from .errors import OperatorError, UnsupportedDtype
from .pointwise import as_array, binary, cast, float_unary, in_place, number_as
from .promotion import common_dtype, kind, result_dtype
from .table import operator

__all__ = ["sigmoid"]

Kernel = Callable[..., Any]
ndarray: Final = np.ndarray
asarray: Final = np.asarray
_tanh: Final = np.tanh
_FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))
_float32, _float64 = _FLOATS


@operator("aten::tanh(Tensor self) -> Tensor")
def tanh(self: Array) -> Array:
    dtype = self.dtype
    if dtype is _float32 or dtype is _float64:
        result = _tanh(self)
        return result if type(result) is ndarray else asarray(result)
    return float_unary(_tanh, self)


operator("aten::tanh_(Tensor(a!) self) -> Tensor(a!)")(in_place(tanh))


_ONES: Final = {dtype: np.ones((), dtype) for dtype in _FLOATS}


def _sigmoid(x: Any) -> Any:
    result = asarray(np.negative(x))
    np.exp(result, result)
    np.add(result, _ONES.get(result.dtype, 1), result)
    return np.reciprocal(result, result)


@operator("aten::sigmoid(Tensor self) -> Tensor", "aten::special_expit(Tensor self) -> Tensor")
def sigmoid(self: Array) -> Array:
    """`1 / (1 + exp(-x))`."""
    return float_unary(_sigmoid, self)


operator("aten::sigmoid_(Tensor(a!) self) -> Tensor(a!)")(in_place(sigmoid))


def _rsqrt(x: Any) -> Any:
    return np.reciprocal(np.sqrt(x))


def _by_element(function: Callable[[float], float]) -> Kernel:
    """A function of `math`, element by element in double."""
    apply = np.frompyfunc(function, 1, 1)

    def kernel(x: Any) -> Any:
        return asarray(apply(asarray(x, np.float64)), np.float64).astype(x.dtype)

    return kernel


def _log_gamma(x: float) -> float:
    if math.isinf(x):
        return math.inf
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


_FUNCTIONS: Final[dict[str, tuple[Kernel, tuple[str, ...]]]] = {
    "acos": (np.arccos, ("arccos",)),
    "acosh": (np.arccosh, ("arccosh",)),
    "asin": (np.arcsin, ("arcsin",)),
    "asinh": (np.arcsinh, ("arcsinh",)),
    "atan": (np.arctan, ("arctan",)),
    "atanh": (np.arctanh, ("arctanh",)),
    "cos": (np.cos, ()),
    "cosh": (np.cosh, ()),
    "deg2rad": (np.deg2rad, ()),
    "erf": (erf, ()),
    "erfc": (erfc, ()),
    "erfinv": (erfinv, ()),
    "exp": (np.exp, ()),
    "exp2": (np.exp2, ()),
    "expm1": (np.expm1, ()),
    "lgamma": (_by_element(_log_gamma), ()),
    "log": (np.log, ()),
    "log10": (np.log10, ()),
    "log1p": (np.log1p, ()),
    "log2": (np.log2, ()),
    "rad2deg": (np.rad2deg, ()),
    "reciprocal": (np.reciprocal, ()),
    "rsqrt": (_rsqrt, ()),
    "sin": (np.sin, ()),
    "sinc": (np.sinc, ()),
    "sinh": (np.sinh, ()),
    "sqrt": (np.sqrt, ()),
    "tan": (np.tan, ()),
}


def _of_floats(kernel: Kernel) -> Callable[[Array], Array]:
    def function(self: Array) -> Array:
        dtype = self.dtype
        if dtype is _float32 or dtype is _float64:
            result = kernel(self)
            return result if type(result) is ndarray else asarray(result)
        return float_unary(kernel, self)

    return function


for _name, (_kernel, _aliases) in _FUNCTIONS.items():
    _forward = _of_floats(_kernel)
    for _spelling in (_name, *_aliases):
        operator(f"aten::{_spelling}(Tensor self) -> Tensor")(_forward)
        operator(f"aten::{_spelling}_(Tensor(a!) self) -> Tensor(a!)")(in_place(_forward))
for _name in ("erf", "erfc", "erfinv", "exp2", "expm1", "log1p", "sinc"):
    operator(f"aten::special_{_name}(Tensor self) -> Tensor")(_of_floats(_FUNCTIONS[_name][0]))


def _square(self: Array) -> Array:
    if self.dtype.kind == "b":
        return self.astype(np.int64)
    return as_array(np.multiply(self, self))


def _sign(self: Array) -> Array:
    if kind(self.dtype) == 2:
        above, below = np.greater(self, 0), np.less(self, 0)
        return as_array(np.subtract(above, below, dtype=np.int8)).astype(self.dtype)
    return self.copy() if kind(self.dtype) == 0 else as_array(np.sign(self))


def _frac(self: Array) -> Array:
    return as_array(self - np.trunc(self))


for _name, _plain in (("square", _square), ("sign", _sign), ("sgn", _sign), ("frac", _frac)):
    operator(f"aten::{_name}(Tensor self) -> Tensor")(_plain)
    operator(f"aten::{_name}_(Tensor(a!) self) -> Tensor(a!)")(in_place(_plain))


# --------------------------------------------------------------------------- two operands


def _of_two(kernel: Kernel) -> Callable[[Array, Array], Array]:
    """A function of two floats; whole numbers are computed in the default dtype."""

    def function(self: Array, other: Array) -> Array:
        if kind(common_dtype(self, other)) < 2:
            self, other = cast(self, default_dtype.float), cast(other, default_dtype.float)
        return binary(kernel, self, other)

    return function


operator(
    "aten::atan2(Tensor self, Tensor other) -> Tensor",
    "aten::arctan2(Tensor self, Tensor other) -> Tensor",
)(_of_two(np.arctan2))
operator("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor")(_of_two(np.copysign))
operator("aten::hypot(Tensor self, Tensor other) -> Tensor")(_of_two(np.hypot))
operator("aten::logaddexp(Tensor self, Tensor other) -> Tensor")(_of_two(np.logaddexp))
operator("aten::logaddexp2(Tensor self, Tensor other) -> Tensor")(_of_two(np.logaddexp2))
operator("aten::heaviside(Tensor self, Tensor values) -> Tensor")(_of_two(np.heaviside))
operator("aten::nextafter(Tensor self, Tensor other) -> Tensor")(_of_two(np.nextafter))


# --------------------------------------------------------------------------- three operands


def _cast_all(*tensors: Array) -> list[Array]:
    dtype = result_dtype(tensors)
    return [cast(tensor, dtype) for tensor in tensors]


@operator("aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
def addcmul(self: Array, tensor1: Array, tensor2: Array, value: Scalar) -> Array:
    self, tensor1, tensor2 = _cast_all(self, tensor1, tensor2)
    product = binary(np.multiply, tensor1, tensor2)
    if value != 1:
        product = as_array(product * number_as(value, product.dtype))
    return binary(np.add, self, product)


@operator("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Scalar) -> Array:
    self, tensor1, tensor2 = _cast_all(self, tensor1, tensor2)
    if kind(self.dtype) < 2:
        raise OperatorError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2.",
            code="dtype-mismatch",
            headline="`addcdiv` needs floats",
        )
    if value != 1:
        tensor1 = as_array(tensor1 * number_as(value, tensor1.dtype))
    return binary(np.add, self, binary(np.true_divide, tensor1, tensor2))


for _name, _three in (("addcmul", addcmul), ("addcdiv", addcdiv)):
    operator(
        f"aten::{_name}_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) "
        "-> Tensor(a!)"
    )(in_place(_three))


def _check_lerp(self: Array, end: Array) -> None:
    if self.dtype != end.dtype:
        raise OperatorError(
            f"expected dtype {self.dtype} for `end` but got dtype {end.dtype}",
            code="dtype-mismatch",
            headline="`self` and `end` must have the same dtype",
        )


@operator("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor")
def lerp(self: Array, end: Array, weight: Array) -> Array:
    _check_lerp(self, end)
    weight = cast(weight, self.dtype)
    change = binary(np.subtract, end, self)
    near = binary(np.add, self, binary(np.multiply, weight, change))
    far = binary(np.subtract, end, binary(np.multiply, change, as_array(1 - weight)))
    return as_array(np.where(np.abs(weight) < 0.5, near, far).astype(self.dtype))


@operator("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor")
def lerp_number(self: Array, end: Array, weight: Scalar) -> Array:
    return lerp(self, end, number_as(weight, self.dtype))


operator("aten::lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)")(
    in_place(lerp)
)
operator("aten::lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)")(
    in_place(lerp_number)
)


# --------------------------------------------------------------------------- complex numbers


@operator("aten::real(Tensor(a) self) -> Tensor(a)")
def real(self: Array) -> Array:
    return self.real if self.dtype.kind == "c" else self


@operator("aten::imag(Tensor(a) self) -> Tensor(a)")
def imag(self: Array) -> Array:
    if self.dtype.kind != "c":
        raise UnsupportedDtype(
            "imag is not implemented for tensors with non-complex dtypes.",
            headline="only complex tensors have an imaginary part",
        )
    return self.imag


@operator("aten::conj(Tensor(a) self) -> Tensor(a)", "aten::conj_physical(Tensor self) -> Tensor")
def conj(self: Array) -> Array:
    return as_array(np.conjugate(self)) if self.dtype.kind == "c" else self


@operator("aten::angle(Tensor self) -> Tensor")
def angle(self: Array) -> Array:
    if kind(self.dtype) == 2:
        flat = np.where(self < 0, self.dtype.type(math.pi), self.dtype.type(0))
        return as_array(np.where(np.isnan(self), self, flat))
    if self.dtype.kind == "c":
        return as_array(np.arctan2(self.imag, self.real))
    return as_array(np.angle(self)).astype(default_dtype.float)


@operator(
    "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) "
    "-> Tensor"
)
def nan_to_num(self: Array, nan: float | None, posinf: float | None, neginf: float | None) -> Array:
    if kind(self.dtype) < 2:
        return self.copy()
    return as_array(np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf))


operator(
    "aten::nan_to_num_(Tensor(a!) self, float? nan=None, float? posinf=None, "
    "float? neginf=None) -> Tensor(a!)"
)(in_place(nan_to_num))
