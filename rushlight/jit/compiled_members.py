"""Methods that compiled modules have, found by their names on the class `ScriptModule` as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.names import PythonName

__all__ = ["compiled_members", "python_methods"]

_NAMES: Final = """graph_for save save_to_buffer _save_for_lite_interpreter
    _save_to_buffer_for_lite_interpreter""".split()
"""Methods alone: properties of a module's class are compiled with it."""


class _Member:
    """One of them: on the class as the class of compiled modules has it."""

    def __init__(self, name: str, compiled: Callable[[], type]) -> None:
        self._name, self._compiled = name, compiled

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return getattr(self._compiled(), self._name)
        raise AttributeError(self._name)  # for which `__getattr__` asks the compiled module


def compiled_members(compiled: Callable[[], type]) -> dict[str, object]:
    """The methods by their names; `compiled` gives the class that has them."""
    return {name: _Member(name, compiled) for name in _NAMES}


def python_methods(module: object, cls: ClassType) -> dict[str, object]:
    """The methods of a compiled module that were left to Python, by their names."""
    names = [name for name in dir(module) if isinstance(cls.other(name), PythonName)]
    return {name: getattr(module, name) for name in names}
