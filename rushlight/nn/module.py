"""`Module`, where the rest of rushlight imports it from."""

from __future__ import annotations

from .modules.module import Module

__all__ = ["Module"]
