"""Tensors with masks, made of tensors."""

from __future__ import annotations

from ...ops.tensors.tensor import Tensor
from . import MaskedTensor

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """A copy of data with a mask, as a leaf (see `MaskedTensor`)."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """The same, through which gradients go to the data: plain ones, zeros where nothing counts."""
    return MaskedTensor._from_values(data, mask)
