"""`torch.masked.maskedtensor`: tensors with a mask, and what functions make of them."""

from __future__ import annotations

from ...module_names import names_of
from . import binary, conversions, passthrough, reductions, unary
from .core import MaskedTensor, is_masked_tensor

__all__ = ["MaskedTensor", "is_masked_tensor"]

_KINDS = (binary, conversions, passthrough, reductions, unary)
"""Each of them tells the class its functions."""

__getattr__ = names_of(__name__, "creation")
