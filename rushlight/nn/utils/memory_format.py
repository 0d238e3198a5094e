"""Weights of convolutions laid out otherwise in memory."""

from __future__ import annotations

from typing import TypeVar

from ...ops.memory.dtype import MemoryFormat
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Module)


def convert_conv2d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """Lay out the weights of all `Conv2d` and `ConvTranspose2d` in the module, in place."""
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """Lay out the weights of all `Conv3d` and `ConvTranspose3d` in the module, in place."""
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)


def _convert(module: M, kinds: tuple[type[Module], ...], memory_format: MemoryFormat) -> M:
    for inner in module.modules():
        if isinstance(inner, kinds):
            weight = inner.weight
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module
