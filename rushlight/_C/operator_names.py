"""Operators whose names begin alike, as members of a module."""

from __future__ import annotations

from collections.abc import Callable

from ..ops.eager.dispatch import EagerFunction, eager_function
from ..ops.table.table import TABLE

__all__ = ["operators_named"]


def operators_named(module: str, begin: str) -> Callable[[str], EagerFunction]:
    """The `__getattr__` of a module that has the operators whose names begin so."""

    def member(name: str) -> EagerFunction:
        if name.startswith(begin) and TABLE.operators(f"aten::{name}"):
            return eager_function(f"aten::{name}")
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return member
