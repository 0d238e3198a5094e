"""`torch._inductor`: a compiler that is not here, and its settings."""

from __future__ import annotations

from ..module_names import names_of

__all__: list[str] = []

__getattr__ = names_of(__name__, "codecache", "config")
