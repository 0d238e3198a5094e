"""Convolutions with a ReLU, with packed weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import ClassVar, Self

from ......nn import functional as F
from ......nn.modules.module import Module
from ......ops.eager.dispatch import eager_function
from ......ops.tensors.tensor import Tensor
from .....nn.quantized.modules import conv
from .....nn.quantized.modules.conv import _reverse_repeat_padding
from ...modules import fused

__all__ = ["ConvReLU1d", "ConvReLU2d", "ConvReLU3d"]

_conv1d_relu = eager_function("quantized::conv1d_relu")
_conv2d_relu = eager_function("quantized::conv2d_relu")
_conv3d_relu = eager_function("quantized::conv3d_relu")


class ConvReLU1d(conv.Conv1d):
    """`nn.Conv1d` and a ReLU over quint8 (N, C, L)."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvReLU1d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv1d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedConvReLU1d"

    @classmethod
    def from_reference(cls, ref_qconv: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference pair."""
        return super().from_reference(next(ref_qconv.children()), output_scale, output_zero_point)


class ConvReLU2d(conv.Conv2d):
    """`nn.Conv2d` and a ReLU over quint8 (N, C, H, W)."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvReLU2d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0], self.padding[1]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv2d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedConvReLU2d"

    @classmethod
    def from_reference(cls, ref_qconv: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference pair."""
        return super().from_reference(next(ref_qconv.children()), output_scale, output_zero_point)


class ConvReLU3d(conv.Conv3d):
    """`nn.Conv3d` and a ReLU over quint8 (N, C, D, H, W)."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvReLU3d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, D, H, W)`!")
        return _conv3d_relu(input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedConvReLU3d"

    @classmethod
    def from_reference(cls, ref_qconv: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference pair."""
        return super().from_reference(next(ref_qconv.children()), output_scale, output_zero_point)
