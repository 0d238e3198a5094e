"""Fused layers that quantize their inputs by the range of each call."""

from __future__ import annotations

from . import modules
from .modules import LinearReLU

__all__ = ["LinearReLU", "modules"]
