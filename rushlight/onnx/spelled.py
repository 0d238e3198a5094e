"""Operators that are written as programs of others: see `spelled.script`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from ..jit.unit import CompilationUnit
from ..ops.table.table import TABLE
from ..typecheck.definitions.functions import Function

__all__ = ["operators", "spelled"]

_TEXT: Final = Path(__file__).with_suffix(".script")


@cache
def _names() -> frozenset[str]:
    lines = _TEXT.read_text("utf-8").splitlines()
    return frozenset(line[4 : line.index("(")] for line in lines if line.startswith("def "))


@cache
def _unit() -> CompilationUnit:
    # the text finds `torch` here, among the names of who compiles it
    torch = import_module(__name__.partition(".")[0])  # noqa: F841
    return CompilationUnit(_TEXT.read_text("utf-8"))


def operators() -> set[str]:
    """The operators that have programs, without their namespace and overload."""
    declared = TABLE.names()
    return {
        base for base in (n.partition("__")[0] for n in _names()) if f"aten::{base}" in declared
    }


def spelled(full_name: str) -> Function | None:
    """The program that computes what an operator does, by its full name; None if there is none."""
    namespace, _, name = full_name.partition("::")
    base, _, overload = name.partition(".")
    for each in (f"{base}__{overload}", base):
        if namespace == "aten" and each in _names():
            found: Function = getattr(_unit(), each)._rushlight_function
            return found
    return None
