"""Opening flatbuffers as TorchScript archives: the files of mobile modules hold code as well.

The objects are those of the mobile module, the code is what `torch.jit.save` would have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...typecheck.definitions.names import Constant
from ..files.identify import MOBILE_FLATBUFFER, FileKind
from ..loading.loader import Loader
from ..pickles.nodes import ObjectNode
from ..pickles.read_values import ValueReader
from .contents import MobileContents

__all__ = ["FlatbufferLoader", "FlatbufferRecords"]


class FlatbufferRecords:
    """What a flatbuffer holds, as the records of an archive; values are none of them."""

    byteorder = "little"

    def __init__(self, contents: MobileContents, length: int) -> None:
        self.contents = contents
        self.title = contents.title
        self.length = length
        self._records: dict[str, Callable[[], bytes]] = {
            "version": f"{contents.version}".encode,
            **{f"extra/{name}": read for name, read in contents.extra.items()},
        }
        for namespace, text in contents.code.items():
            record = f"code/{namespace.replace('.', '/')}.py"
            self._records[record] = _encoded(text)

    def __contains__(self, record: str) -> bool:
        return record in self._records

    def kind(self) -> FileKind:
        """What kind of file it is."""
        return MOBILE_FLATBUFFER

    def records(self, folder: str = "") -> Iterator[str]:
        """The names of the records in a folder."""
        return (record for record in self._records if record.startswith(folder))

    def read(self, record: str) -> bytes:
        """The bytes of a record."""
        return self._records[record]()

    def size(self, record: str) -> int:
        """The number of bytes of a record."""
        return len(self.read(record))

    def read_into(self, record: str, target: memoryview) -> None:
        """Fill `target` with the first bytes of a record."""
        target[:] = self.read(record)[: len(target)]

    def mapped(self, record: str, alignment: int) -> None:
        """Records are no part of the file as they are."""
        return None


class FlatbufferLoader(Loader):
    """Opens one flatbuffer."""

    needed = ()
    is_all_code = False
    archive: FlatbufferRecords

    def constant_values(self) -> Sequence[Constant]:
        """The values that code calls `CONSTANTS.c0` and so on."""
        reader = self.root_reader()
        return [self.constant(node, reader) for node in self.archive.contents.code_constants]

    def weights(self) -> int:
        """The bytes of the file, twice."""
        return 2 * self.archive.length

    def root(self) -> ObjectNode:
        """The module."""
        root = self.archive.contents.root()
        if not isinstance(root, ObjectNode):
            raise self.archive.contents.damaged("there is no module")
        if not self.archive.contents.code:
            raise self.error(
                "not-an-archive",
                "is a mobile module without code files",
                help="load it with `jit.mobile._load_for_lite_interpreter`",
            )
        return root

    def root_reader(self) -> ValueReader:
        """What makes the values."""
        contents = self.archive.contents
        storages = contents.storages
        storages.without_data, storages.only_here = self.without_data, self.only_here
        return ValueReader(
            storages, self.importer.type_named, self.call, contents.part, self.limits
        )


def _encoded(text: str) -> Callable[[], bytes]:
    return lambda: text.encode("utf-8", "surrogateescape")
