"""`torch.nn`: modules, layers, and functions."""

from __future__ import annotations

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

__getattr__ = names_of(__name__, "attention", "grad", "parallel")  # which few programs need
