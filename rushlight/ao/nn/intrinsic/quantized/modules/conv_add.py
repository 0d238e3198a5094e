"""Convolutions with a sum after them, with packed weights."""

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

__all__ = ["ConvAdd2d", "ConvAddReLU2d"]

_conv2d_add = eager_function("quantized::conv2d_add")
_conv2d_add_relu = eager_function("quantized::conv2d_add_relu")


class ConvAdd2d(conv.Conv2d):
    """`nn.Conv2d` and a sum with another tensor, over quint8 (N, C, H, W)."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvAdd2d

    def forward(self, input: Tensor, extra_input: Tensor) -> Tensor:  # type: ignore[override]
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0], self.padding[1]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv2d_add(input, extra_input, self._packed_params, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedConvAdd2d"

    @classmethod
    def from_reference(cls, ref_qconv: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference one."""
        return super().from_reference(next(ref_qconv.children()), output_scale, output_zero_point)


class ConvAddReLU2d(conv.Conv2d):
    """`nn.Conv2d` and a sum with another tensor and a ReLU, over quint8 (N, C, H, W)."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.ConvAddReLU2d

    def forward(self, input: Tensor, extra_input: Tensor) -> Tensor:  # type: ignore[override]
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0], self.padding[1]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv2d_add_relu(
            input, extra_input, self._packed_params, self.scale, self.zero_point
        )

    def _get_name(self) -> str:
        return "QuantizedConvAddReLU2d"

    @classmethod
    def from_reference(cls, ref_qconv: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference one."""
        return super().from_reference(next(ref_qconv.children()), output_scale, output_zero_point)
