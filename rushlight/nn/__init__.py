"""`torch.nn`: modules, layers, and functions."""

from __future__ import annotations

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
