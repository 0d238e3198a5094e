"""Classes whose modules are made of others, as quantization exchanges them."""

from __future__ import annotations

from typing import Protocol

from ...nn.modules.module import Module

__all__ = ["FromFloat", "FromObserved"]


class FromFloat(Protocol):
    """A class of modules that are made of float ones."""

    def from_float(self, mod: Module, /, use_precomputed_fake_quant: bool = False) -> Module:
        """The module of another."""


class FromObserved(Protocol):
    """A class of modules that are made of ones that have observed what they are given."""

    def from_observed(self, other: Module, /) -> Module:
        """The module of another."""
