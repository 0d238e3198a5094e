"""Dropout over quantized tensors, which gives them back."""

from __future__ import annotations

from typing import Self

from .....nn.modules import dropout as floats
from .....nn.modules.module import Module
from .....ops.tensors.tensor import Tensor

__all__ = ["Dropout"]


class Dropout(floats.Dropout):
    """`nn.Dropout` in evaluation."""

    def forward(self, input: Tensor) -> Tensor:
        return input

    def _get_name(self) -> str:
        return "QuantizedDropout"

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats."""
        return cls(mod.p, mod.inplace)

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The layer of one in floats."""
        return cls(mod.p, mod.inplace)
