"""What layers ask of the configuration by which they are quantized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...nn.modules.module import Module

__all__ = ["Configuration"]


class Configuration(Protocol):
    """What makes the observers of a layer, as `QConfig` does."""

    @property
    def activation(self) -> Callable[..., Module]:
        """Makes what observes its results."""

    @property
    def weight(self) -> Callable[..., Module]:
        """Makes what observes its weight."""
