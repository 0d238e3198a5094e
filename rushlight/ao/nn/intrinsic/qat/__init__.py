"""Fused layers that round their weights as quantization would, for training with it."""

from __future__ import annotations

from . import modules
from .modules import *  # noqa: F403

__all__ = modules.__all__
