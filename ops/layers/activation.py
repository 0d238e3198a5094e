"""The activation functions of neural networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Final, TypeVar, Unpack

import numpy as np

from ..arithmetic.comparison import clamp
from ..arithmetic.maths import limit_of, sigmoid
from ..kernels import LARGE, by_formula, family, pointwise
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, Dtype, Scalar, dtype_of, of_numpy
from ..memory.errors import OperatorError, UnsupportedDtype
from ..memory.order import beside
from ..reductions.loss_reduction import widened
from ..special_functions.error_functions import erf
from ..table.formula import Part, formula
from ..table.inline import ON_FLOAT32, inline
from ..table.out_dtypes import AS_EXPECTED, FOUND
from ..table.pointwise import (
    as_array,
    binary,
    cast,
    checked_operand,
    in_place,
    number_in,
    operand,
    write,
)
from ..table.promotion import kind
from ..table.record import Known
from ..table.refusals import Refusal, check_kernel, check_number, letter, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of

__all__ = ["check_float", "gelu", "in_float32", "leaky_relu", "log_sigmoid", "relu"]

ndarray: Final = np.ndarray
asarray: Final = np.asarray
_maximum: Final = np.maximum
_negative: Final = np.negative
_exp: Final = np.exp
_add: Final = np.add
_multiply: Final = np.multiply
_divide: Final = np.true_divide
Made = TypeVar("Made")
_float32: Final = np.dtype(np.float32)
_FLOATS: Final = (_float32, np.dtype(np.float64))


@cache
def _zero(dtype: Dtype) -> Array:
    """A 0-d zero, made once a dtype: a Python number would cost a conversion each time."""
    made = np.zeros((), dtype)
    made.setflags(write=False)
    return made


_FLOAT32_ZERO: Final = _zero(_float32)


_positive_part: Final = pointwise("relu", partial(_maximum, _FLOAT32_ZERO))  # leaves -0. as it is


@operator(
    "aten::relu(Tensor self) -> Tensor",
    formula=formula("relu"),
    inline=inline("positive_part({0})", ON_FLOAT32, names={"positive_part": _positive_part}),
)
def relu(self: Array) -> Array:
    dtype = self.dtype
    if dtype is _float32:
        result = _positive_part(self)
        return result if type(result) is ndarray else as_array(result)
    if dtype.kind == "b":
        raise OperatorError(
            "Boolean inputs not supported for relu", code="dtype-mismatch", headline="no bools"
        )
    if kind(dtype) == 3:
        raise UnsupportedDtype(
            "clamp is not supported for complex types", headline="complex numbers have no order"
        )
    check_kernel("clamp_min_scalar_cpu", self, "ue")
    if dtype.itemsize < 4:
        return as_array(_maximum(self, _zero(dtype)))
    return as_array(_maximum(_zero(dtype), self))


operator("aten::relu_(Tensor(a!) self) -> Tensor(a!)")(in_place(relu))


def check_float(self: Array, name: str) -> None:
    if kind(self.dtype) != 2:
        raise not_implemented(
            name,
            self.dtype,
            headline=f"this function needs floats, not `{dtype_of(self)}`",
            roles={"self": "must be of floats"},
        )


def in_float32(function: Callable[..., Made]) -> Callable[..., Array | Made]:
    """Compute 16-bit floats in float32 and round."""

    def call(self: Array, *rest: object) -> Array | Made:
        if self.dtype is not _float32 and self.itemsize < 4 and kind(self.dtype) == 2:
            return cast(asarray(function(cast(self, _float32), *rest)), self.dtype)
        return function(self, *rest)

    return call


def _floats_only(
    name: str, function: Callable[..., object], allow_complex: bool = False
) -> Callable[..., Array]:
    widened = in_float32(function)

    def forward(self: Array, *rest: object) -> Array:
        if self.dtype is _float32:
            result = function(self, *rest)
            if type(result) is ndarray and result.dtype is _float32:
                return result
            return asarray(result, _float32)
        if not (allow_complex and self.dtype.kind == "c"):
            check_float(self, name)
        return as_array(widened(self, *rest)).astype(self.dtype, copy=False)

    return forward


def _declare(
    name: str,
    function: Callable[..., object],
    arguments: str = "",
    shown: str | None = None,
    allow_complex: bool = False,
    **known: Unpack[Known],
) -> Callable[..., Array]:
    """Declare `name` and `name_`, for floats alone; the forward is given back."""
    forward = _floats_only(shown or f"{name}_cpu", function, allow_complex)
    operator(f"aten::{name}(Tensor self{arguments}) -> Tensor", **known)(forward)
    schema = f"aten::{name}_(Tensor(a!) self{arguments}) -> Tensor(a!)"
    operator(schema, face=known["face"])(in_place(forward))
    return forward


def _gelu(x: Array, approximate: str) -> object:
    if approximate == "tanh":
        return _gelu_by_tanh(x)
    if approximate != "none":
        raise OperatorError("approximate argument must be either none or tanh.")
    return _gelu_by_erf(x)


def _by_tanh(x: Array) -> object:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + np.tanh(inner))


def _by_erf(x: Array) -> object:
    dtype = x.dtype
    result = as_array(erf(x * operand(math.sqrt(0.5), dtype)))
    _add(result, operand(1, dtype), result)
    _multiply(result, x, result)
    _multiply(result, operand(0.5, dtype), result)
    if x.size > 1 and dtype is _float32 and not result.item(result.argmax()) < math.inf:
        result = np.where(np.isposinf(x), x.dtype.type(np.nan), result)  # as torch's vectors do
    return result


_gelu_by_erf: Final = pointwise("gelu", _by_erf)
_gelu_by_tanh: Final = pointwise("gelu_tanh", _by_tanh)


def _silu(x: Array) -> object:
    below = as_array(_negative(x))
    _exp(below, below)
    _add(below, operand(1, below.dtype), below)
    return _divide(x, below, below)


def _leaky_relu(x: Array, negative_slope: float) -> object:
    if x.size >= LARGE and x.dtype is _float32:
        found = by_formula("leaky_relu", x, checked_operand(negative_slope, _float32))
        if found is not None:
            return found
    scaled = x * checked_operand(negative_slope, x.dtype)
    if 0 < negative_slope <= 1:
        return _maximum(x, scaled)
    return np.where(x > _zero(x.dtype), x, scaled)


def _elu(x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    if scale == 1 and input_scale == 1 and x.dtype in _FLOATS:
        found = by_formula("elu", x, checked_operand(alpha, x.dtype))
        if found is not None:
            return found
    if x.dtype in _FLOATS:
        factors = (checked_operand(each, x.dtype) for each in (alpha * scale, scale, input_scale))
        found = by_formula("scaled_elu", x, *factors)
        if found is not None:
            return found
    below = as_array(np.minimum(x, _zero(x.dtype)))
    if input_scale != 1:
        _multiply(below, checked_operand(input_scale, x.dtype), below)
    np.expm1(below, below)
    if alpha * scale != 1:
        _multiply(below, checked_operand(alpha * scale, x.dtype), below)
    above = x if scale == 1 else x * checked_operand(scale, x.dtype)
    np.copyto(below, above, where=x >= _zero(x.dtype))  # also where `alpha` is no finite number
    return below


_SELU_ALPHA: Final = 1.6732632423543772848170429916717
_SELU_SCALE: Final = 1.0507009873554804934193349852946


def _selu(x: Array) -> Array:
    return _elu(x, _SELU_ALPHA, _SELU_SCALE, 1.0)


def _celu(x: Array, alpha: float) -> Array:
    if not alpha:
        raise OperatorError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu(x, alpha, 1.0, 1.0 / alpha)


def _softplus(x: Array, beta: float, threshold: float) -> Array:
    level = checked_operand(threshold, x.dtype)
    if x.dtype in _FLOATS:
        found = by_formula("softplus", x, operand(beta, x.dtype), level)
        if found is not None:
            return found
    scaled = x if beta == 1 else x * operand(beta, x.dtype)
    result = as_array(np.minimum(scaled, level))
    _exp(result, result)
    np.log1p(result, result)
    if beta != 1:
        _divide(result, operand(beta, x.dtype), result)
    np.copyto(result, x, where=scaled > level)
    return result


def _log_sigmoid_by_numpy(x: Array) -> object:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


_log_sigmoid: Final = pointwise("log_sigmoid", _log_sigmoid_by_numpy)


def _hardsigmoid(x: Array) -> object:
    return np.minimum(np.maximum(x + 3, 0), 6) / 6


def _hardswish(x: Array) -> object:
    return x * np.minimum(np.maximum(x + 3, 0), 6) / 6


def _mish(x: Array) -> object:
    grown = np.exp(np.minimum(x, 20))  # tanh(log(1 + e)) is (e^2 + 2 e) / (e^2 + 2 e + 2)
    part = grown * (grown + 2)
    return x * (part / (part + 2))


gelu = _declare(
    "gelu",
    _gelu,
    ', *, str approximate="none"',
    "GeluKernelImpl",
    face="layer",
    out_dtype=FOUND,
    autocast_in_graphs="full",
    formula=formula("gelu", at={1: "none"}) + formula("gelu_tanh", at={1: "tanh"}),
)
_declare(
    "silu",
    pointwise("silu", _silu),
    allow_complex=True,
    face="layer",
    formula=formula("silu"),
)
leaky_relu = _declare(
    "leaky_relu",
    _leaky_relu,
    ", Scalar negative_slope=0.01",
    face="layer",
    formula=formula("leaky_relu", 0, 1, checks=True),
)
_declare(
    "elu",
    _elu,
    ", Scalar alpha=1, Scalar scale=1, Scalar input_scale=1",
    face="layer",
    formula=formula("elu", 0, 1, at={2: 1, 3: 1}, checks=True),
)
_declare("selu", _selu, shown="elu_cpu", out="", face="function", prepared=True)
_declare("celu", _celu, ", Scalar alpha=1.", "elu_cpu", face="function", prepared=True)
_declare("hardsigmoid", _hardsigmoid, face="layer", formula=formula("hardsigmoid"))
_declare("hardswish", _hardswish, face="layer", formula=formula("hardswish"))
_declare("mish", pointwise("mish", _mish), face="layer", formula=formula("mish"))


log_sigmoid = operator(
    "aten::log_sigmoid(Tensor self) -> Tensor",
    face="layer",
    layout="C",
    out_dtype=AS_EXPECTED,
    formula=formula("log_sigmoid"),
    rows=rows_of("self"),
)(_floats_only("log_sigmoid_cpu", _log_sigmoid))


@operator(
    "aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
    face="operator",
    out="output output buffer -",
)
def log_sigmoid_forward(self: Array) -> tuple[Array, Array]:
    """The result, and `exp(-|x|)` for the gradient."""
    return log_sigmoid(self), as_array(np.exp(-np.abs(self)))


def _softshrink(x: Array, lambd: float) -> object:
    outer = np.where(x < 0, x + lambd, x - lambd)
    return np.where(np.abs(x) <= lambd, x * 0, outer)


def _hardshrink(x: Array, lambd: float) -> object:
    return np.where((x >= -lambd) & (x <= lambd), x.dtype.type(0), x)


_hardshrink_whole: Final = _floats_only("hardshrink_cpu", _hardshrink)


def _hardshrink_as_stored(self: Array, lambd: Scalar) -> Array:
    """By a width as the elements can hold it, which is what 16-bit floats are compared with."""
    if self.itemsize == 2 and kind(self.dtype) == 2:
        lambd = float(self.dtype.type(lambd))
    return _hardshrink_whole(self, lambd)


def _check_width(lambd: Scalar, dtype: Dtype) -> None:
    largest = float(limit_of(dtype))
    if isinstance(lambd, complex) or not 0 <= lambd <= largest:
        raise OperatorError(
            f"lambda must be in range [0, {largest:g}] for input dtype "
            f"{of_numpy(dtype).scalar_name}, but found {lambd:g}"
        )


def _checking(
    check: Callable[[Scalar, Dtype], None], forward: Callable[..., Array]
) -> Callable[..., Array]:
    """The forward, with its number checked against floats as they are given, not widened."""

    def checked(self: Array, lambd: Scalar) -> Array:
        if kind(self.dtype) == 2:
            check(lambd, self.dtype)
        return forward(self, lambd)

    return checked


operator(
    "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    face="layer",
    out_dtype=FOUND,
    rows=rows_of("self"),
    formula=formula("softshrink", 0, 1, checks=True),
)(_checking(_check_width, _floats_only("softshrink_check", _softshrink)))
operator(
    "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    out_dtype=FOUND,
    rows=rows_of("self"),
    formula=formula("hardshrink", 0, 1, checks=True),
)(_checking(check_number, _hardshrink_as_stored))

operator(
    "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    autocast_in_graphs="full",
    face="layer",
    out_dtype=FOUND,
    formula=formula("softplus", 0, 1, 2, checks=True),
    rows=rows_of("self"),
)(_floats_only("softplus_cpu", _softplus))


def _no_bools(self: Array) -> None:
    if self.dtype.kind == "b":
        raise OperatorError("Bool inputs not supported for hardtanh", code="dtype-mismatch")


_refuse_clamp: Final = Refusal(
    "bu", "clamp_scalar_cpu", says=("qc", "clamp is not supported for complex types")
)
_NUMBERS: Final = frozenset({int, float})


@operator(
    "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    layout="L",
    face="layer",
    formula=formula("clamp", 0, 1, 2, checks=True),
)
def hardtanh(self: Array, min_val: Scalar, max_val: Scalar) -> Array:
    _no_bools(self)
    if self.dtype is _float32 and type(min_val) in _NUMBERS and type(max_val) in _NUMBERS:
        return clamp(self, min_val, max_val)
    if self.dtype.kind == "u" and (min_val < 0 or max_val < 0):  # type: ignore[operator]
        raise OperatorError("cannot do hardtanh on an unsigned type with negative limits")
    _refuse_clamp(self.dtype)
    low, high = checked_operand(min_val, self.dtype), checked_operand(max_val, self.dtype)
    return as_array(np.minimum(high, np.maximum(low, self)))


operator(
    "aten::hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)",
    face="layer",
)(in_place(hardtanh))


@operator(
    "aten::relu6(Tensor self) -> Tensor",
    layout="L",
    out="",
    face="layer",
    formula=formula("relu6", meets="own"),
)
def relu6(self: Array) -> Array:
    _no_bools(self)
    return clamp(self, 0, 6)


operator("aten::relu6_(Tensor(a!) self) -> Tensor(a!)", face="layer")(in_place(relu6))


@operator(
    "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    refuses=Refusal("qc", "threshold_cpu"),
    face="function",
    formula=formula("threshold", 0, 1, 2, checks=True),
)
def threshold(self: Array, threshold: Scalar, value: Scalar) -> Array:
    if self.dtype.kind == "b":
        raise not_implemented("threshold_cpu", self.dtype)
    # 16-bit floats are compared with the number as it is
    wide = self.astype(_float32) if letter(self.dtype) == "h" else self
    level, other = number_in(threshold, wide.dtype), number_in(value, self.dtype)
    return as_array(np.where(wide <= level, other, self))


@operator(
    "aten::threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)",
    refuses=Refusal("qc", "threshold_cpu"),
    written="unchecked",
    face="function",
)
def threshold_in_place(self: Array, level: Scalar, value: Scalar) -> Array:
    return write(self, threshold(self, level, value))


@operator(
    "aten::glu(Tensor self, int dim=-1) -> Tensor",
    face="layer",
    prepared=True,
    rows=rows_of("self"),
    on_slices="dims",
)
def glu(self: Array, dim: int) -> Array:
    axis = wrap_dim(dim, self.ndim)
    if self.shape[axis] % 2:
        raise OperatorError(
            f"Halving dimension must be even, but dimension {axis} is size {self.shape[axis]}",
            code="shape-mismatch",
            headline=f"dimension {axis} must be even, it is {self.shape[axis]}",
        )
    check_float(self, "glu_cpu")
    self = self[...]  # which no other thread can change
    value, gate = np.split(self, 2, axis)
    found = _of_halves(self, value, gate)
    return found if self.flags.c_contiguous or self.ndim < 2 else beside(found, value, gate)


def _of_halves(self: Array, value: Array, gate: Array) -> Array:
    """The elements of the first half times the sigmoids of those of the second."""
    arrays = family("elementwise.arrays") if self.size else None
    if arrays is not None and arrays.LETTERS[self.dtype]:
        own = arrays.LETTERS[self.dtype]
        letter = "f" if self.itemsize == 2 else own
        steps = [("sigmoid", letter, (1,)), ("multiply", letter, (0, 2))]
        return arrays.evaluate(steps, own, value, gate)  # type: ignore[no-any-return]
    if self.itemsize == 2:
        wide = binary(np.multiply, widened(value), sigmoid(widened(gate)))
        return wide.astype(self.dtype)
    return binary(np.multiply, value, sigmoid(gate))


def _check_prelu(self: Array, weight: Array) -> None:
    if self.dtype != weight.dtype:
        raise OperatorError(
            "prelu: Type promoting not supported. Got "
            f"{dtype_of(self).scalar_name} and {dtype_of(weight).scalar_name}",
            code="dtype-mismatch",
        )
    if weight.ndim > 1:
        raise OperatorError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}",
            code="shape-mismatch",
        )
    if weight.size == 1:
        return
    if not self.ndim:
        raise OperatorError("Not allow zero-dim input tensor.", code="shape-mismatch")
    channels = self.shape[1] if self.ndim > 1 else 1
    if channels != weight.size:
        raise OperatorError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{weight.size} and channel size = {channels}.",
            code="shape-mismatch",
        )


_refuse_prelu: Final = Refusal("biuqc", "prelu_cpu")


def _prelu_parts(result: Array, self: Array, weight: Array) -> list[Part]:
    if not self.dtype == weight.dtype == result.dtype or self.size != result.size:
        return []
    if weight.size != 1 and weight.ndim == 1:
        weight = weight.reshape(-1, *(1,) * (self.ndim - 2))
    elif weight.ndim <= 1:
        weight = weight.reshape(())
    return [Part([("leaky_relu", "", (0, 1))], [self, weight], result)]


@operator(
    "aten::prelu(Tensor self, Tensor weight) -> Tensor",
    parts=_prelu_parts,
    autocast="lower",
    autocast_in_graphs="lower",
    layout="L",
    out="",
    rows=rows_of("self"),
)
def prelu(self: Array, weight: Array) -> Array:
    """Negative numbers times a weight, the same for all or one a channel."""
    _check_prelu(self, weight)
    _refuse_prelu(self.dtype)
    shape = (-1, *(1,) * (self.ndim - 2)) if self.ndim > 1 else (1,) * self.ndim
    return prelu_kernel(self, weight.reshape(shape if weight.size != 1 else (1,) * self.ndim))


@operator(
    "aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    parts=_prelu_parts,
    layout="L",
    out="",
)
def prelu_kernel(self: Array, weight: Array) -> Array:
    return as_array(np.where(self > 0, self, self * weight)).astype(self.dtype, copy=False)
