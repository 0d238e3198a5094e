"""Dropout as modules: in training, parts of the input are set to 0 at random."""

from __future__ import annotations

from typing import ClassVar

from ...ops.tensors.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """What all have in common: the probability, and whether to work in place."""

    __constants__: ClassVar[list[str]] = ["p", "inplace"]
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Elements set to 0 with probability `p`, the others scaled by 1 / (1 - p)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Whole channels of (N, C, L) or (C, L) set to 0 with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Whole channels of (N, C, H, W) set to 0 with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) set to 0 with probability `p`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance of what `SELU` gives."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.feature_alpha_dropout(input, self.p, self.training)
