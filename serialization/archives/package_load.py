"""The TorchScript modules in a `torch.package` archive.

Packages keep scripted modules beside their pickled objects: `.data/ts_code/N/` holds the data of
module N, `.data/ts_code/code/` the code of all, `.data/` the storages.  The Python of a package is
never looked at here.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...frontend.foundations.made_once import made_once
from ...typecheck.definitions.names import Constant
from ..files.container import ArchiveReader
from ..loading.loader import Loader
from ..pickles.nodes import ObjectNode
from ..pickles.read_values import ValueReader
from ..pickles.tensors import StorageReader

__all__ = ["DATA", "PackageLoader", "SCRIPTS", "holds_scripts"]

DATA = ".data/"
"""Where a package keeps what is no file of the program: storages, scripted modules, lists."""

SCRIPTS = f"{DATA}ts_code/"


def holds_scripts(archive: ArchiveReader) -> bool:
    """Whether it is a package with TorchScript in it."""
    return "data.pkl" not in archive and any(True for _ in archive.records(SCRIPTS))


class PackageLoader(Loader):
    """Opens a package that holds one scripted module, or the one of a number."""

    needed = (f"{DATA}extern_modules",)
    code_folder = f"{SCRIPTS}code/"
    is_all_code = False

    number: str | None = None
    storages: StorageReader | None = None

    @classmethod
    def of_module(
        cls, archive: ArchiveReader, number: str, storages: StorageReader
    ) -> PackageLoader:
        """What opens the module of a number, whose code is trusted.

        Args:
            storages: what has read storages of the package before; tensors share their memory.
        """
        loader = cls(archive, archive.limits, trusted=True, mapped=False)
        loader.number, loader.storages = number, storages
        return loader

    def storage_reader(self, folder: str) -> StorageReader:
        """See `Loader`."""
        return self.storages or super().storage_reader(folder)

    def constant_values(self) -> Sequence[Constant]:
        """See `Loader`."""
        return self.constants_of(f"{self._module}constants.pkl", DATA)

    def root(self) -> ObjectNode:
        """See `Loader`."""
        return self.object_of(f"{self._module}data.pkl")

    def root_reader(self) -> ValueReader:
        """See `Loader`."""
        return self.reader(f"{self._module}data.pkl", DATA)

    @made_once
    def _module(self) -> str:
        """The folder of the module.

        Raises:
            ArchiveError: there are several, or none.
        """
        if self.number is not None:
            return f"{SCRIPTS}{self.number}/"
        records = (record.removeprefix(SCRIPTS) for record in self.archive.records(SCRIPTS))
        found = [record.partition("/")[0] for record in records if record.endswith("/data.pkl")]
        if len(found) != 1:
            how_many = f"{len(found)} scripted modules" if found else "no scripted module"
            raise self.error(
                "unsupported-value",
                f"is a `torch.package` archive that holds {how_many}; it is read if it holds one",
                help="`torch.package.PackageImporter` opens packages that are trusted",
            )
        return f"{SCRIPTS}{found[0]}/"
