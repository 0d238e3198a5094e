"""`torch.xpu` on a machine without one: programs ask whether it is there, and are told no."""

from __future__ import annotations

from .absent_devices import names_without
from .module_names import names_of

globals().update(names_without("XPU"))
__all__ = sorted(names_without("XPU"))
__getattr__ = names_of(__name__)
