"""Linear layers with a ReLU that round their weights."""

from __future__ import annotations

from typing import ClassVar

from ......nn import functional as F
from ......nn.modules.activation import ReLU
from ......nn.modules.module import Module
from ......ops.tensors.tensor import Tensor
from .....nn.qat.modules import linear
from ....configuration import Configuration
from ...modules import fused

__all__ = ["LinearReLU"]


class LinearReLU(linear.Linear, fused._FusedModule):
    """`nn.Linear` and a ReLU; the weight goes through `weight_fake_quant`.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = fused.LinearReLU

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Configuration | None = None,
    ) -> None:
        linear.Linear.__init__(self, in_features, out_features, bias, qconfig)

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(F.linear(input, self.weight_fake_quant(self.weight), self.bias))

    def to_float(self) -> Module:
        """The pair in floats, with the same weight and bias."""
        return fused.LinearReLU(linear.Linear.to_float(self), ReLU())
