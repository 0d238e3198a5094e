"""The activation functions of neural networks, and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .comparison import clamp
from .dims import wrap_dim
from .dtype import Array, Scalar, dtype_of, numpy_dtype
from .errors import OperatorError, UnsupportedDtype
from .maths import sigmoid
from .pointwise import as_array, binary, cast, in_place, number_as, write
from .promotion import kind
from .table import operator

__all__ = ["log_softmax", "relu", "softmax"]

ndarray: Final = np.ndarray
_maximum: Final = np.maximum
_float32: Final = np.dtype(np.float32)
_ZEROS: Final[dict[np.dtype[Any], Array]] = {}


def _zero(dtype: np.dtype[Any]) -> Array:
    """A 0-d zero, made once a dtype: a Python number would cost a conversion each time."""
    found = _ZEROS.get(dtype)
    if found is None:
        found = _ZEROS[dtype] = np.zeros((), dtype)
        found.setflags(write=False)
    return found


_FLOAT32_ZERO: Final = _zero(_float32)


@operator("aten::relu(Tensor self) -> Tensor")
def relu(self: Array) -> Array:
    dtype = self.dtype
    if dtype is _float32:
        result = _maximum(self, _FLOAT32_ZERO)
        return result if type(result) is ndarray else as_array(result)
    if dtype.kind == "b":
        raise OperatorError(
            "Boolean inputs not supported for relu", code="dtype-mismatch", headline="no bools"
        )
    return as_array(_maximum(self, _zero(dtype)))


operator("aten::relu_(Tensor(a!) self) -> Tensor(a!)")(in_place(relu))


def _check_float(self: Array, name: str) -> None:
    if kind(self.dtype) < 2:
        raise UnsupportedDtype(
            f"\"{name}\" not implemented for '{dtype_of(self).scalar_name}'",
            headline=f"this function needs floats, not `{dtype_of(self)}`",
            roles={"self": "must be of floats"},
        )


def _in_float32(function: Callable[..., Array]) -> Callable[..., Array]:
    """Compute 16-bit floats in float32 and round."""

    def call(self: Array, *rest: Any) -> Array:
        if self.itemsize < 4 and kind(self.dtype) == 2:
            return function(self.astype(np.float32), *rest).astype(self.dtype)
        return function(self, *rest)

    return call


def _declare(
    name: str, function: Callable[..., Array], arguments: str = "", shown: str | None = None
) -> None:
    """Declare `name` and `name_`, for floats alone."""

    def forward(self: Array, *rest: Any) -> Array:
        _check_float(self, shown or f"{name}_cpu")
        return as_array(_in_float32(function)(self, *rest)).astype(self.dtype, copy=False)

    operator(f"aten::{name}(Tensor self{arguments}) -> Tensor")(forward)
    operator(f"aten::{name}_(Tensor(a!) self{arguments}) -> Tensor(a!)")(in_place(forward))


_erf: Final = np.frompyfunc(math.erf, 1, 1)


def _gelu(x: Array, approximate: str) -> Any:
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1 + np.tanh(inner))
    if approximate != "none":
        raise OperatorError("approximate argument must be either none or tanh.")
    erf = np.asarray(_erf(np.asarray(x * math.sqrt(0.5), np.float64)), np.float64)
    return x * 0.5 * (1 + erf.astype(x.dtype))


def _silu(x: Array) -> Any:
    return x / (1 + np.exp(-x))


def _leaky_relu(x: Array, negative_slope: float) -> Any:
    return np.where(x > 0, x, x * negative_slope)


def _elu(x: Array, alpha: float, scale: float, input_scale: float) -> Any:
    return np.where(x > 0, x * scale, np.expm1(np.minimum(x, 0) * input_scale) * (alpha * scale))


_SELU_ALPHA: Final = 1.6732632423543772848170429916717
_SELU_SCALE: Final = 1.0507009873554804934193349852946


def _selu(x: Array) -> Any:
    return _elu(x, _SELU_ALPHA, _SELU_SCALE, 1.0)


def _celu(x: Array, alpha: float) -> Any:
    return _elu(x, alpha, 1.0, 1.0 / alpha)


def _softplus(x: Array, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return np.where(scaled > threshold, x, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


def _log_sigmoid(x: Array) -> Any:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def _hardsigmoid(x: Array) -> Any:
    return np.minimum(np.maximum(x + 3, 0), 6) / 6


def _hardswish(x: Array) -> Any:
    return x * np.minimum(np.maximum(x + 3, 0), 6) / 6


def _mish(x: Array) -> Any:
    return x * np.tanh(np.logaddexp(x, np.zeros((), x.dtype)))


_declare("gelu", _gelu, ', *, str approximate="none"', "GeluKernelImpl")
_declare("silu", _silu)
_declare("leaky_relu", _leaky_relu, ", Scalar negative_slope=0.01")
_declare("elu", _elu, ", Scalar alpha=1, Scalar scale=1, Scalar input_scale=1")
_declare("selu", _selu)
_declare("celu", _celu, ", Scalar alpha=1.")
_declare("hardsigmoid", _hardsigmoid)
_declare("hardswish", _hardswish)
_declare("mish", _mish)


def _floats_only(name: str, function: Callable[..., Any]) -> Callable[..., Array]:
    def forward(self: Array, *rest: Any) -> Array:
        _check_float(self, name)
        return as_array(_in_float32(function)(self, *rest)).astype(self.dtype, copy=False)

    return forward


operator("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor")(
    _floats_only("softplus_cpu", _softplus)
)
operator("aten::log_sigmoid(Tensor self) -> Tensor")(_floats_only("log_sigmoid_cpu", _log_sigmoid))


@operator("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor")
def softshrink(self: Array, lambd: Any) -> Array:
    low, high = self + lambd, self - lambd
    inner = np.where(self < -lambd, low, self * 0)
    return as_array(np.where(self > lambd, high, inner)).astype(self.dtype)


@operator("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor")
def hardshrink(self: Array, lambd: Any) -> Array:
    return as_array(np.where((self >= -lambd) & (self <= lambd), self.dtype.type(0), self))


@operator("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor")
def hardtanh(self: Array, min_val: Scalar, max_val: Scalar) -> Array:
    low, high = number_as(min_val, self.dtype), number_as(max_val, self.dtype)
    return as_array(np.minimum(np.maximum(self, low), high))


operator("aten::hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)")(
    in_place(hardtanh)
)


@operator("aten::relu6(Tensor self) -> Tensor")
def relu6(self: Array) -> Array:
    return clamp(self, 0, 6)


operator("aten::relu6_(Tensor(a!) self) -> Tensor(a!)")(in_place(relu6))


@operator("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor")
def threshold(self: Array, threshold: Scalar, value: Scalar) -> Array:
    level, other = number_as(threshold, self.dtype), number_as(value, self.dtype)
    return as_array(np.where(self <= level, other, self))


@operator("aten::threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)")
def threshold_in_place(self: Array, level: Scalar, value: Scalar) -> Array:
    return write(self, threshold(self, level, value))


@operator("aten::glu(Tensor self, int dim=-1) -> Tensor")
def glu(self: Array, dim: int) -> Array:
    axis = wrap_dim(dim, self.ndim)
    if self.shape[axis] % 2:
        raise OperatorError(
            f"Halving dimension must be even, but dimension {axis} is size {self.shape[axis]}",
            code="shape-mismatch",
            headline=f"dimension {axis} must be even, it is {self.shape[axis]}",
        )
    value, gate = np.split(self, 2, axis)
    return binary(np.multiply, value, sigmoid(gate))


@operator("aten::prelu(Tensor self, Tensor weight) -> Tensor")
def prelu(self: Array, weight: Array) -> Array:
    if weight.ndim == 1 and self.ndim > 2 and weight.size > 1:
        weight = weight.reshape(-1, *(1,) * (self.ndim - 2))
    scaled = self * (weight if self.ndim else weight.reshape(()))
    return as_array(np.where(self > 0, self, scaled))


# --------------------------------------------------------------------------- softmax


def _softmax_input(self: Array, dtype: int | None, name: str) -> Array:
    if dtype is not None:
        return cast(self, numpy_dtype(dtype))
    _check_float(self, name)
    return self


@operator("aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def softmax(self: Array, dim: int, dtype: int | None) -> Array:
    """`exp(x) / sum(exp(x))` along a dimension; 16-bit floats are computed in float32."""
    self = _softmax_input(self, dtype, "softmax_kernel_impl")
    return _in_float32(_softmax)(self, wrap_dim(dim, self.ndim))


def _softmax(self: Array, axis: int) -> Array:
    if not self.ndim or not self.size:
        return np.ones_like(self)
    result = as_array(np.exp(self - self.max(axis, keepdims=True)))
    result /= result.sum(axis, keepdims=True)
    return result


@operator("aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def log_softmax(self: Array, dim: int, dtype: int | None) -> Array:
    """`log(softmax(x))` along a dimension; 16-bit floats are computed in float32."""
    self = _softmax_input(self, dtype, "log_softmax_lastdim_kernel_impl")
    return _in_float32(_log_softmax)(self, wrap_dim(dim, self.ndim))


def _log_softmax(self: Array, axis: int) -> Array:
    if not self.ndim or not self.size:
        return np.zeros_like(self)
    result = self - self.max(axis, keepdims=True)
    result -= np.log(np.exp(result).sum(axis, keepdims=True))
    return as_array(result)


@operator("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")
def plain_softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    return softmax(self, dim, None)


@operator("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")
def plain_log_softmax(self: Array, dim: int, half_to_float: bool) -> Array:
    return log_softmax(self, dim, None)
