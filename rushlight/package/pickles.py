"""Pickled objects of packages: classes by the importer's modules, storages beside the code."""

from __future__ import annotations

from pickle import PicklingError
from typing import Any, Protocol

from ..serialization.pickles.nodes import StorageNode
from ..serialization.pickles.object_names import member, present_name
from ..serialization.pickles.tensors import StorageReader, StorageTable
from ..serialization.weights.objects import ObjectsReader
from ..serialization.weights.save import ObjectsWriter
from .importer import Importer, ObjMismatchError, ObjNotFoundError

__all__ = ["PackageReader", "PackageWriter", "SUFFIX"]

SUFFIX = ".storage"
"""The end of the names of records that hold storages."""

_ROOT = __name__.partition(".")[0]


class Modules(Protocol):
    """The importer that a pickle is read for."""

    def import_module(self, name: str) -> object:
        """A module of the package, or one outside that it may have."""


class PackageReader(ObjectsReader):
    """Reads a pickle of a package, which may import and call anything."""

    def __init__(self, data: bytes, title: str, storages: StorageReader, importer: Modules) -> None:
        super().__init__(data, title, storages)
        self._importer = importer
        self._reduced: dict[int, object] = {}

    def named(self, module: str, name: str) -> object:
        if module.partition(".")[0] == "torch":
            return super().named(module, name)
        module, name = present_name(module, name)
        return member(self._importer.import_module(module), name)

    def persistent(self) -> None:
        match self.stack[-1]:
            case ("reduce_package", int(number), make, tuple(arguments)):
                if number not in self._reduced:
                    self._reduced[number] = make(self._importer, *arguments)
                self.stack[-1] = self._reduced[number]
            case ("reduce_package", make, tuple(arguments)):  # before objects had numbers
                self.stack[-1] = make(self._importer, *arguments)
            case _:
                super().persistent()

    def storage(self, root: StorageNode, view: list[object]) -> Any:
        key = root.key + SUFFIX
        return super().storage(StorageNode(root.kind, key, root.location, root.numel), view)


class PackageWriter(ObjectsWriter):
    """Writes a pickle of a package; `names` are the classes and functions it speaks of."""

    def __init__(self, storages: StorageTable, importer: Importer, exporter: object) -> None:
        super().__init__(storages)
        self._importer = importer
        self._exporter = exporter
        self.names: dict[tuple[str, str], None] = {}

    def compound(self, value: object) -> None:
        said = getattr(value, "__reduce_package__", None)
        if said is None or isinstance(value, type):
            super().compound(value)
            return
        make, arguments = said(self._exporter)
        self.out += b"("
        self.text("reduce_package")
        self.integer(len(self.kept))
        self.write(make)
        self.tuple(*arguments)
        self.out += b"tQ"

    def name_of(self, value: object, name: str = "") -> tuple[str, str]:
        if getattr(value, "__module__", "").partition(".")[0] == _ROOT:
            return super().name_of(value, name)
        try:
            return self._importer.get_name(value, name or None)
        except (ObjNotFoundError, ObjMismatchError) as error:
            raise PicklingError(f"Can't pickle {value}: {error}") from None

    def name(self, module: str, name: str) -> None:
        self.names[present_name(module, name)] = None
        super().name(module, name)

    def storage(self, storage: StorageNode, itemsize: int | None) -> None:
        key = storage.key.removesuffix(SUFFIX)
        plain = StorageNode(storage.kind, key, storage.location, storage.numel)
        super().storage(plain, itemsize)
