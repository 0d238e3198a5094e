"""`torch.nn`: modules, layers, and functions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..module_names import names_of
from . import functional, init, modules
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
]
__all__ += modules.__all__


def __getattr__(name: str) -> Any:
    if name in ("attention", "parallel"):  # which few programs need
        return import_module(f".{name}", __name__)
    if name == "DataParallel":
        return import_module(".parallel", __name__).DataParallel
    return names_of(__name__)(name)
