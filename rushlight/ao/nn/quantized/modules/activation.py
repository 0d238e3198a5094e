"""Activations over quantized tensors."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Self

from .....module_names import names_of
from .....nn.modules import activation as floats
from .....nn.modules.module import Module
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DTYPES, Device, DType
from .....ops.tensors.construct import tensor
from .....ops.tensors.tensor import Tensor
from .weighted import activation_qparams

__all__ = ["ELU", "Hardswish", "LeakyReLU", "PReLU", "ReLU6", "Sigmoid", "Softmax"]

_elu = eager_function("quantized::elu")
_hardswish = eager_function("quantized::hardswish")
_leaky_relu = eager_function("quantized::leaky_relu")
_prelu = eager_function("quantized::prelu")
_quantize = eager_function("aten::quantize_per_tensor")
_randn = eager_function("aten::randn")
_relu6 = eager_function("quantized::relu6")
_sigmoid = eager_function("quantized::sigmoid")
_softmax = eager_function("quantized::softmax")


class ReLU6(floats.ReLU):
    """`nn.ReLU6` over quantized tensors."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return _relu6(input, self.inplace)

    def _get_name(self) -> str:
        return "QuantizedReLU6"

    @staticmethod
    def from_float(mod: Module, use_precomputed_fake_quant: bool = False) -> ReLU6:
        """The layer of one in floats."""
        return ReLU6(mod.inplace)


class Hardswish(floats.Hardswish):
    """`nn.Hardswish` over quantized tensors; `scale` and `zero_point` are those of the result."""

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        scale: float,
        zero_point: int,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("scale", tensor(float(scale), device=device, dtype=dtype))
        self.register_buffer("zero_point", tensor(int(zero_point), device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        return _hardswish(input, float(self.scale), int(self.zero_point))

    def _get_name(self) -> str:
        return "QuantizedHardswish"

    @staticmethod
    def from_float(mod: Module, use_precomputed_fake_quant: bool = False) -> Hardswish:
        """The layer of one in floats that was observed."""
        return Hardswish(*activation_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The layer of one in floats, by the scale and zero point of its result."""
        return cls(float(scale), int(zero_point))


class ELU(floats.ELU):
    """`nn.ELU` over quantized tensors; `scale` and `zero_point` are those of the result."""

    def __init__(self, scale: float, zero_point: int, alpha: float = 1.0) -> None:
        super().__init__(alpha)
        self.scale = scale
        self.zero_point = zero_point

    def forward(self, input: Tensor) -> Tensor:
        return _elu(input, self.scale, self.zero_point, self.alpha)

    def _get_name(self) -> str:
        return "QuantizedELU"

    @staticmethod
    def from_float(mod: Module, use_precomputed_fake_quant: bool = False) -> ELU:
        """The layer of one in floats that was observed."""
        return ELU(*activation_qparams(mod), mod.alpha)

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The layer of one in floats, by the scale and zero point of its result."""
        return cls(float(scale), int(zero_point), mod.alpha)


class LeakyReLU(floats.LeakyReLU):
    """`nn.LeakyReLU` over quantized tensors; `scale` and `zero_point` are those of the result."""

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        scale: float,
        zero_point: int,
        negative_slope: float = 1e-2,
        inplace: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(negative_slope, inplace)
        self.register_buffer("scale", tensor(float(scale), device=device, dtype=dtype))
        self.register_buffer("zero_point", tensor(int(zero_point), device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        return _leaky_relu(
            input, self.negative_slope, self.inplace, float(self.scale), int(self.zero_point)
        )

    def _get_name(self) -> str:
        return "QuantizedLeakyReLU"

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed."""
        return cls(*activation_qparams(mod), mod.negative_slope, mod.inplace)

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The layer of one in floats, by the scale and zero point of its result."""
        return cls(float(scale), int(zero_point), mod.negative_slope, mod.inplace)


class Sigmoid(floats.Sigmoid):
    """`nn.Sigmoid` over quantized tensors."""

    def __init__(self, output_scale: float, output_zero_point: int) -> None:
        super().__init__()
        self.output_scale = output_scale
        self.output_zero_point = output_zero_point

    def forward(self, input: Tensor) -> Tensor:
        return _sigmoid(input, self.output_scale, self.output_zero_point)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed."""
        return cls(*activation_qparams(mod))


class Softmax(Module):
    """`nn.Softmax` over quantized tensors; `scale` and `zero_point` are those of the result."""

    def __init__(self, dim: int | None = None, scale: float = 1.0, zero_point: int = 0) -> None:
        super().__init__()
        self.dim = dim
        self.scale = scale
        self.zero_point = zero_point

    def forward(self, input: Tensor) -> Tensor:
        dim = self.dim
        if dim is None:
            dim = 0 if input.dim() in (0, 1, 3) else 1
        return _softmax(input, dim, self.scale, self.zero_point)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"

    def _get_name(self) -> str:
        return "QuantizedSoftmax"

    @staticmethod
    def from_float(mod: Module, use_precomputed_fake_quant: bool = False) -> Softmax:
        """The layer of one in floats that was observed."""
        return Softmax(mod.dim, *activation_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The layer of one in floats, by the scale and zero point of its result."""
        return cls(mod.dim, float(scale), int(zero_point))


class PReLU(Module):
    """`nn.PReLU` over quantized tensors; its weight is quint8.

    Args:
        output_scale, output_zero_point: those of the result.
        num_parameters: how many weights: one, or one for each channel.
    """

    weight: Tensor

    def __init__(
        self, output_scale: float, output_zero_point: int, num_parameters: int = 1
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.scale = output_scale
        self.zero_point = output_zero_point
        drawn = _randn([num_parameters], dtype=DTYPES["float32"])
        self.set_weight(_quantize(drawn, 1.0, 0, DTYPES["quint8"]))

    def set_weight(self, w: Tensor) -> None:
        """Exchange the quantized weight."""
        self.weight = w

    def forward(self, input: Tensor) -> Tensor:
        return _prelu(input, self.weight, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedPReLU"

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed."""
        return cls.from_reference(mod, *activation_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The layer of one in floats, by the scale and zero point of its result."""
        made = cls(float(scale), int(zero_point), mod.num_parameters)
        observer = mod.qconfig.weight()
        observer(mod.weight)
        by, zero = observer.calculate_qparams()
        made.set_weight(_quantize(mod.weight.float(), float(by), int(zero), DTYPES["quint8"]))
        return made


__getattr__ = names_of(__name__)
