"""Linear layers over packed weights: quantized, dynamically quantized, and in half precision.

Products of whole numbers are summed in double precision, which is exact for them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import blas, by_formula, written_by_numpy
from ..memory.dtype import Array, dtype_by_name
from ..memory.errors import OperatorError
from ..table.table import operator
from .arrays import (
    Quantizer,
    choose_quantizer,
    dequantize,
    numbers_of,
    per_tensor,
    quantize,
    quantized_array,
    quantizer_of,
)
from .packed_weights import PackedLinear
from .panels import as_before, bytes_by_panels, floats_by_panels, requantizing

__all__ = ["dynamic_linear", "half", "requantize"]

F32: Final = np.float32
_W: Final = "__torch__.torch.classes.quantized.LinearPackedParamsBase"


def half(values: Array) -> Array:
    """Floats rounded to half precision, too large ones to its largest."""
    limit = float(np.finfo(np.float16).max)
    return np.clip(values, -limit, limit).astype(np.float16).astype(F32)


def requantize(
    sums: Array, multiplier: object, bias: object, scale: float, zero_point: int, relu: bool
) -> Array:
    """Exact sums of products -> numbers of quint8: scaled to the output, with a float bias.

    In float32; each product is rounded together with what is added to it.
    """
    made = sums.astype(F32) * np.asarray(multiplier, np.float64)
    if bias is not None:
        made = made + np.asarray(bias, np.float64)
    scaled = made.astype(F32) * np.float64(F32(1) / F32(scale))
    scaled += zero_point
    low = zero_point if relu else 0
    return np.asarray(np.clip(np.rint(scaled.astype(F32)), low, 255), np.uint8)


def centred(array: Array, name: str) -> tuple[Array, Quantizer]:
    """The numbers less their zero points, in double precision."""
    quantizer = quantizer_of(array, name)
    _, zero_point = quantizer.spread(array.ndim)
    return numbers_of(array).astype(np.float64) - zero_point, quantizer


def _check_input(array: Array, packed: PackedLinear) -> None:
    if array.ndim < 2:
        raise OperatorError("The dimension of input tensor should be larger than or equal to 2")
    if array.shape[-1] != packed.weight.shape[1]:
        raise OperatorError(
            f"The number of rows in the packB should be equal to K: {array.shape[-1]}",
            code="shape-mismatch",
        )


def _static(packed: PackedLinear, x: Array, scale: float, zero: int, relu: bool) -> Array:
    known = as_before(x, packed, scale, zero, relu)
    if known is not None:
        return known
    _check_input(x, packed)
    if x.dtype.names != ("quint8",):
        raise OperatorError("expected scalar type QUInt8", code="dtype-mismatch")
    quantizer, of_weight = quantizer_of(x, "linear"), quantizer_of(packed.weight, "linear")
    wanted = requantizing(packed, quantizer, scale, zero, relu)
    made = None if wanted is None else bytes_by_panels(numbers_of(x), packed, wanted)
    if made is None:
        written_by_numpy()
        multiplier = F32(quantizer.scale) * np.asarray(of_weight.scale, F32)
        sums = blas.matmul(centred(x, "linear")[0], centred(packed.weight, "linear")[0].T)
        made = requantize(sums, multiplier, packed.bias, scale, zero, relu)
    return quantized_array(made, dtype_by_name("quint8"), per_tensor(scale, zero))


@operator(
    f"quantized::linear(Tensor X, {_W} W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
    cost="product-transposed",
    quantized_prepared=True,
)
def linear(x: Array, packed: PackedLinear, scale: float, zero_point: int) -> Array:
    return _static(packed, x, scale, zero_point, False)


@operator(
    f"quantized::linear_relu(Tensor X, {_W} W_prepack, float Y_scale_i, "
    "int Y_zero_point_i) -> Tensor Y",
    cost="product-transposed",
    quantized_prepared=True,
)
def linear_relu(x: Array, packed: PackedLinear, scale: float, zero_point: int) -> Array:
    return _static(packed, x, scale, zero_point, True)


@operator(
    f"quantized::linear_leaky_relu(Tensor X, {_W} W_prepack, float Y_scale_i, "
    "int Y_zero_point_i, float negative_slope) -> Tensor Y",
    cost="product-transposed",
)
def linear_leaky_relu(
    x: Array, packed: PackedLinear, scale: float, zero_point: int, slope: float
) -> Array:
    _check_input(x, packed)
    y = _real(packed, dequantize(x))
    made = np.where(y > 0, y, y * F32(slope))
    return quantize(made, dtype_by_name("quint8"), per_tensor(scale, zero_point))


@operator(
    f"quantized::linear_tanh(Tensor X, {_W} W_prepack, float Y_scale_i, "
    "int Y_zero_point_i) -> Tensor Y",
    cost="product-transposed",
)
def linear_tanh(x: Array, packed: PackedLinear, scale: float, zero_point: int) -> Array:
    _check_input(x, packed)
    made = np.tanh(_real(packed, dequantize(x)))
    return quantize(made, dtype_by_name("quint8"), per_tensor(scale, zero_point))


def _real(packed: PackedLinear, x: Array) -> Array:
    """The layer in floats."""
    made: Array = blas.matmul(x, dequantize(packed.weight).T)
    return made if packed.bias is None else made + packed.bias


def dynamic_linear(x: Array, packed: PackedLinear, reduce_range: bool) -> Array:
    """The layer over floats that are quantized for it by their own range."""
    if packed.is_half:
        return half_linear(x, packed)
    _check_input(x, packed)
    if x.dtype != F32:
        raise OperatorError("expected scalar type Float", code="dtype-mismatch")
    most = 127 if reduce_range else 255
    found = floats_by_panels(x, packed, most)
    if found is not None:
        return found
    written_by_numpy()
    quantizer = choose_quantizer(x, 0, most)
    numbers, _ = centred(quantize(x, dtype_by_name("quint8"), quantizer), "linear")
    weights, of_weight = centred(packed.weight, "linear_dynamic")
    scale = F32(quantizer.scale) * np.asarray(of_weight.scale, F32)
    made = (blas.matmul(numbers, weights.T)).astype(F32) * scale
    return np.asarray(made if packed.bias is None else made + packed.bias, F32)


@operator(
    f"quantized::linear_dynamic(Tensor X, {_W} W_prepack, bool reduce_range=False) -> Tensor Y",
    cost="product-transposed",
    quantized_prepared=True,
)
def linear_dynamic(x: Array, packed: PackedLinear, reduce_range: bool) -> Array:
    return dynamic_linear(x, packed, reduce_range)


@operator(
    f"quantized::linear_relu_dynamic(Tensor X, {_W} W_prepack, bool reduce_range=False) "
    "-> Tensor Y",
    cost="product-transposed",
    quantized_prepared=True,
)
def linear_relu_dynamic(x: Array, packed: PackedLinear, reduce_range: bool) -> Array:
    made = dynamic_linear(x, packed, reduce_range)
    found = by_formula("relu", made)
    return np.maximum(made, F32(0)) if found is None else found


@operator(
    f"quantized::linear_dynamic_fp16(Tensor X, {_W} W_prepack) -> Tensor Y",
    cost="product-transposed",
)
def half_linear(x: Array, packed: PackedLinear) -> Array:
    _check_input(x, packed)
    written_by_numpy()
    made = blas.matmul(x.astype(F32, copy=False), packed.weight.astype(F32).T)
    return made if packed.bias is None else np.asarray(made + packed.bias, F32)


@operator(
    f"quantized::linear_relu_dynamic_fp16(Tensor X, {_W} W_prepack) -> Tensor Y",
    cost="product-transposed",
)
def half_linear_relu(x: Array, packed: PackedLinear) -> Array:
    return np.maximum(half_linear(x, packed), F32(0))


@operator(
    f"quantized::linear_prepack(Tensor W, Tensor? B=None) -> {_W} W_prepack",
    cost="product-transposed",
)
def linear_prepack(weight: Array, bias: Array | None) -> PackedLinear:
    if weight.ndim != 2:
        raise OperatorError("The weight tensor should be 2-dimensional.", code="shape-mismatch")
    quantizer_of(weight, "linear_prepack")
    return PackedLinear(weight.copy(), bias)


@operator(
    f"quantized::linear_prepack_fp16(Tensor W, Tensor? B=None) -> {_W} W_prepack",
    cost="product-transposed",
)
def linear_prepack_half(weight: Array, bias: Array | None) -> PackedLinear:
    return PackedLinear(half(weight), bias)


@operator(
    f"quantized::linear_unpack({_W} W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
    f"quantized::linear_unpack_fp16({_W} W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
)
def linear_unpack(packed: PackedLinear) -> tuple[Array, Array | None]:
    return packed.weight.copy(), packed.bias  # what is packed does not change with it
