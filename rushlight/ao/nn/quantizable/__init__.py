"""`torch.ao.nn.quantizable`: layers made of parts that can be observed and quantized."""

from __future__ import annotations

from . import modules
from .modules import *  # noqa: F403

__all__ = ["modules", *modules.__all__]
