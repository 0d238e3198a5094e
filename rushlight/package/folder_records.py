"""A package whose files lie in a folder, as an unpacked archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

__all__ = ["FolderRecords"]


class FolderRecords:
    """The files of a folder as the records of an archive; nothing outside of it is one."""

    byteorder = "little"

    def __init__(self, folder: Path) -> None:
        self.title = str(folder)
        found = (path for path in sorted(folder.rglob("*")) if path.is_file())
        self._paths = {path.relative_to(folder).as_posix(): path for path in found}

    def __contains__(self, record: str) -> bool:
        return record in self._paths

    has_record = __contains__

    def file_of(self, record: str) -> Path | None:
        """Where the file lies; None if there is none of that name."""
        return self._paths.get(record)

    def records(self, folder: str = "") -> Iterator[str]:
        """The names of the records in a folder."""
        return (record for record in self._paths if record.startswith(folder))

    def size(self, record: str) -> int:
        """The number of bytes of a record."""
        return self._paths[record].stat().st_size

    def read(self, record: str) -> bytes:
        """The bytes of a record."""
        return self._paths[record].read_bytes()

    def read_into(self, record: str, target: memoryview) -> None:
        """Fill `target` with the first bytes of a record."""
        target[:] = self.read(record)[: len(target)]

    def mapped(self, record: str, alignment: int) -> memoryview | None:
        """Records of a folder are read, never mapped."""
        return None
