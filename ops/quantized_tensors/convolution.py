"""Convolutions over packed weights."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..kernels import written_by_numpy
from ..layers.convolution import convolution
from ..memory.dtype import Array, dtype_by_name
from ..memory.errors import OperatorError
from ..table.table import operator
from .arrays import (
    QuantizedArray,
    Quantizer,
    choose_quantizer,
    dequantize,
    numbers_of,
    per_tensor,
    quantize,
    quantized_array,
    quantizer_of,
)
from .linear import centred, requantize
from .packed_weights import PackedConvolution
from .panels import as_before, requantizing
from .patches import bytes_by_patches, wholes_by_patches

F32: Final = np.float32


def _class(dims: int) -> str:
    return f"__torch__.torch.classes.quantized.Conv{max(dims, 2)}dPackedParamsBase"


def _sums(x: Array, weight: Array, packed: PackedConvolution) -> Array:
    return convolution(
        x,
        weight,
        None,
        packed.stride,
        packed.padding,
        packed.dilation,
        packed.transpose,
        packed.output_padding,
        packed.groups,
    )


def _along_channels(values: object, x: Array) -> Array:
    """Numbers for each output channel, shaped to combine with a result."""
    array = np.asarray(values, F32)
    return array.reshape(-1, *(1,) * (x.ndim - 2)) if array.ndim else array


def _exact(x: Array, packed: PackedConvolution) -> tuple[Array, Any]:
    """The exact sums of products, and the scale of each."""
    if x.ndim != packed.weight.ndim:
        raise OperatorError(
            f"Expected {packed.weight.ndim}-D input, got {x.ndim}-D", code="shape-mismatch"
        )
    quantizer, of_weight = quantizer_of(x, "conv"), quantizer_of(packed.weight, "conv")
    scale = F32(quantizer.scale) * _along_channels(of_weight.scale, x)
    sums = None
    if quantizer.axis is None:
        sums = wholes_by_patches(numbers_of(x), quantizer.zero_point, packed)
    if sums is None:
        sums = _sums(centred(x, "conv")[0], centred(packed.weight, "conv")[0], packed)
    return sums, scale


def _static(x: Array, packed: PackedConvolution, scale: float, zero: int, relu: bool) -> Array:
    known = as_before(x, packed, scale, zero, relu)
    if known is not None:
        return known
    made = None
    if x.ndim == packed.weight.ndim == 4:
        quantizer = quantizer_of(x, "conv")
        quantizer_of(packed.weight, "conv")
        wanted = requantizing(packed, quantizer, scale, zero, relu)
        if wanted is not None:
            made = bytes_by_patches(numbers_of(x), packed, wanted)
    if made is None:
        written_by_numpy()
        sums, multiplier = _exact(x, packed)
        bias = None if packed.bias is None else _along_channels(packed.bias, x)
        made = requantize(sums, multiplier, bias, scale, zero, relu)
    return quantized_array(made, dtype_by_name("quint8"), per_tensor(scale, zero))


def _dynamic(x: Array, packed: PackedConvolution, reduce_range: bool) -> Array:
    quantizer = choose_quantizer(x, 0, 127 if reduce_range else 255)
    sums, scale = _exact(quantize(x, dtype_by_name("quint8"), quantizer), packed)
    made = sums.astype(F32) * scale
    bias = None if packed.bias is None else _along_channels(packed.bias, x)
    return np.asarray(made if bias is None else made + bias, F32)


def _lengthened(array: Array) -> Array:
    """A line as an image of one row; the quantizer stays, as channels come before."""
    quantizer = getattr(array, "quantizer", None)
    made = np.expand_dims(array, 2)
    if isinstance(made, QuantizedArray) and isinstance(quantizer, Quantizer):
        made.quantizer = quantizer
    return made


def _shortened(array: Array) -> Array:
    quantizer = getattr(array, "quantizer", None)
    made = array[:, :, 0]
    if isinstance(made, QuantizedArray) and isinstance(quantizer, Quantizer):
        made.quantizer = quantizer
    return made


def _added(x: Array, other: Array, packed: Any, scale: float, zero: int, relu: bool) -> Array:
    sums, multiplier = _exact(x, packed)
    made = sums.astype(F32) * multiplier + dequantize(other)
    if packed.bias is not None:
        made = made + _along_channels(packed.bias, x)
    if relu:
        made = np.maximum(made, F32(0))
    return quantize(made, dtype_by_name("quint8"), per_tensor(scale, zero))


def _declare_static(dims: int, relu: bool) -> None:
    name, cls = f"conv{dims}d" + "_relu" * relu, _class(dims)

    def new(x: Array, packed: PackedConvolution, scale: float, zero_point: int) -> Array:
        if dims == 1:
            return _shortened(_static(_lengthened(x), packed, scale, zero_point, relu))
        return _static(x, packed, scale, zero_point, relu)

    def old(
        x: Array,
        packed: PackedConvolution,
        stride: object,
        padding: object,
        dilation: object,
        groups: int,
        scale: float,
        zero_point: int,
    ) -> Array:
        return new(x, packed, scale, zero_point)

    end = "float output_scale, int output_zero_point) -> Tensor"
    start = f"quantized::{name}{'.new' if dims > 1 else ''}(Tensor qx, {cls} packed_weight, "
    operator(start + end, cost="convolved", quantized_prepared=True)(new)
    if dims > 1:
        ints = "int[] stride, int[] padding, int[] dilation, int groups, "
        operator(f"quantized::{name}(Tensor qx, {cls} weight, {ints}{end}", cost="convolved")(old)


def _declare_others(dims: int) -> None:
    cls = _class(dims)

    def dynamic(x: Array, packed: PackedConvolution, reduce_range: bool) -> Array:
        if dims == 1:
            return _shortened(_dynamic(_lengthened(x), packed, reduce_range))
        return _dynamic(x, packed, reduce_range)

    def transposed(x: Array, packed: PackedConvolution, scale: float, zero_point: int) -> Array:
        if dims == 1:
            return _shortened(_static(_lengthened(x), packed, scale, zero_point, False))
        return _static(x, packed, scale, zero_point, False)

    def unpack(packed: PackedConvolution) -> tuple[Array, Array | None]:
        weight = packed.weight
        return _shortened(weight) if dims == 1 else weight, packed.bias

    for name, forward in ((f"conv{dims}d", None), (f"conv_transpose{dims}d", transposed)):
        operator(
            f"quantized::{name}_dynamic(Tensor qx, {cls} packed_weight, "
            "bool reduce_range=False) -> Tensor",
            cost="convolved",
        )(dynamic)
        operator(
            f"quantized::{name}_unpack({cls} packed_weights) -> "
            "(Tensor unpacked_weights, Tensor? B_origin)"
        )(unpack)
        if forward is not None:
            operator(
                f"quantized::{name}(Tensor qx, {cls} packed_weight, float output_scale, "
                "int output_zero_point) -> Tensor",
                layout="C" if dims == 1 else "",
                cost="convolved",
            )(forward)


def _pack(
    weight: Array,
    bias: Array | None,
    stride: list[int],
    padding: list[int],
    output_padding: list[int],
    dilation: list[int],
    groups: int,
    transpose: bool,
    dims: int,
) -> PackedConvolution:
    quantizer_of(weight, "conv_prepack")
    parts = [list(part) for part in (stride, padding, dilation, output_padding)]
    if dims == 1:
        weight = _lengthened(weight)
        parts = [[0 if i in (1, 3) else 1, part[0]] if part else [] for i, part in enumerate(parts)]
    one, two, three, four = (part or [0] * len(parts[0]) for part in parts)
    return PackedConvolution(weight, bias, one, two, three, four, groups, transpose)


def _declare_packing(dims: int) -> None:
    cls = _class(dims)

    def plain(
        weight: Array,
        bias: Array | None,
        stride: list[int],
        padding: Any,
        dilation: Any,
        groups: int,
    ) -> PackedConvolution:
        return _pack(weight, bias, stride, padding, [], dilation, groups, False, dims)

    def transposed(
        weight: Array,
        bias: Array | None,
        stride: list[int],
        padding: list[int],
        output_padding: Any,
        dilation: Any,
        groups: int,
    ) -> PackedConvolution:
        return _pack(weight, bias, stride, padding, output_padding, dilation, groups, True, dims)

    start, end = "Tensor weight, Tensor? bias, int[] stride, int[] padding, ", "int groups)"
    names = [f"conv{dims}d_prepack", *(["conv_prepack"] if dims == 2 else [])]
    for name in names:
        operator(f"quantized::{name}({start}int[] dilation, {end} -> {cls}", cost="convolved")(
            plain
        )
    operator(
        f"quantized::conv_transpose{dims}d_prepack({start}int[] output_padding, "
        f"int[] dilation, {end} -> {cls}",
        cost="convolved",
    )(transposed)


def _declare_questions(dims: int) -> None:
    """What programs may ask of packed weights."""
    cls = _class(dims)
    for name in (f"conv{dims}d", f"conv_transpose{dims}d"):
        for what in ("stride", "padding", "dilation", "output_padding", "groups", "transpose"):
            result = "int" if what in ("groups", "transpose") else "int[]"

            def answer(packed: PackedConvolution, what: str = what) -> object:
                value = getattr(packed, what)
                return list(value) if isinstance(value, list) else int(value)

            operator(f"quantized::{name}_{what}({cls} packed_weights) -> {result}")(answer)


for _dims in (1, 2, 3):
    for _relu in (False, True):
        _declare_static(_dims, _relu)
    _declare_others(_dims)
    _declare_packing(_dims)
    if _dims > 1:
        _declare_questions(_dims)

_CONV2D: Final = _class(2)


@operator(
    f"quantized::conv_unpack({_CONV2D} packed_weights) -> "
    "(Tensor unpacked_weights, Tensor? B_origin)"
)
def conv_unpack(packed: PackedConvolution) -> tuple[Array, Array | None]:
    return packed.weight, packed.bias


@operator(
    f"quantized::conv2d_add(Tensor qx, Tensor qaccum, {_CONV2D} packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    cost="convolved",
)
def conv2d_add(x: Array, other: Array, packed: object, scale: float, zero_point: int) -> Array:
    return _added(x, other, packed, scale, zero_point, False)


@operator(
    f"quantized::conv2d_add_relu(Tensor qx, Tensor qaccum, {_CONV2D} packed_weight, "
    "float output_scale, int output_zero_point) -> Tensor",
    cost="convolved",
)
def conv2d_add_relu(x: Array, other: Array, packed: object, scale: float, zero_point: int) -> Array:
    return _added(x, other, packed, scale, zero_point, True)
