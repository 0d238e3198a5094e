"""`torch.xpu` on a machine without one: programs ask whether it is there, and are told no."""

from __future__ import annotations

from typing import Any

from .absent_devices import names_without
from .module_names import names_of

_NAMES = names_without("XPU")
__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return _NAMES[name]
    return names_of(__name__)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
