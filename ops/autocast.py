"""Lower precision that is chosen by itself: never here, but archives ask."""

from __future__ import annotations

from .table import operator

__all__: list[str] = []


@operator("aten::is_autocast_enabled() -> bool", "aten::is_autocast_cpu_enabled() -> bool")
def never() -> bool:
    return False
