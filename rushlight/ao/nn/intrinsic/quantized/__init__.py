"""Fused layers over quantized tensors."""

from __future__ import annotations

from .....module_names import names_of
from . import modules
from .modules import *  # noqa: F403

__all__ = modules.__all__

__getattr__ = names_of(__name__, "dynamic")
