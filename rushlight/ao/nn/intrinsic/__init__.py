"""Layers fused to one: several modules that are quantized as one."""

from __future__ import annotations

from ....module_names import names_of
from .modules import fused
from .modules.fused import *  # noqa: F403
from .modules.fused import _FusedModule as _FusedModule

__all__ = fused.__all__

__getattr__ = names_of(__name__, "modules", "qat", "quantized")
