"""Norms over quantized tensors."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Self

from .....nn.modules import instancenorm, normalization
from .....nn.modules.module import Module
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DType
from .....ops.tensors.construct import tensor
from .....ops.tensors.tensor import Tensor
from .weighted import activation_qparams

__all__ = ["GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm"]

_group_norm = eager_function("quantized::group_norm")
_instance_norm = eager_function("quantized::instance_norm")
_layer_norm = eager_function("quantized::layer_norm")


def _set(
    norm: Module, weight: Tensor | None, bias: Tensor | None, scale: float, zero_point: int
) -> None:
    """Give a norm its weights and the scale and zero point of its result."""
    norm.weight = weight
    norm.bias = bias
    norm.register_buffer("scale", tensor(float(scale)))
    norm.register_buffer("zero_point", tensor(int(zero_point)))


class LayerNorm(normalization.LayerNorm):
    """`nn.LayerNorm` over quantized tensors."""

    def __init__(
        self,
        normalized_shape: int | list[int] | tuple[int, ...],
        weight: Tensor | None,
        bias: Tensor | None,
        scale: float,
        zero_point: int,
        eps: float = 1e-05,
        elementwise_affine: bool = True,
        device: object = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(normalized_shape, eps=eps, elementwise_affine=elementwise_affine)
        _set(self, weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        return _layer_norm(
            input,
            self.normalized_shape,
            weight=self.weight,
            bias=self.bias,
            eps=self.eps,
            output_scale=float(self.scale),
            output_zero_point=int(self.zero_point),
        )

    def _get_name(self) -> str:
        return "QuantizedLayerNorm"

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed."""
        return cls.from_reference(mod, *activation_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The layer of one in floats, by the scale and zero point of its result."""
        held = (mod.normalized_shape, mod.weight, mod.bias, float(scale), int(zero_point))
        return cls(*held, mod.eps, mod.elementwise_affine)


class GroupNorm(normalization.GroupNorm):
    """`nn.GroupNorm` over quantized tensors."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        weight: Tensor | None,
        bias: Tensor | None,
        scale: float,
        zero_point: int,
        eps: float = 1e-05,
        affine: bool = True,
        device: object = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(num_groups, num_channels, eps, affine)
        _set(self, weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        return _group_norm(
            input,
            self.num_groups,
            self.weight,
            self.bias,
            self.eps,
            float(self.scale),
            int(self.zero_point),
        )

    def _get_name(self) -> str:
        return "QuantizedGroupNorm"

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed."""
        held = (mod.num_groups, mod.num_channels, mod.weight, mod.bias, *activation_qparams(mod))
        return cls(*held, mod.eps, mod.affine)


class _InstanceNorm(instancenorm._InstanceNorm):
    """What they are for any number of dimensions."""

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        num_features: int,
        weight: Tensor | None,
        bias: Tensor | None,
        scale: float,
        zero_point: int,
        eps: float = 1e-05,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: object = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats)
        _set(self, weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        return _instance_norm(
            input, self.weight, self.bias, self.eps, float(self.scale), int(self.zero_point)
        )

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed."""
        return cls.from_reference(mod, *activation_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The layer of one in floats, by the scale and zero point of its result."""
        held = (mod.num_features, mod.weight, mod.bias, float(scale), int(zero_point))
        return cls(*held, mod.eps, mod.affine)


class InstanceNorm1d(_InstanceNorm, instancenorm.InstanceNorm1d):
    """`nn.InstanceNorm1d` over quantized tensors."""

    def _get_name(self) -> str:
        return "QuantizedInstanceNorm1d"


class InstanceNorm2d(_InstanceNorm, instancenorm.InstanceNorm2d):
    """`nn.InstanceNorm2d` over quantized tensors."""

    def _get_name(self) -> str:
        return "QuantizedInstanceNorm2d"


class InstanceNorm3d(_InstanceNorm, instancenorm.InstanceNorm3d):
    """`nn.InstanceNorm3d` over quantized tensors."""

    def _get_name(self) -> str:
        return "QuantizedInstanceNorm3d"
