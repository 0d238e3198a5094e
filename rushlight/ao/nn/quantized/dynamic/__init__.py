"""Layers of quantized weights that quantize their inputs by the range of each call."""

from __future__ import annotations

from . import modules
from .modules import *  # noqa: F403

__all__ = ["modules", *modules.__all__]
