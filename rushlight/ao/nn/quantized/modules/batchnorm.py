"""Batch norms over quantized tensors."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, ClassVar, Self

from .....nn.modules import batchnorm as floats
from .....nn.modules.module import Module
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import Device, DType
from .....ops.tensors.construct import tensor
from .....ops.tensors.tensor import Tensor
from ...intrinsic.modules import fused

__all__ = ["BatchNorm2d", "BatchNorm3d"]

_batch_norm2d = eager_function("quantized::batch_norm2d")
_batch_norm3d = eager_function("quantized::batch_norm3d")


class _BatchNorm(floats._BatchNorm):
    """What both are; `scale` and `zero_point` are those of the result."""

    _NNI_BN_RELU_MODULE: ClassVar[Any]
    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float | None = 0.1,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, True, True, device, dtype)
        self.register_buffer("scale", tensor(1.0, device=device, dtype=dtype))
        self.register_buffer("zero_point", tensor(0, device=device, dtype=dtype))

    def _take(self, bn: object, scale: Tensor, zero_point: Tensor) -> Self:
        """Have the weights and statistics of a float one."""
        for name in ("weight", "bias", "running_mean", "running_var"):
            setattr(self, name, getattr(bn, name))
        self.scale, self.zero_point = scale, zero_point
        return self

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed."""
        qparams = mod.activation_post_process.calculate_qparams()
        source = mod[0] if isinstance(mod, cls._NNI_BN_RELU_MODULE) else mod
        return cls(source.num_features, source.eps)._take(source, *qparams)

    @classmethod
    def from_reference(cls, bn: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference one."""
        held = (tensor(float(output_scale)), tensor(int(output_zero_point)))
        return cls(bn.num_features, bn.eps)._take(bn, *held)


class BatchNorm2d(_BatchNorm):
    """`nn.BatchNorm2d` in evaluation, over quantized tensors."""

    _NNI_BN_RELU_MODULE: ClassVar[type[Module] | None] = fused.BNReLU2d

    def _get_name(self) -> str:
        return "QuantizedBatchNorm2d"

    def _check_input_dim(self, input: Tensor) -> None:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")

    def forward(self, input: Tensor) -> Tensor:
        return _batch_norm2d(
            input,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            self.eps,
            float(self.scale),
            int(self.zero_point),
        )


class BatchNorm3d(_BatchNorm):
    """`nn.BatchNorm3d` in evaluation, over quantized tensors."""

    _NNI_BN_RELU_MODULE: ClassVar[type[Module] | None] = fused.BNReLU3d

    def _get_name(self) -> str:
        return "QuantizedBatchNorm3d"

    def _check_input_dim(self, input: Tensor) -> None:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, H, W)`!")

    def forward(self, input: Tensor) -> Tensor:
        return _batch_norm3d(
            input,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            self.eps,
            float(self.scale),
            int(self.zero_point),
        )
