"""The switches of `torch.__future__`, where `Module` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["REPLACEMENT"]


@dataclass
class _Replacement:
    """How a module's parameters get new contents."""

    overwrite: bool = False
    swap: bool = False


REPLACEMENT: Final = _Replacement()
