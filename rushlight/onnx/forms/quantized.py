"""Quantized operators, as ONNX writes them: operators of floats between `QuantizeLinear` and
`DequantizeLinear`, from which runtimes make operators of whole numbers.

The operand of a quantized tensor is what it means in floats: it was dequantized where it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...ops.memory.dtype import DTYPES, Array
from ...ops.quantized_tensors.arrays import numbers_of, quantizer_of
from ...ops.quantized_tensors.packed_weights import (
    PackedConvolution,
    PackedEmbedding,
    PackedLinear,
)
from ..items import Item, Operand, Unsupported
from ..table import EXPORTS, exports
from ..writer import Writer, is_number

_F32: Final = np.dtype(np.float32)
_STORED: Final = {
    DTYPES["quint8"].number: np.dtype(np.uint8),
    DTYPES["qint8"].number: np.dtype(np.int8),
}


def _rounded(w: Writer, x: Operand, scale: Item, zero_point: Item, dtype: Item = None) -> Operand:
    """A value rounded to what a quantized tensor holds; of quint8 unless another dtype is given."""
    stored = _STORED.get(DTYPES["quint8"].number if dtype is None else dtype)  # type: ignore[call-overload]
    if stored is None:
        raise Unsupported("only quint8 and qint8 have an ONNX form")
    numbers = w.tensor(scale, _F32), w.tensor(zero_point, stored)
    flat = tuple(w.reshape(each, []) if each.shape != () else each for each in numbers)
    whole = w.op("QuantizeLinear", w.cast(x, _F32), *flat)
    return w.op("DequantizeLinear", whole, *flat)


@exports("aten::quantize_per_tensor")
def quantize_per_tensor(w: Writer, self: Item, scale: Item, zero_point: Item, dtype: Item) -> Item:
    return _rounded(w, w.tensor(self), scale, zero_point, dtype)


@exports("aten::dequantize")
def dequantize(w: Writer, self: Item) -> Item:
    return w.tensor(self)


def _weight(w: Writer, weight: Array) -> Operand:
    """A quantized weight as a constant of whole numbers that is dequantized."""
    if weight.dtype.names is None:
        return w.constant(np.asarray(weight, np.float32))
    quantizer, numbers = quantizer_of(weight, "onnx"), np.ascontiguousarray(numbers_of(weight))
    if quantizer.is_float or numbers.dtype.itemsize != 1:
        raise Unsupported("weights of this dtype have no ONNX form")
    scale = np.asarray(quantizer.scale, np.float32)
    zero_point = np.asarray(quantizer.zero_point).astype(numbers.dtype)
    parts = (w.constant(each) for each in (numbers, scale, zero_point))
    return w.op("DequantizeLinear", *parts, axis=quantizer.axis or 0)


def _packed(item: Item, kind: type) -> Any:
    if not isinstance(item, kind):
        raise Unsupported("packed weights must be known")
    return item


# --------------------------------------------------------------------------- layers


def _linear(w: Writer, x: Item, packed: Item, relu: bool) -> Operand:
    held = _packed(packed, PackedLinear)
    bias = None if held.bias is None else w.constant(np.asarray(held.bias, np.float32))
    made: Operand = EXPORTS["aten::linear"](w, x, _weight(w, held.weight), bias)
    return w.op("Relu", made) if relu else made


def _convolution(w: Writer, x: Item, packed: Item, dims: int, relu: bool) -> Operand:
    held = _packed(packed, PackedConvolution)
    bias = None if held.bias is None else w.constant(np.asarray(held.bias, np.float32))
    image = w.tensor(x)
    if dims == 1:  # whose packed weights are those of an image of one row
        image = w.unsqueeze(image, 2)
    weight = _weight(w, held.weight)
    numbers: list[object] = [held.stride, held.padding]
    name = f"aten::conv{max(dims, 2)}d"
    if held.transpose:
        name = f"aten::conv_transpose{max(dims, 2)}d"
        numbers += [held.output_padding, held.groups, held.dilation]
    else:
        numbers += [held.dilation, held.groups]
    made: Operand = EXPORTS[name](w, image, weight, bias, *numbers)
    made = w.squeeze(made, 2) if dims == 1 else made
    return w.op("Relu", made) if relu else made


def _declare_layers() -> None:
    for relu in (False, True):
        end = "_relu" * relu

        def linear(
            w: Writer, x: Item, packed: Item, scale: Item, zero: Item, relu: bool = relu
        ) -> Item:
            return _rounded(w, _linear(w, x, packed, relu), scale, zero)

        EXPORTS[f"quantized::linear{end}"] = linear

        def dynamic(
            w: Writer, x: Item, packed: Item, reduced: Item = False, relu: bool = relu
        ) -> Item:
            whole, scale, zero = w.ops(3, "DynamicQuantizeLinear", w.tensor(x))
            return _linear(w, w.op("DequantizeLinear", whole, scale, zero), packed, relu)

        EXPORTS[f"quantized::linear{end}_dynamic"] = dynamic

        def half(w: Writer, x: Item, packed: Item, relu: bool = relu) -> Item:
            return _linear(w, x, packed, relu)

        EXPORTS[f"quantized::linear{end}_dynamic_fp16"] = half
        for dims in (1, 2, 3):
            EXPORTS[f"quantized::conv{dims}d{end}"] = _layer(dims, relu)
    for dims in (1, 2, 3):
        EXPORTS[f"quantized::conv_transpose{dims}d"] = _layer(dims, False)


def _layer(dims: int, relu: bool) -> Callable[..., Item]:
    def convolve(w: Writer, x: Item, packed: Item, *rest: Item) -> Item:
        return _rounded(w, _convolution(w, x, packed, dims, relu), *rest[-2:])

    return convolve


_declare_layers()


@exports("quantized::embedding_byte")
def embedding_byte(w: Writer, packed: Item, indices: Item, *rest: Item) -> Item:
    table = _packed(packed, PackedEmbedding).weight
    quantizer, numbers = quantizer_of(table, "onnx"), np.ascontiguousarray(numbers_of(table))
    places = w.tensor(indices)

    def rows(array: Array) -> Operand:
        return w.op("Gather", w.constant(array), places, axis=0)

    scales, zero_points = (
        np.asarray(each, np.float32).reshape(-1, 1)
        for each in (quantizer.scale, quantizer.zero_point)
    )
    moved = w.op("Sub", w.cast(rows(numbers), _F32), rows(zero_points))
    return w.op("Mul", moved, rows(scales))


# --------------------------------------------------------------------------- others


def _declare_binary(name: str) -> None:
    for relu in (False, True):

        def form(w: Writer, one: Item, other: Item, *range: Item, relu: bool = relu) -> Item:
            made: Operand = EXPORTS[f"aten::{name}"](w, one, other)
            made = w.op("Relu", made) if relu else made
            alone = is_number(one) or is_number(other)  # which decides on its range itself
            return made if alone else _rounded(w, made, *range)

        for end in ("", "_scalar"):
            EXPORTS[f"quantized::{name}{end}{'_relu' * relu}"] = form


for _name in ("add", "mul"):
    _declare_binary(_name)


@exports("quantized::matmul")
def matmul(w: Writer, one: Item, other: Item, scale: Item, zero_point: Item) -> Item:
    return _rounded(w, EXPORTS["aten::matmul"](w, one, other), scale, zero_point)


@exports("quantized::cat")
def cat(w: Writer, tensors: Item, dim: Item, scale: Item, zero_point: Item) -> Item:
    made = EXPORTS["aten::cat"](w, tensors, dim)
    return made if scale is None else _rounded(w, made, scale, zero_point)


@exports("quantized::hardswish")
def hardswish(w: Writer, self: Item, scale: Item, zero_point: Item) -> Item:
    return _rounded(w, EXPORTS["aten::hardswish"](w, self), scale, zero_point)


@exports("quantized::leaky_relu")
def leaky_relu(
    w: Writer, self: Item, slope: Item, inplace: Item, scale: Item, zero_point: Item
) -> Item:
    return _rounded(w, EXPORTS["aten::leaky_relu"](w, self, slope), scale, zero_point)


@exports("quantized::elu")
def elu(w: Writer, self: Item, scale: Item, zero_point: Item, alpha: Item = 1, *rest: Item) -> Item:
    return _rounded(w, EXPORTS["aten::elu"](w, self, alpha, *rest), scale, zero_point)


@exports("quantized::layer_norm")
def layer_norm(
    w: Writer,
    input: Item,
    shape: Item,
    weight: Item,
    bias: Item,
    eps: Item,
    scale: Item,
    zero_point: Item,
) -> Item:
    made = EXPORTS["aten::layer_norm"](w, input, shape, weight, bias, eps)
    return _rounded(w, made, scale, zero_point)


@exports("quantized::relu6")
def relu6(w: Writer, self: Item, inplace: Item = False) -> Item:
    return EXPORTS["aten::relu6"](w, self)


@exports("quantized::dropout")
def dropout(w: Writer, self: Item, *rest: Item) -> Item:
    return w.tensor(self)
