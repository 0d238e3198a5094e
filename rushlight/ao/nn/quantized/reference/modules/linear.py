"""A linear layer that rounds its weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from ......module_names import names_of
from ......nn import functional as F
from ......nn.modules import linear as floats
from ......nn.modules.module import Module
from ......ops.memory.dtype import Device, DType
from ......ops.tensors.tensor import Tensor
from .utils import ReferenceQuantizedModule

__all__ = ["Linear"]


class Linear(floats.Linear, ReferenceQuantizedModule):
    """`nn.Linear` over the weight that `weight_qparams` makes of its own."""

    _IS_REFERENCE: ClassVar[bool] = True

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias_: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        weight_qparams: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias_, device, dtype)
        self._init_weight_qparams(weight_qparams, device)

    def _get_name(self) -> str:
        return "QuantizedLinear(Reference)"

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.get_weight(), self.bias)

    @classmethod
    def from_float(cls, float_linear: Module, weight_qparams: Mapping[str, object]) -> Self:
        """The layer of one in floats; they share weight and bias."""
        made = cls(
            float_linear.in_features,
            float_linear.out_features,
            float_linear.bias is not None,
            weight_qparams=weight_qparams,
        )
        made._take(float_linear)
        return made


__getattr__ = names_of(__name__)
