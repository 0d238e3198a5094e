"""Convolutions under older names, and the one over time."""

from __future__ import annotations

import numpy as np

from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..shapes.windows import Ints
from ..table.table import operator
from ..table.without_data import rows_of
from .convolution import batched, convolution


@operator(
    "aten::slow_conv3d_forward(Tensor self, Tensor weight, SymInt[3] kernel_size, "
    "Tensor? bias, SymInt[3] stride, SymInt[3] padding) -> Tensor",
    out="",
    face="operator",
    cost="convolved",
)
@operator(
    "aten::slow_conv3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, "
    "SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0]) -> Tensor",
    face="layer",
    cost="convolved",
)
@operator(
    "aten::_slow_conv2d_forward(Tensor self, Tensor weight, SymInt[2] kernel_size, "
    "Tensor? bias, SymInt[2] stride, SymInt[2] padding) -> Tensor",
    out="",
    face="operator",
    cost="convolved",
)
@operator(
    "aten::thnn_conv2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, "
    "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0]) -> Tensor",
    face="layer",
    cost="convolved",
)
def slow_convolution(
    self: Array,
    weight: Array,
    kernel_size: Ints,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
) -> Array:
    return slow_dilated(self, weight, kernel_size, bias, stride, padding, [1])


@operator(
    "aten::slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, "
    "Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], "
    "SymInt[2] dilation=[1, 1]) -> Tensor",
    "aten::slow_conv_dilated3d(Tensor self, Tensor weight, SymInt[3] kernel_size, "
    "Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], "
    "SymInt[3] dilation=[1, 1, 1]) -> Tensor",
    face="layer",
    cost="convolved",
)
def slow_dilated(
    self: Array,
    weight: Array,
    kernel_size: Ints,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
) -> Array:
    dims = weight.ndim - 2
    batch, had = batched(self, dims, f"conv{dims}d")
    made = convolution(batch, weight, bias, stride, padding, dilation, False, [0], 1)
    return made if had else made[0]


@operator(
    "aten::_conv_depthwise2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, "
    "SymInt[2] stride, SymInt[2] padding, SymInt[2] dilation) -> Tensor",
    "aten::conv_depthwise3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, "
    "SymInt[3] stride, SymInt[3] padding, SymInt[3] dilation) -> Tensor",
    face="layer",
    order="out -",
    cost="convolved",
)
def depthwise(
    self: Array,
    weight: Array,
    kernel_size: Ints,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
) -> Array:
    groups = self.shape[1]
    return convolution(self, weight, bias, stride, padding, dilation, False, [0], groups)


@operator(
    "aten::slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, "
    "Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], "
    "SymInt[2] output_padding=[0, 0], SymInt[2] dilation=[1, 1]) -> Tensor",
    "aten::slow_conv_transpose3d(Tensor self, Tensor weight, SymInt[3] kernel_size, "
    "Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], "
    "SymInt[3] output_padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1]) -> Tensor",
    face="layer",
    cost="convolved",
)
def slow_transposed(
    self: Array,
    weight: Array,
    kernel_size: Ints,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    output_padding: Ints,
    dilation: Ints,
) -> Array:
    dims = weight.ndim - 2
    batch, had = batched(self, dims, f"conv_transpose{dims}d")
    made = convolution(batch, weight, bias, stride, padding, dilation, True, output_padding, 1)
    return made if had else made[0]


@operator(
    "aten::mkldnn_convolution(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, "
    "SymInt[] stride, SymInt[] dilation, SymInt groups) -> Tensor",
    face="function",
    cost="convolved",
)
def mkldnn_convolution(
    self: Array,
    weight: Array,
    bias: Array | None,
    padding: Ints,
    stride: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    return convolution(self, weight, bias, stride, padding, dilation, False, [0], groups)


@operator(
    "aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    face="function",
    cost="convolved",
    rows=rows_of("input"),
)
def conv_tbc(self: Array, weight: Array, bias: Array, pad: int) -> Array:
    """Over time: input (time, batch, channels), weight (width, channels, channels made)."""
    if self.ndim != 3:
        raise OperatorError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise OperatorError(
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."
        )
    if bias.ndim != 1:
        raise OperatorError("Bias must be 1-D")
    if self.shape[2] != weight.shape[1]:
        raise OperatorError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if bias.shape[0] != weight.shape[2]:
        raise OperatorError("Bias size must equal dim 2 in the weight tensor (output channels).")
    made = convolution(
        self.transpose(1, 2, 0), weight.transpose(2, 1, 0), bias, [1], [pad], [1], False, [0], 1
    )
    return np.ascontiguousarray(made.transpose(2, 0, 1))
