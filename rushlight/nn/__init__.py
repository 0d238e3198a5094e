"""`torch.nn`: modules, layers, and functions."""

from __future__ import annotations

from . import functional, init, modules
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init"]
__all__ += modules.__all__
