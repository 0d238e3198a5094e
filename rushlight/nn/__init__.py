"""`torch.nn`: modules, layers, and functions."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from . import functional, init, modules, parallel
from .modules import *  # noqa: F403
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "parallel",
]
__all__ += modules.__all__


def __getattr__(name: str) -> ModuleType:
    if name == "attention":
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
