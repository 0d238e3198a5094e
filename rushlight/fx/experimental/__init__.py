"""`torch.fx.experimental`: further passes, and tracing below gradients, which is refused."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_LATER = ("const_fold", "normalize", "optimization", "proxy_tensor")


def __getattr__(name: str) -> ModuleType:
    if name in _LATER:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
