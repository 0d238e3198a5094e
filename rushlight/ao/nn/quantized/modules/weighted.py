"""What quantized layers with weights have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, Self

from .....nn.modules.module import Module
from .....nn.utils.fusion import fuse_conv_bn_weights, fuse_linear_bn_weights
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DTYPES, QSCHEMES, DType
from .....ops.tensors.tensor import Tensor

__all__ = ["WeightedQuantizedModule"]

_quantize_per_channel = eager_function("aten::quantize_per_channel")
_quantize_per_tensor = eager_function("aten::quantize_per_tensor")
_zeros = eager_function("aten::zeros")

_TENSOR_SCHEMES: Final = (QSCHEMES["per_tensor_affine"], QSCHEMES["per_tensor_symmetric"])
_CHANNEL_SCHEMES: Final = (QSCHEMES["per_channel_affine"], QSCHEMES["per_channel_symmetric"])
_FLOAT_SCHEME: Final = QSCHEMES["per_channel_affine_float_qparams"]


class WeightedQuantizedModule(ABC, Module):
    """A quantized layer with weights; `from_reference` makes it of one in floats."""

    __module__ = f"{__package__}.utils"

    @classmethod
    @abstractmethod
    def from_reference(
        cls, ref_module: Module, output_scale: float, output_zero_point: int
    ) -> Self:
        """The layer of a reference module, whose results have this scale and zero point."""


def empty_weight(sizes: list[int]) -> Tensor:
    """A weight of zeros, quantized to qint8 by 1."""
    zeros = _zeros(sizes, dtype=DTYPES["float32"])
    made: Tensor = _quantize_per_tensor(zeros, 1.0, 0, DTYPES["qint8"])
    return made


def _quantize_weight(float_wt: Tensor, observer: Module) -> Tensor:
    """Weights by what their observer, which has seen them, says.

    Raises:
        ValueError: a scheme that weights do not have.
    """
    scale, zero_point = observer.calculate_qparams()
    dtype: DType = observer.dtype
    made: Tensor
    if observer.qscheme in _TENSOR_SCHEMES:
        made = _quantize_per_tensor(float_wt, float(scale), int(zero_point), dtype)
    elif observer.qscheme in _CHANNEL_SCHEMES:
        made = _quantize_per_channel(
            float_wt,
            scale.to(DTYPES["float64"]),
            zero_point.to(DTYPES["int64"]),
            observer.ch_axis,
            dtype,
        )
    elif observer.qscheme is _FLOAT_SCHEME:
        made = _quantize_per_channel(
            float_wt,
            scale.to(DTYPES["float32"]),
            zero_point.to(DTYPES["float32"]),
            observer.ch_axis,
            dtype,
        )
    else:
        raise ValueError(f"Unexpected qscheme {observer.qscheme}")
    return made


def _hide_packed_params_repr(self: Module, params: type[Module]) -> str:
    """A module's text without the line of its packed weights."""
    lines = [
        f"({name}): {module!r}".replace("\n", "\n  ")
        for name, module in self._modules.items()
        if not isinstance(module, params)
    ]
    extra = self.extra_repr()
    if not lines:
        return f"{self._get_name()}({extra})"
    inside = "\n  ".join([*extra.splitlines(), *lines])
    return f"{self._get_name()}(\n  {inside}\n)"


def activation_qparams(mod: Module) -> tuple[float, int]:
    """The scale and zero point of a module's results, by what has observed them."""
    scale, zero_point = mod.activation_post_process.calculate_qparams()
    return float(scale), int(zero_point)


def observed_weight(
    mod: Module, weight: Tensor, use_precomputed_fake_quant: bool = False
) -> Module:
    """What has observed a module's weight: its own fake quantizer, or one of its configuration."""
    if hasattr(mod, "weight_fake_quant"):
        observer: Module = mod.weight_fake_quant
        if not use_precomputed_fake_quant:
            observer(weight)
        return observer
    made: Module = mod.qconfig.weight()
    made(weight)
    return made


def folded(mod: Module) -> tuple[Tensor, Tensor]:
    """Weight and bias of a layer that was trained for quantization, with its batch norm if any."""
    if not hasattr(mod, "bn"):
        return mod.weight, mod.bias
    bn = mod.bn
    fuse = fuse_linear_bn_weights if mod.weight.dim() == 2 else fuse_conv_bn_weights
    statistics = (bn.running_mean, bn.running_var, bn.eps)
    return fuse(mod.weight, mod.bias, *statistics, bn.weight, bn.bias)
