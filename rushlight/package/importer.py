"""`torch.package.importer`: where modules, and the classes and functions in them, come from."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from ..serialization.pickles.object_names import member
from ._mangling import demangle, get_mangle_prefix, is_mangled

__all__ = ["Importer", "ObjMismatchError", "ObjNotFoundError", "OrderedImporter", "sys_importer"]


class ObjNotFoundError(Exception):
    """An object is not found in the module that it names."""


class ObjMismatchError(Exception):
    """Another object stands under an object's name."""


class Importer(ABC):
    """A world of modules: Python's own, or that of a package."""

    @abstractmethod
    def import_module(self, module_name: str) -> ModuleType:
        """The module of a name, without the prefix of a package.

        Raises:
            ModuleNotFoundError: there is none in this world.
        """

    def get_name(self, obj: Any, name: str | None = None) -> tuple[str, str]:
        """The module and the name under which this world has an object.

        Raises:
            ObjNotFoundError: it has nothing of that name.
            ObjMismatchError: it has something else.
        """
        name = name or getattr(obj, "__qualname__", None) or obj.__name__
        holder = self.whichmodule(obj, name)
        module_name = demangle(holder)
        try:
            found = member(self.import_module(module_name), name)
        except (ImportError, KeyError, AttributeError):
            raise ObjNotFoundError(f"{obj} was not found as {module_name}.{name}") from None
        if found is obj:
            return module_name, name
        raise ObjMismatchError(_mismatch(holder, self.whichmodule(found, name)))

    def whichmodule(self, obj: object, name: str) -> str:
        """The name of the module that an object says it is of, or that has it under its name."""
        said = getattr(obj, "__module__", None)
        if said is not None:
            return str(said)
        for module_name, module in dict(sys.modules).items():
            if module_name != "__main__" and getattr(module, name, None) is obj:
                return module_name
        return "__main__"


def _mismatch(mine: str, other: str) -> str:
    def where(module: str) -> tuple[str, str]:
        if not is_mangled(module):
            return "the current Python environment", "'sys_importer'"
        prefix = get_mangle_prefix(module)
        return prefix, f"the importer for {prefix}"

    (from_here, importer), (from_there, others) = where(mine), where(other)
    return (
        f"\n\nThe object provided is from '{mine}', which is coming from {from_here}."
        f"\nHowever, when we import '{other}', it's coming from {from_there}."
        f"\nTo fix this, make sure this 'PackageExporter's importer lists {importer} before "
        f"{others}."
    )


class _SysImporter(Importer):
    """Python's own modules."""

    def import_module(self, module_name: str) -> ModuleType:
        return import_module(module_name)


sys_importer: Final = _SysImporter()


class OrderedImporter(Importer):
    """Several worlds, asked in order."""

    def __init__(self, *args: Importer) -> None:
        self._importers: Final = list(args)

    def import_module(self, module_name: str) -> ModuleType:
        refusal: ModuleNotFoundError | None = None
        for importer in self._importers:
            if not isinstance(importer, Importer):
                raise TypeError(
                    f"{importer} is not a Importer. All importers in OrderedImporter must inherit "
                    "from Importer."
                )
            try:
                module = importer.import_module(module_name)
            except ModuleNotFoundError as error:
                refusal = error
            else:
                if not _is_only_a_folder(module):
                    return module
        if refusal is not None:
            raise refusal
        raise ModuleNotFoundError(module_name)

    def get_name(self, obj: object, name: str | None = None) -> tuple[str, str]:
        refusal: Exception | None = None
        for importer in self._importers:
            try:
                return importer.get_name(obj, name)
            except (ObjNotFoundError, ObjMismatchError) as error:
                refusal = error
        raise refusal or ObjNotFoundError(str(obj))

    def whichmodule(self, obj: object, name: str) -> str:
        asked = (importer.whichmodule(obj, name) for importer in self._importers)
        return next((module for module in asked if module != "__main__"), "__main__")


def _is_only_a_folder(module: ModuleType) -> bool:
    """Whether a package has a module only because others lie below it."""
    return getattr(module, "__torch_package__", False) and module.__file__ is None
