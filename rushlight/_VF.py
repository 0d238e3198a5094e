"""`torch._VF`: the operators at the top of torch by their names, as its own functions call them."""

from __future__ import annotations

from ._C.variable_functions import _VariableFunctions

__all__: list[str] = []


def __getattr__(name: str) -> object:
    return getattr(_VariableFunctions, name)
