"""Reading the zip container of an archive.

An archive is an ordinary zip file whose entries all lie in one top folder; what is below the folder
is called a record here (`data.pkl`, `code/__torch__.py`).  Entries are stored or deflated.  The
directory is checked as a whole before any record is read: no duplicates, no overlaps, nothing
outside the file, nothing that inflates beyond the limits.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ...frontend.foundations.made_once import made_once
from .errors import ArchiveError, archive_error
from .file_bytes import PIECE, OpenedFile, Readable
from .identify import FileKind, identify
from .limits import DEFAULT_LIMITS, Limits

__all__ = ["ArchiveReader", "Entry"]

_END = struct.Struct("<4sHHHHIIH")
_END64 = struct.Struct("<4sQHHIIQQQQ")
_LOCATOR64 = struct.Struct("<4sIQI")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_LARGE = 0xFFFFFFFF
_LONGEST_DIRECTORY = 1 << 28
_TORCH_READ = "PytorchStreamReader failed reading zip archive: "


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the zip directory; `data` is where its bytes begin in the file."""

    name: str
    method: int
    crc: int
    compressed: int
    size: int
    header: int
    data: int


class ArchiveReader:
    """The records of an archive.

    `title` is what messages call the file, `name` its top folder.

    Raises:
        ArchiveError: the file is no archive (the message says what it is), is cut off or damaged,
            or goes beyond the limits.
        OSError: the file cannot be opened.
    """

    def __init__(self, source: Readable | OpenedFile, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.unsaid_byteorder = "little"
        """What `byteorder` is where no record says it."""
        self._strange: list[str] = []
        self._after = 0
        self._file = source if isinstance(source, OpenedFile) else OpenedFile(source)
        self.title = self._file.title
        try:
            self.name, self.entries = self._read_directory()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file; records read before stay valid."""
        self._file.close()

    def __enter__(self) -> ArchiveReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def kind(self) -> FileKind:
        """What kind of file it is, for messages."""
        return identify(self._file)

    # -- records

    def __contains__(self, record: str) -> bool:
        return record in self.entries

    def records(self, folder: str = "") -> Iterator[str]:
        """The names of the records in a folder (`code/`), in the order of the directory."""
        return (record for record in self.entries if record.startswith(folder))

    def size(self, record: str) -> int:
        """The number of bytes of a record."""
        return self.entries[record].size

    @made_once
    def byteorder(self) -> str:
        """The order of the bytes of numbers: `big` or `little`."""
        if "byteorder" in self.entries and self.entries["byteorder"].size <= 8:
            return "big" if self.read("byteorder").strip() == b"big" else "little"
        return self.unsaid_byteorder

    def read(self, record: str) -> bytes:
        """The bytes of a record.

        Raises:
            KeyError: there is no such record.
            ArchiveError: its bytes are damaged.
        """
        entry = self.entries[record]
        raw = self._file[entry.data : entry.data + entry.compressed]
        content = bytes(raw) if entry.method == 0 else self._inflate(entry, raw)
        if zlib.crc32(content) != entry.crc:
            raise self._wrong_checksum(record)
        return content

    def read_into(self, record: str, target: memoryview) -> None:
        """Fill `target` with the first bytes of a record, which has as many.

        Raises:
            KeyError: there is no such record.
            ArchiveError: its bytes are damaged.
        """
        entry = self.entries[record]
        if entry.method != 0:
            target[:] = self.read(record)[: len(target)]
            return
        crc = 0
        for start in range(0, len(target), PIECE):
            piece = target[start : start + PIECE]
            self._file.read_into(entry.data + start, piece)
            crc = zlib.crc32(piece, crc)
        if self._crc_from(entry, len(target), crc) != entry.crc:
            raise self._wrong_checksum(record)

    def check(self, record: str) -> None:
        """Compare a record with its checksum, a piece at a time.

        Raises:
            ArchiveError: its bytes are damaged.
        """
        self.read_into(record, memoryview(bytearray()))

    def _crc_from(self, entry: Entry, start: int, crc: int) -> int:
        """The checksum of a stored entry, given that of its first bytes."""
        end = entry.data + entry.size
        for place in range(entry.data + start, end, PIECE):
            crc = zlib.crc32(self._file[place : min(place + PIECE, end)], crc)
        return crc

    def mapped(self, record: str, alignment: int) -> memoryview | None:
        """The bytes of a record in a mapping of the file, private and writable: nothing that is
        written there reaches the file.  None if the record is deflated, badly aligned, or the file
        is not at a path.

        Raises:
            ArchiveError: its bytes are damaged, as far as they are when this is called.
        """
        entry = self.entries[record]
        if entry.method != 0 or entry.data % max(alignment, 1):
            return None
        mapping = self._file.map()
        if mapping is None:
            return None
        self.check(record)
        return mapping[entry.data : entry.data + entry.size]

    @property
    def length(self) -> int:
        """The bytes of the whole file."""
        return len(self._file)

    def _inflate(self, entry: Entry, raw: bytes | memoryview) -> bytes:
        decompressor = zlib.decompressobj(-15)
        try:
            content = decompressor.decompress(raw, entry.size + 1)
        except zlib.error as error:
            raise self._damaged(f"entry `{entry.name}` cannot be inflated ({error})") from None
        if len(content) != entry.size or decompressor.unconsumed_tail:
            raise self._damaged(f"entry `{entry.name}` does not inflate to {entry.size} bytes")
        return content

    def oddities(self) -> list[str]:
        """What no writer of archives writes, but harms nobody."""
        found = []
        if self._strange:
            names = ", ".join(f"`{name}`" for name in self._strange[:5])
            found.append(f"has {len(self._strange)} entries outside its folder: {names}")
        if self._after:
            found.append(f"has {self._after} bytes after its end")
        gaps = self._gaps()
        if gaps:
            found.append(f"has {gaps} bytes between its entries that belong to none")
        return found

    def _gaps(self) -> int:
        """The bytes that no entry accounts for; data descriptors have up to 24."""
        gaps, end = 0, 0
        for entry in sorted(self.entries.values(), key=lambda e: e.header):
            gap = entry.header - end
            gaps += gap if gap > 24 else 0
            end = entry.data + entry.compressed
        return gaps if not self._strange else 0

    # -- the directory

    def _read_directory(self) -> tuple[str, dict[str, Entry]]:
        count, offset, length = self._find_directory()
        if count > self.limits.entries:
            raise self._beyond(f"{count} entries (the limit is {self.limits.entries})")
        listed = list(self._directory_entries(self._file[offset : offset + length], count))
        self._check_extents(listed, offset)
        self._check_inflation(listed)
        if not listed:
            raise self._foreign()
        top, slash, _ = listed[0].name.partition("/")
        if not slash:
            raise self._foreign()
        entries: dict[str, Entry] = {}
        for entry in listed:
            folder, _, record = entry.name.partition("/")
            if folder != top or not record or record.endswith("/"):
                if not entry.name.endswith("/"):
                    self._strange.append(entry.name)
                continue
            if record in entries:
                raise self._damaged(f"there are two records named `{record}`")
            entries[record] = entry
        return top, entries

    def _find_directory(self) -> tuple[int, int, int]:
        """Number of entries, offset and length of the central directory."""
        size = len(self._file)
        tail = max(0, size - _END.size - 0xFFFF)
        place = bytes(self._file[tail:]).rfind(b"PK\x05\x06")
        if place < 0 or tail + place + _END.size > size:
            raise self._foreign()
        place += tail
        end = self._unpack(_END, place)
        self._after = size - place - _END.size
        count, length, offset = end[4], end[5], end[6]
        locator = place - _LOCATOR64.size
        if locator >= 0 and self._file[locator : locator + 4] == b"PK\x06\x07":
            place = self._unpack(_LOCATOR64, locator)[2]
            if place + _END64.size > locator:
                raise self._damaged("its zip64 end record lies outside the file")
            end64 = self._unpack(_END64, place)
            if end64[0] != b"PK\x06\x06":
                raise self._damaged("its zip64 end record is missing")
            count, length, offset = end64[7], end64[8], end64[9]
        if offset + length > place:
            raise self._damaged("its directory lies outside the file")
        if offset + length < place:
            raise self._damaged("it does not begin with the zip archive: there is something before")
        if length > _LONGEST_DIRECTORY:
            raise self._beyond(f"a directory of {length} bytes (the limit is {_LONGEST_DIRECTORY})")
        return count, offset, length

    def _unpack(self, form: struct.Struct, place: int) -> tuple[Any, ...]:
        return form.unpack(self._file[place : place + form.size])

    def _directory_entries(self, directory: bytes | memoryview, count: int) -> Iterator[Entry]:
        place, end = 0, len(directory)
        for _ in range(count):
            if place + _CENTRAL.size > end:
                raise self._damaged("its directory is shorter than it says")
            fields = _CENTRAL.unpack_from(directory, place)
            signature, flags, method = fields[0], fields[3], fields[4]
            crc, compressed, size = fields[7], fields[8], fields[9]
            name_length, extra_length, comment_length = fields[10:13]
            if signature != b"PK\x01\x02":
                raise self._damaged("its directory has an entry without a signature")
            start = place + _CENTRAL.size
            raw_name = bytes(directory[start : start + name_length])
            extra = bytes(directory[start + name_length : start + name_length + extra_length])
            place = start + name_length + extra_length + comment_length
            if place > end:
                raise self._damaged("its directory is shorter than it says")
            sizes = self._large_sizes(extra, size, compressed, fields[16])
            name = raw_name.decode("utf-8", "surrogateescape")
            yield self._entry(name, raw_name, flags, method, crc, sizes)

    def _large_sizes(
        self, extra: bytes, size: int, compressed: int, header: int
    ) -> tuple[int, int, int]:
        """Size, compressed size and header offset, with the zip64 values where they are too big
        for the directory's 32 bits."""
        values = [size, compressed, header]
        if _LARGE not in values:
            return size, compressed, header
        place = 0
        while place + 4 <= len(extra):
            tag, length = struct.unpack_from("<HH", extra, place)
            field = extra[place + 4 : place + 4 + length]
            place += 4 + length
            if tag != 1:
                continue
            for index, value in enumerate(values):
                if value == _LARGE:
                    if len(field) < 8:
                        raise self._damaged("a zip64 extra field is too short")
                    values[index] = int.from_bytes(field[:8], "little")
                    field = field[8:]
        return values[0], values[1], values[2]

    def _entry(
        self,
        name: str,
        raw_name: bytes,
        flags: int,
        method: int,
        crc: int,
        sizes: tuple[int, int, int],
    ) -> Entry:
        size, compressed, header = sizes
        if flags & 1:
            raise self._damaged(f"entry `{name}` is encrypted")
        if method not in (0, 8):
            raise self._damaged(f"entry `{name}` uses compression method {method}")
        if method == 0 and compressed != size:
            raise self._damaged(f"entry `{name}` is stored but has two sizes")
        end = header + _LOCAL.size + len(raw_name)
        if end > len(self._file):
            raise self._damaged(f"entry `{name}` lies outside the file")
        head = self._file[header:end]
        local = _LOCAL.unpack_from(head)
        has_name = local[9] == len(raw_name) and head[_LOCAL.size :] == raw_name
        if local[0] != b"PK\x03\x04" or not has_name:
            raise self._damaged(f"entry `{name}` is not where the directory says")
        return Entry(name, method, crc, compressed, size, header, end + local[10])

    # -- checks

    def _check_extents(self, listed: list[Entry], directory: int) -> None:
        """Entries must not share bytes with each other or with the directory."""
        end, before = 0, ""
        for entry in sorted(listed, key=lambda e: (e.header, e.name)):
            if entry.header < end:
                raise self._damaged(f"entries `{before}` and `{entry.name}` overlap")
            end, before = entry.data + entry.compressed, entry.name
        if end > directory:
            raise self._damaged(f"entry `{before}` overlaps the directory")

    def _check_inflation(self, listed: list[Entry]) -> None:
        inflated = sum(entry.size for entry in listed if entry.method == 8)
        allowed = max(self.limits.inflated, self.limits.ratio * len(self._file))
        if inflated > allowed:
            raise self._beyond(f"{inflated} bytes once inflated (the limit is {allowed})")

    # -- errors

    def _foreign(self) -> ArchiveError:
        kind = self.kind()
        code = "truncated" if kind.name == "truncated-zip" else "not-an-archive"
        return archive_error(
            code,
            f"{self.title} is not a TorchScript archive: it is {kind.description}",
            help=kind.hint,
            torch=_TORCH_READ + "failed finding central directory",
        )

    def _damaged(self, what: str) -> ArchiveError:
        return archive_error(
            "damaged-archive",
            f"{self.title} is a damaged archive: {what}",
            torch=_TORCH_READ + "invalid header or archive is corrupted",
        )

    def _wrong_checksum(self, record: str) -> ArchiveError:
        return self._damaged(f"record `{record}` does not have the checksum it was written with")

    def _beyond(self, what: str) -> ArchiveError:
        return archive_error(
            "limit-exceeded",
            f"{self.title} has {what}",
            help="if you trust the file, load it with higher `limits`",
        )
