"""Channels in another order."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import ClassVar

from ...ops.tensors.tensor import Tensor
from .. import functional
from .module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """The channels of (N, C, *), taken from `groups` groups in turn."""

    __constants__: ClassVar[list[str]] = ["groups"]
    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
