"""`torch._C._VariableFunctions`: what holds the operators at the top of torch, as pickles say."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from ..ops.eager.dispatch import EagerFunction, eager_function
from ..ops.table.table import TABLE

__all__ = ["_VariableFunctions", "_VariableFunctionsClass"]


class _Operators(type):
    """Finds operators by their names: as torch has them at its top, or else as they are declared,
    where torch's function is written in Python around the operator."""

    def __getattr__(cls, name: str) -> Any:
        torch = import_module("..", __package__)
        found = None if name.startswith("__") else getattr(torch, name, None)
        if isinstance(found, EagerFunction):
            return found
        declared = eager_function(f"aten::{name}") if TABLE.operators(f"aten::{name}") else None
        if declared is not None and declared.forms:
            return declared
        if found is not None and (name in _ABOUT_DTYPES or name.startswith("_foreach_")):
            return found
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")


_ABOUT_DTYPES: Final = ("can_cast", "promote_types", "result_type")


class _VariableFunctionsClass(metaclass=_Operators):
    """Holds `relu` and its like."""


_VariableFunctions = _VariableFunctionsClass
