"""The TorchScript module in a `torch.package` archive.

Packages keep scripted modules beside their pickled objects: `.data/ts_code/N/` holds the data of
module N, `.data/ts_code/code/` the code of all, `.data/` the storages.  The Python of a package is
never looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...frontend.made_once import made_once
from ..files.container import ArchiveReader
from ..loading.loader import Loader
from ..pickles.nodes import ObjectNode
from ..pickles.read_values import ValueReader

__all__ = ["PackageLoader", "holds_scripts"]

_FOLDER = ".data/ts_code/"


def holds_scripts(archive: ArchiveReader) -> bool:
    """Whether it is a package with TorchScript in it."""
    return "data.pkl" not in archive and any(True for _ in archive.records(_FOLDER))


class PackageLoader(Loader):
    """Opens a package that holds one scripted module."""

    needed = (".data/extern_modules",)
    code_folder = f"{_FOLDER}code/"

    def constant_values(self) -> Sequence[object]:
        """See `Loader`."""
        return self.constants_of(f"{self._module}constants.pkl", ".data/")

    def root(self) -> ObjectNode:
        """See `Loader`."""
        return self.object_of(f"{self._module}data.pkl")

    def root_reader(self) -> ValueReader:
        """See `Loader`."""
        return self.reader(f"{self._module}data.pkl", ".data/")

    @made_once
    def _module(self) -> str:
        """The folder of the module.

        Raises:
            ArchiveError: there are several, or none.
        """
        records = (record.removeprefix(_FOLDER) for record in self.archive.records(_FOLDER))
        found = [record.partition("/")[0] for record in records if record.endswith("/data.pkl")]
        if len(found) != 1:
            how_many = f"{len(found)} scripted modules" if found else "no scripted module"
            raise self.error(
                "unsupported-value",
                f"is a `torch.package` archive that holds {how_many}; it is read if it holds one",
            )
        return f"{_FOLDER}{found[0]}/"
