"""Layers for training of what is quantized by the range of each call."""

from __future__ import annotations

from . import modules
from .modules import Linear

__all__ = ["Linear", "modules"]
