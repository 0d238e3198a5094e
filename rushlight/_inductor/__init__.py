"""`torch._inductor`: a compiler that is not here, and its settings."""

from __future__ import annotations

from . import config

__all__ = ["config"]
