"""Special functions of mathematics; the names are those of `torch.special`."""

from __future__ import annotations

from typing import Any

from .ops.eager.namespace import names_with_prefix
from .ops.eager.unknown_names import unknown_in_module

_NAMES = names_with_prefix("special_")

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return _NAMES[name]
    raise unknown_in_module(__name__, name, __dir__)


def __dir__() -> list[str]:
    return sorted(_NAMES)
