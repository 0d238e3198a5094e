"""The layers of `torch.ao.nn.quantized`."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

from .....module_names import names_of
from .....nn.modules.module import Module
from .....nn.modules.pooling import MaxPool2d
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DType
from .....ops.tensors.construct import tensor
from .....ops.tensors.tensor import Tensor
from .activation import ELU, Hardswish, LeakyReLU, PReLU, ReLU6, Sigmoid, Softmax
from .batchnorm import BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .dropout import Dropout
from .embedding_ops import Embedding, EmbeddingBag
from .functional_modules import FloatFunctional, FXFloatFunctional, QFunctional
from .linear import Linear
from .normalization import GroupNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, LayerNorm

__all__ = [
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "DeQuantize",
    "Dropout",
    "ELU",
    "Embedding",
    "EmbeddingBag",
    "FXFloatFunctional",
    "FloatFunctional",
    "GroupNorm",
    "Hardswish",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "MaxPool2d",
    "PReLU",
    "QFunctional",
    "Quantize",
    "ReLU6",
    "Sigmoid",
    "Softmax",
]

_quantize = eager_function("aten::quantize_per_tensor")


class Quantize(Module):
    """Floats to quantized values.

    Args:
        scale, zero_point: these, as numbers or as tensors of one.
        dtype: what to quantize to.
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: DType,
        factory_kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("scale", tensor([scale], **(factory_kwargs or {})))
        self.register_buffer("zero_point", tensor([zero_point]))
        self.dtype = dtype

    def forward(self, X: Tensor) -> Tensor:
        return _quantize(X, float(self.scale), int(self.zero_point), self.dtype)

    @staticmethod
    def from_float(mod: Module, use_precomputed_fake_quant: bool = False) -> Quantize:
        """The module of a stub that was observed.

        Raises:
            AssertionError: it was not.
        """
        if not hasattr(mod, "activation_post_process"):
            raise AssertionError(
                f"Module {type(mod).__name__} must have activation_post_process attribute"
            )
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        dtype = mod.activation_post_process.dtype
        return Quantize(float(scale), int(zero_point), dtype)

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(Module):
    """Quantized values to floats."""

    def forward(self, Xq: Tensor) -> Tensor:
        return Xq.dequantize()

    @staticmethod
    def from_float(mod: Module, use_precomputed_fake_quant: bool = False) -> DeQuantize:
        """The module of a stub."""
        return DeQuantize()


__getattr__ = names_of(__name__, "rnn")
