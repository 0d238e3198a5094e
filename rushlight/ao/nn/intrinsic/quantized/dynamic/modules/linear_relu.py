"""Linear layers with a ReLU over floats, with quantized weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from importlib import import_module
from typing import ClassVar, Final, Self

from .......nn.modules.module import Module
from .......ops.eager.dispatch import eager_function
from .......ops.memory.dtype import DTYPES, DType
from .......ops.tensors.tensor import Tensor
from ......nn.quantized.dynamic.modules import linear
from ....modules import fused

__all__ = ["LinearReLU"]

_torch = import_module(__name__.partition(".")[0])
"""The package itself: script takes constants from modules alone."""

_dynamic = eager_function("quantized::linear_relu_dynamic")
_dynamic_fp16 = eager_function("quantized::linear_relu_dynamic_fp16")

_QINT8: Final = DTYPES["qint8"]


class LinearReLU(linear.Linear):
    """`nn.Linear` and a ReLU over floats, quantized to 8 bits by the range of each call."""

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.LinearReLU

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: DType = _QINT8
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def forward(self, x: Tensor) -> Tensor:
        if self._packed_params.dtype == _torch.qint8:
            return _dynamic(x, self._packed_params._packed_params, reduce_range=True)
        elif self._packed_params.dtype == _torch.float16:
            return _dynamic_fp16(x, self._packed_params._packed_params)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear relu!")

    def _get_name(self) -> str:
        return "DynamicQuantizedLinearReLU"

    @classmethod
    def from_reference(cls, ref_qlinear: Module) -> Self:  # type: ignore[override]
        """The layer of a reference pair."""
        return super().from_reference(next(ref_qlinear.children()))
