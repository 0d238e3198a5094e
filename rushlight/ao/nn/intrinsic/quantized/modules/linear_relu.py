"""Linear layers with an activation after them, with packed weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import ClassVar, Final, Self

from ......nn.modules.module import Module
from ......ops.eager.dispatch import eager_function
from ......ops.memory.dtype import DTYPES, DType
from ......ops.tensors.tensor import Tensor
from .....nn.quantized.modules import linear
from ...modules import fused

__all__ = ["LinearLeakyReLU", "LinearReLU", "LinearTanh"]

_linear_leaky_relu = eager_function("quantized::linear_leaky_relu")
_linear_relu = eager_function("quantized::linear_relu")
_linear_tanh = eager_function("quantized::linear_tanh")

_QINT8: Final = DTYPES["qint8"]


class LinearReLU(linear.Linear):
    """`nn.Linear` and a ReLU over quint8 (*, in_features)."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.LinearReLU

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: DType = _QINT8
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return _linear_relu(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedLinearReLU"

    @classmethod
    def from_reference(
        cls, ref_qlinear: Module, output_scale: float, output_zero_point: int
    ) -> Self:
        """The layer of a reference pair."""
        return super().from_reference(next(ref_qlinear.children()), output_scale, output_zero_point)


class LinearTanh(linear.Linear):
    """`nn.Linear` and tanh over quint8 (*, in_features)."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.LinearTanh

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: DType = _QINT8
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return _linear_tanh(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedLinearTanh"

    @classmethod
    def from_reference(
        cls, ref_qlinear: Module, output_scale: float, output_zero_point: int
    ) -> Self:
        """The layer of a reference pair."""
        return super().from_reference(next(ref_qlinear.children()), output_scale, output_zero_point)


class LinearLeakyReLU(linear.Linear):
    """`nn.Linear` and a leaky ReLU over quint8 (*, in_features)."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.LinearLeakyReLU

    def __init__(
        self,
        in_features: int,
        out_features: int,
        negative_slope: float,
        bias: bool = True,
        dtype: DType = _QINT8,
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)
        self.negative_slope = negative_slope

    def forward(self, x: Tensor) -> Tensor:
        return _linear_leaky_relu(
            x, self._packed_params._packed_params, self.scale, self.zero_point, self.negative_slope
        )

    def _get_name(self) -> str:
        return "QuantizedLinearLeakyReLU"

    @classmethod
    def from_reference(cls, ref_mod: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference pair."""
        source, activation = ref_mod.children()
        made = cls(source.in_features, source.out_features, activation.negative_slope)
        made.set_weight_bias(source.get_quantized_weight(), source.bias)
        made.scale = float(output_scale)
        made.zero_point = int(output_zero_point)
        return made
