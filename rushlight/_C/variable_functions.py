"""`torch._C._VariableFunctions`: what holds the operators at the top of torch, as pickles say."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..ops.eager.dispatch import EagerFunction

__all__ = ["_VariableFunctions", "_VariableFunctionsClass"]


class _Operators(type):
    """Finds operators by their names."""

    def __getattr__(cls, name: str) -> Any:
        found = None if name.startswith("__") else getattr(import_module("..", __package__), name)
        if not isinstance(found, EagerFunction):
            raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
        return found


class _VariableFunctionsClass(metaclass=_Operators):
    """Holds `relu` and its like."""


_VariableFunctions = _VariableFunctionsClass
