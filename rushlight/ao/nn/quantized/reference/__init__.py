"""Layers in floats that say how their weights are to be quantized, and compute with those."""

from __future__ import annotations

from .....module_names import names_of
from . import modules
from .modules import *  # noqa: F403

__all__ = list(modules.__all__)

__getattr__ = names_of(__name__)
