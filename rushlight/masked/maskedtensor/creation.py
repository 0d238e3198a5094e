"""Tensors with masks, made of tensors."""

from __future__ import annotations

from typing import Any

from . import MaskedTensor

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """A copy of data with a mask, as a leaf (see `MaskedTensor`)."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """The same, through which gradients go to the data: plain ones, zeros where nothing counts."""
    return MaskedTensor._from_values(data, mask)
