"""Where values are quantized and given back as floats; nothing until a model is converted."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING

from ...nn.modules.module import Module
from ...ops.tensors.tensor import Tensor

if TYPE_CHECKING:
    from .qconfig import QConfig

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class QuantStub(Module):
    """An observer before conversion, `nn.quantized.Quantize` after.

    Args:
        qconfig: how; that of the modules around it if none is given.
    """

    def __init__(self, qconfig: QConfig | None = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        return x


class DeQuantStub(Module):
    """Nothing before conversion, `nn.quantized.DeQuantize` after.

    Args:
        qconfig: how; that of the modules around it if none is given.
    """

    def __init__(self, qconfig: object | None = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        return x


class QuantWrapper(Module):
    """A module with a stub before it and one after it, which have its configuration.

    Args:
        module: the module; its configuration and mode are taken over.
    """

    quant: QuantStub
    dequant: DeQuantStub
    module: Module

    def __init__(self, module: Module) -> None:
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Tensor) -> Tensor:
        X = self.quant(X)
        X = self.module(X)
        return self.dequant(X)
