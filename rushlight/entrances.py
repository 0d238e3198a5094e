"""The packages that programs enter the library by: what they load is set apart, as
`frontend/foundations/own_objects.py` says."""

from __future__ import annotations

import gc
from collections.abc import Collection, Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

__all__ = ["Entrances", "imported"]


def imported(name: str, package: str) -> ModuleType:
    """A module of ours, with all that it imports."""
    from .frontend.foundations.own_objects import apart

    return apart(partial(import_module, name, package))


class Entrances:
    """Finds packages of ours where a program imports one (`import rushlight.nn`)."""

    def __init__(self, parent: str, names: Collection[str]) -> None:
        self._parent, self._names = parent, frozenset(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: object = None
    ) -> ModuleSpec | None:
        """How such a package is loaded; None of others, or if others are being loaded already."""
        parent, _, name = fullname.rpartition(".")
        if parent != self._parent or name not in self._names or not gc.isenabled():
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            _load_apart(spec.loader)
        return spec


def _load_apart(loader: SourceFileLoader) -> None:
    """Have a loader do its work apart."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        from .frontend.foundations.own_objects import apart

        del loader.exec_module
        apart(partial(execute, module))

    loader.exec_module = exec_module  # type: ignore[method-assign]
