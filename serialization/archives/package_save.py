"""The scripted modules of a `torch.package` archive; `package_load.py` says where they lie."""

from __future__ import annotations

from collections.abc import Iterator

from ...interpreter.values.objects import ScriptObject
from ...typecheck.definitions.class_types import ClassType
from ..files.errors import archive_error, within_limits
from ..loading.loader import run
from ..pickles.tensors import StorageTable
from ..pickles.writer import write_pickle
from ..printing.classes import print_unit
from ..printing.types import TypeNames
from ..saving.save import code_records, pickled_constants, savable
from ..saving.write_values import ValueWriter
from .package_load import SCRIPTS

__all__ = ["ScriptModules"]


class ScriptModules:
    """Scripted modules, each with data of its own; they share code, constants and `storages`."""

    def __init__(self, storages: StorageTable) -> None:
        self._storages = storages
        self._objects: list[ScriptObject] = []

    def add(self, module: ScriptObject) -> str:
        """Take in a module, once; its number."""
        known = (number for number, each in enumerate(self._objects) if each is module)
        number = next(known, len(self._objects))
        if number == len(self._objects):
            self._objects.append(module)
        return str(number)

    @within_limits("the package")
    def records(self) -> list[tuple[str, bytes]]:
        """The records of all modules; their storages are in the table afterwards.

        Raises:
            ArchiveError: something has no form in an archive.
        """
        with savable():
            return list(self._records()) if self._objects else []

    def _records(self) -> Iterator[tuple[str, bytes]]:
        names = TypeNames(unique=True)
        for module in self._objects:
            names.name_of(module.cls)
        data = ValueWriter(self._storages, names, run)
        pickles = [write_pickle(data.node(module, module.cls)) for module in self._objects]
        roots = dict.fromkeys([*(module.cls for module in self._objects), *data.classes])
        for cls in roots:
            if isinstance(cls, ClassType):
                _check_trust(cls)
        unit = print_unit(*roots, names=names)
        constants = pickled_constants(unit, self._storages)
        for number, pickled in enumerate(pickles):
            yield f"{SCRIPTS}{number}/data.pkl", pickled
            yield f"{SCRIPTS}{number}/constants.pkl", constants
        yield from code_records(unit.files, f"{SCRIPTS}code/")


def _check_trust(cls: ClassType) -> None:
    """Refuse code that nobody vouches for: whoever imports a package runs its code without bounds.

    Raises:
        ArchiveError: a method of the class is such code.
    """
    for name, method in cls.methods.items():
        if method.guard is not None:
            raise archive_error(
                "unsupported-value",
                f"this cannot be put into a package: the code of `{cls.qualified_name}.{name}` is "
                "not trusted, and importing a package trusts all of it",
                help="save it by `torch.jit.save`; who loads that says whom he trusts",
            )
