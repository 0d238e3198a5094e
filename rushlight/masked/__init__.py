"""Reductions that leave masked elements out; the names are those of `torch.masked`."""

from __future__ import annotations

from typing import Any

from .module_names import names_of
from .ops.eager import namespace as _namespace  # gives tensors their methods
from .ops.eager.masked import FUNCTIONS as _FUNCTIONS

__all__ = sorted(_FUNCTIONS)

assert _namespace


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    return names_of(__name__)(name)


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)
