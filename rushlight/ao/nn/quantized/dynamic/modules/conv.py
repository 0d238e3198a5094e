"""Convolutions over floats, with quantized weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import ClassVar

from ......nn import functional as F
from ......nn.modules.module import Module
from ......ops.eager.dispatch import eager_function
from ......ops.tensors.tensor import Tensor
from ...modules import conv as static
from ...modules.conv import _reverse_repeat_padding

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

_conv1d = eager_function("quantized::conv1d_dynamic")
_conv2d = eager_function("quantized::conv2d_dynamic")
_conv3d = eager_function("quantized::conv3d_dynamic")
_conv_transpose1d = eager_function("quantized::conv_transpose1d_dynamic")
_conv_transpose2d = eager_function("quantized::conv_transpose2d_dynamic")
_conv_transpose3d = eager_function("quantized::conv_transpose3d_dynamic")


class Conv1d(static.Conv1d):
    """`nn.Conv1d` over floats (N, C, L), which are quantized by the range of each call."""

    _NNI_CONV_RELU_MODULE: ClassVar[type[Module] | None] = None

    def _get_name(self) -> str:
        return "DynamicQuantizedConv1d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv1d(input, self._packed_params, reduce_range)


class Conv2d(static.Conv2d):
    """`nn.Conv2d` over floats (N, C, H, W), which are quantized by the range of each call."""

    _NNI_CONV_RELU_MODULE: ClassVar[type[Module] | None] = None

    def _get_name(self) -> str:
        return "DynamicQuantizedConv2d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0], self.padding[1]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv2d(input, self._packed_params, reduce_range)


class Conv3d(static.Conv3d):
    """`nn.Conv3d` over floats (N, C, D, H, W), which are quantized by the range of each call."""

    _NNI_CONV_RELU_MODULE: ClassVar[type[Module] | None] = None

    def _get_name(self) -> str:
        return "DynamicQuantizedConv3d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, D, H, W)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0], self.padding[1], self.padding[2]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv3d(input, self._packed_params, reduce_range)


class ConvTranspose1d(static.ConvTranspose1d):
    """`nn.ConvTranspose1d` over floats (N, C, L), quantized by the range of each call."""

    def _get_name(self) -> str:
        return "DynamicQuantizedConvTranspose1d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        return _conv_transpose1d(input, self._packed_params, reduce_range)


class ConvTranspose2d(static.ConvTranspose2d):
    """`nn.ConvTranspose2d` over floats (N, C, H, W), quantized by the range of each call."""

    def _get_name(self) -> str:
        return "DynamicQuantizedConvTranspose2d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        return _conv_transpose2d(input, self._packed_params, reduce_range)


class ConvTranspose3d(static.ConvTranspose3d):
    """`nn.ConvTranspose3d` over floats (N, C, D, H, W), quantized by the range of each call."""

    def _get_name(self) -> str:
        return "DynamicQuantizedConvTranspose3d"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, T, H, W)`!")
        return _conv_transpose3d(input, self._packed_params, reduce_range)
