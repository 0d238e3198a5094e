"""`torch.ao.nn.quantized`: layers that compute with quantized tensors."""

from __future__ import annotations

from ....module_names import names_of
from . import functional, modules
from .modules import *  # noqa: F403

__all__ = ["functional", *modules.__all__]

__getattr__ = names_of(__name__, "dynamic")
