"""Layers over weights of floats that archives for phones hold packed, by XNNPACK's names.

What a layer makes is held between two numbers: a `relu` or `hardtanh` behind it is part of it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE
from ..arithmetic.comparison import clamp
from ..layers.convolution import batched, convolution
from ..linear_algebra.linalg import linear
from ..memory.dtype import Array, Scalar
from ..memory.errors import OperatorError
from ..table.table import operator
from .packed_weights import FloatConvolution, FloatLinear

Ints = list[int]

_LINEAR: Final = f"{BUILTIN_NAMESPACE}xnnpack.LinearOpContext"
_CONVOLUTION: Final = f"{BUILTIN_NAMESPACE}xnnpack.Conv2dOpContext"
_TRANSPOSED: Final = f"{BUILTIN_NAMESPACE}xnnpack.TransposeConv2dOpContext"
_BOUNDS: Final = "Scalar? output_min=None, Scalar? output_max=None"


@operator(f"prepacked::linear_clamp_prepack(Tensor W, Tensor? B=None, {_BOUNDS}) -> {_LINEAR}")
def packed_linear(
    weight: Array, bias: Array | None, least: Scalar | None, most: Scalar | None
) -> FloatLinear:
    return FloatLinear(weight, bias, least, most)


@operator(
    "prepacked::conv2d_clamp_prepack(Tensor W, Tensor? B, int[2] stride, int[2] padding, "
    f"int[2] dilation, int groups, {_BOUNDS}) -> {_CONVOLUTION}"
)
def packed_convolution(
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    least: Scalar | None,
    most: Scalar | None,
) -> FloatConvolution:
    return FloatConvolution(weight, bias, stride, padding, None, dilation, groups, least, most)


@operator(
    "prepacked::conv2d_transpose_clamp_prepack(Tensor W, Tensor? B, int[2] stride, "
    "int[2] padding, int[2] output_padding, int[2] dilation, int groups, "
    f"{_BOUNDS}) -> {_TRANSPOSED}"
)
def packed_transposed(weight: Array, bias: Array | None, *numbers: Any) -> FloatConvolution:
    return FloatConvolution(weight, bias, *numbers)


@operator(
    f"prepacked::linear_clamp_run(Tensor X, {_LINEAR} W_prepack) -> Tensor Y",
    cost="product-transposed",
)
def run_linear(x: Array, packed: FloatLinear) -> Array:
    return _held(linear(_floats(x), packed.weight, packed.bias), packed)


@operator(
    f"prepacked::conv2d_clamp_run(Tensor X, {_CONVOLUTION} W_prepack) -> Tensor Y",
    f"prepacked::conv2d_transpose_clamp_run(Tensor X, {_TRANSPOSED} W_prepack) -> Tensor Y",
    cost="convolved",
)
def run_convolution(x: Array, packed: FloatConvolution) -> Array:
    batch, had = batched(_floats(x), 2, "conv2d")
    made = convolution(
        *(batch, packed.weight, packed.bias, packed.stride, packed.padding, packed.dilation),
        *(packed.transpose, packed.output_padding or [0, 0], packed.groups),
    )
    return _held(made if had else made[0], packed)


def _floats(x: Array) -> Array:
    if x.dtype != np.float32:
        raise OperatorError("prepacked layers take tensors of float32", code="dtype-mismatch")
    return x


def _held(made: Array, packed: FloatLinear | FloatConvolution) -> Array:
    if packed.least is None and packed.most is None:
        return made
    return clamp(made, packed.least, packed.most)
