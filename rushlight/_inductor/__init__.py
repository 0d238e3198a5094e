"""`torch._inductor`: a compiler that is not here, and its settings."""

from __future__ import annotations

from ..module_names import names_of
from . import config

__all__ = ["config"]

__getattr__ = names_of(__name__)
