"""Convolutions that round their weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Self

from ......module_names import names_of
from ......nn import functional as F
from ......nn.modules import conv as floats
from ......nn.modules.module import Module
from ......ops.memory.dtype import Device, DType
from ......ops.tensors.tensor import Tensor
from .utils import ReferenceQuantizedModule

Sizes = int | tuple[int, ...]

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _Conv(floats._ConvNd, ReferenceQuantizedModule):
    """What all of them are; the float layer is the last base but one."""

    _IS_REFERENCE: ClassVar[bool] = True

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}(Reference)"


class _Plain(_Conv):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
        weight_qparams: Mapping[str, object] | None = None,
    ) -> None:
        initialise: Callable[..., None] = super().__init__  # the float layer's
        initialise(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )
        self._init_weight_qparams(weight_qparams, device)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self._conv_forward(x, self.get_weight(), self.bias)
        return made

    @classmethod
    def from_float(cls, float_conv: Module, weight_qparams: Mapping[str, object]) -> Self:
        """The layer of one in floats; they share weight and bias."""
        made = cls(
            float_conv.in_channels,
            float_conv.out_channels,
            float_conv.kernel_size,
            float_conv.stride,
            float_conv.padding,
            float_conv.dilation,
            float_conv.groups,
            float_conv.bias is not None,
            float_conv.padding_mode,
            weight_qparams=weight_qparams,
        )
        made._take(float_conv)
        return made


class _Transposed(_Conv):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
        weight_qparams: Mapping[str, object] | None = None,
    ) -> None:
        initialise: Callable[..., None] = super().__init__  # the float layer's
        initialise(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            bias,
            dilation,
            padding_mode,
            device,
            dtype,
        )
        self._init_weight_qparams(weight_qparams, device)

    def forward(self, x: Tensor, output_size: list[int] | None = None) -> Tensor:
        dims = self.weight.dim() - 2
        padding = self._output_padding(
            x, output_size, self.stride, self.padding, self.kernel_size, dims, self.dilation
        )
        convolve = getattr(F, f"conv_transpose{dims}d")
        made: Tensor = convolve(
            *(x, self.get_weight(), self.bias, self.stride, self.padding),
            *(padding, self.groups, self.dilation),
        )
        return made

    @classmethod
    def from_float(cls, float_conv: Module, weight_qparams: Mapping[str, object]) -> Self:
        """The layer of one in floats; they share weight and bias."""
        made = cls(
            float_conv.in_channels,
            float_conv.out_channels,
            float_conv.kernel_size,
            float_conv.stride,
            float_conv.padding,
            float_conv.output_padding,
            float_conv.groups,
            float_conv.bias is not None,
            float_conv.dilation,
            float_conv.padding_mode,
            weight_qparams=weight_qparams,
        )
        made._take(float_conv)
        return made


class Conv1d(_Plain, floats.Conv1d):
    """`nn.Conv1d` over the weight that `weight_qparams` makes of its own."""


class Conv2d(_Plain, floats.Conv2d):
    """`nn.Conv2d` over the weight that `weight_qparams` makes of its own."""


class Conv3d(_Plain, floats.Conv3d):
    """`nn.Conv3d` over the weight that `weight_qparams` makes of its own."""


class ConvTranspose1d(_Transposed, floats.ConvTranspose1d):
    """`nn.ConvTranspose1d` over the weight that `weight_qparams` makes of its own."""


class ConvTranspose2d(_Transposed, floats.ConvTranspose2d):
    """`nn.ConvTranspose2d` over the weight that `weight_qparams` makes of its own."""


class ConvTranspose3d(_Transposed, floats.ConvTranspose3d):
    """`nn.ConvTranspose3d` over the weight that `weight_qparams` makes of its own."""


__getattr__ = names_of(__name__)
