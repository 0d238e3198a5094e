"""What layers ask of the configuration by which they are quantized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...nn.modules.module import Module

__all__ = ["Configuration", "configuration_of", "weight_quantizer"]


class Configuration(Protocol):
    """What makes the observers of a layer, as `QConfig` does."""

    @property
    def activation(self) -> Callable[..., Module]:
        """Makes what observes its results."""

    @property
    def weight(self) -> Callable[..., Module]:
        """Makes what observes its weight."""


def configuration_of(module: Module) -> Configuration:
    """That of a layer of floats which is to become another one.

    Raises:
        AssertionError: it has none.
    """
    if not hasattr(module, "qconfig"):
        raise AssertionError("Input float module must have qconfig defined")
    found: Configuration | None = module.qconfig
    if not found:
        raise AssertionError("Input float module must have a valid qconfig")
    return found


def weight_quantizer(qconfig: Configuration, device: object, dtype: object) -> Module:
    """What rounds the weight of a layer that is made for a device, or of a dtype."""
    made = {"device": device, "dtype": dtype}
    if all(each is None for each in made.values()):
        return qconfig.weight()
    return qconfig.weight(factory_kwargs=made)
