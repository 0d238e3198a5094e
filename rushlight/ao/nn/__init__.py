"""`torch.ao.nn`: layers of quantized models; importable, and refused by name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["intrinsic", "qat", "quantizable", "quantized"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
