"""Batch norms with a ReLU over quantized tensors."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import ClassVar, Self

from ......nn.modules.module import Module
from ......ops.eager.dispatch import eager_function
from ......ops.tensors.tensor import Tensor
from .....nn.quantized.modules import batchnorm
from ...modules import fused

__all__ = ["BNReLU2d", "BNReLU3d"]

_batch_norm2d_relu = eager_function("quantized::batch_norm2d_relu")
_batch_norm3d_relu = eager_function("quantized::batch_norm3d_relu")


class BNReLU2d(batchnorm.BatchNorm2d):
    """`nn.BatchNorm2d` and a ReLU."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.BNReLU2d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        return _batch_norm2d_relu(
            input,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            self.eps,
            float(self.scale),
            int(self.zero_point),
        )

    def _get_name(self) -> str:
        return "QuantizedBNReLU2d"

    @classmethod
    def from_reference(cls, bn: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference pair."""
        return super().from_reference(next(bn.children()), output_scale, output_zero_point)


class BNReLU3d(batchnorm.BatchNorm3d):
    """`nn.BatchNorm3d` and a ReLU."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.BNReLU3d

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, D, H, W)`!")
        return _batch_norm3d_relu(
            input,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            self.eps,
            float(self.scale),
            int(self.zero_point),
        )

    def _get_name(self) -> str:
        return "QuantizedBNReLU3d"

    @classmethod
    def from_reference(cls, bn: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference pair."""
        return super().from_reference(next(bn.children()), output_scale, output_zero_point)
