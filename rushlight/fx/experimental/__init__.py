"""`torch.fx.experimental`: further passes, and tracing below gradients, which is refused."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...module_names import names_of

_LATER = ("const_fold", "normalize", "optimization", "proxy_tensor")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module(f".{name}", __name__)
    return names_of(__name__)(name)
