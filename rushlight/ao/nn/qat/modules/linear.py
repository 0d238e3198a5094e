"""Linear layers that round their weights."""

from __future__ import annotations

from typing import ClassVar, Self

from .....nn import functional as F
from .....nn.modules import linear as floats
from .....nn.modules.module import Module
from .....nn.utils.parametrize import (
    is_parametrized,
    transfer_parametrizations_and_params,
    type_before_parametrizations,
)
from .....ops.memory.dtype import Device, DType
from .....ops.tensors.tensor import Parameter, Tensor
from ...configuration import Configuration, configuration_of, weight_quantizer
from ...intrinsic.modules import fused

__all__ = ["Linear"]


class Linear(floats.Linear):
    """`nn.Linear` whose weight goes through `weight_fake_quant`, which `qconfig.weight` makes.

    Raises:
        AssertionError: no configuration.
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Linear

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Configuration | None = None,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.weight_fake_quant = weight_quantizer(qconfig, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats; they share weight and bias.

        Raises:
            AssertionError: another module; no configuration.
        """
        if type_before_parametrizations(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(
                f"qat.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}, "
                f"got {type_before_parametrizations(mod).__name__}"
            )
        qconfig = configuration_of(mod)
        if type_before_parametrizations(mod) is fused.LinearReLU:
            mod = next(mod.children())
        made = cls(mod.in_features, mod.out_features, bias=mod.bias is not None, qconfig=qconfig)
        for name in ("weight", "bias"):
            if is_parametrized(mod, name):
                transfer_parametrizations_and_params(mod, made, name)
            else:
                setattr(made, name, getattr(mod, name))
        return made

    def to_float(self) -> Module:
        """The float layer, with the same weight and bias."""
        made = floats.Linear(self.in_features, self.out_features, self.bias is not None)
        made.weight = Parameter(self.weight.detach())
        if self.bias is not None:
            made.bias = Parameter(self.bias.detach())
        made.train(self.training)
        return made
