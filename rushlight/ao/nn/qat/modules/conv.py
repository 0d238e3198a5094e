"""Convolutions that round their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from .....nn.modules import conv as floats
from .....nn.modules.module import Module
from .....ops.memory.dtype import Device, DType
from .....ops.tensors.tensor import Parameter, Tensor
from ...configuration import Configuration, configuration_of, weight_quantizer
from ...intrinsic.modules import fused

__all__ = ["Conv1d", "Conv2d", "Conv3d"]


class _ConvNd(floats._ConvNd):
    """What all of them are: the weight goes through `weight_fake_quant`."""

    _FLOAT_MODULE: ClassVar[type[Module]]
    _FLOAT_CONV_MODULE: ClassVar[Any]  # its `__init__` is called for a layer of another class

    def _observe(self, qconfig: Configuration | None, device: object, dtype: object) -> None:
        """Take a configuration.

        Raises:
            AssertionError: there is none.
        """
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.weight_fake_quant = weight_quantizer(qconfig, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        weight = self.weight_fake_quant(self.weight)
        made: Tensor = self._conv_forward(input, weight, self.bias)
        return made

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats; they share weight and bias.

        Raises:
            AssertionError: another module; no configuration.
        """
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(
                f"qat.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}, got "
                f"{type(mod).__name__}"
            )
        qconfig = configuration_of(mod)
        if isinstance(mod, fused._FusedModule):
            mod = mod[0]
        kind: Callable[..., Self] = cls
        made: Self = kind(*_sizes(mod), qconfig=qconfig)
        made.weight = mod.weight
        made.bias = mod.bias
        return made

    def to_float(self) -> Module:
        """The float layer, with the same weight and bias; with a ReLU if it has one."""
        made: Module = self._FLOAT_CONV_MODULE(*_sizes(self))
        made.weight = Parameter(self.weight.detach())
        if self.bias is not None:
            made.bias = Parameter(self.bias.detach())
        if issubclass(self._FLOAT_MODULE, fused._FusedModule):
            made = self._FLOAT_MODULE(made, self._FLOAT_RELU_MODULE())
        made.train(self.training)
        return made


def _sizes(mod: Module) -> tuple[object, ...]:
    """The arguments that a convolution was made with."""
    return (
        *(mod.in_channels, mod.out_channels, mod.kernel_size, mod.stride, mod.padding),
        *(mod.dilation, mod.groups, mod.bias is not None, mod.padding_mode),
    )


class _Conv(_ConvNd):
    """What those are that go forward, for any number of dimensions."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: str | int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        qconfig: Configuration | None = None,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        sizes = kernel_size, stride, padding, dilation, groups, bias, padding_mode
        self._FLOAT_CONV_MODULE.__init__(self, in_channels, out_channels, *sizes, device, dtype)
        self._observe(qconfig, device, dtype)


class Conv1d(_Conv, floats.Conv1d):
    """`nn.Conv1d` whose weight goes through `weight_fake_quant`, which `qconfig.weight` makes.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Conv1d
    _FLOAT_CONV_MODULE = floats.Conv1d


class Conv2d(_Conv, floats.Conv2d):
    """`nn.Conv2d` whose weight goes through `weight_fake_quant`, which `qconfig.weight` makes.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Conv2d
    _FLOAT_CONV_MODULE = floats.Conv2d


class Conv3d(_Conv, floats.Conv3d):
    """`nn.Conv3d` whose weight goes through `weight_fake_quant`, which `qconfig.weight` makes.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Conv3d
    _FLOAT_CONV_MODULE = floats.Conv3d
