"""Writing the zip container of an archive, byte for byte in PyTorch's layout.

Every entry's bytes begin at a multiple of 64, behind an extra field that pads; sizes and checksum
follow the bytes in a data descriptor; times are zero, so equal records make equal files.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Protocol

from .atomic_file import FilePath, atomic_file, is_path, write_all

__all__ = ["ContainerWriter", "Sink", "archive_name", "write_container"]

ALIGNMENT = 64
DEFLATE_ABOVE = 200
LARGE = 0xFFFFFFFF
"""Sizes and offsets from here on are written in zip64 fields."""


class Sink(Protocol):
    """What an archive can be written to."""

    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True, slots=True)
class _Written:
    name: bytes
    flags: int
    method: int
    crc: int
    compressed: int
    size: int
    header: int


class ContainerWriter:
    """Writes records one after the other; `finish` adds the directory.

    Only `write` of `sink` is used, so a socket or a pipe will do.
    """

    def __init__(self, sink: Sink, name: str) -> None:
        self._sink = sink
        self._name = name
        self._offset = 0
        self._written: list[_Written] = []
        self._digest = hashlib.sha256()
        self._names = hashlib.sha256()

    def _put(self, data: bytes) -> None:
        self._sink.write(data)
        self._offset += len(data)

    def add(self, record: str, content: bytes) -> None:
        """Write one record; code and debug records are deflated unless they are short."""
        name = f"{self._name}/{record}".encode()
        crc = zlib.crc32(content)
        self._names.update(len(record).to_bytes(4, "little") + record.encode())
        self._digest.update(len(content).to_bytes(8, "little"))
        self._digest.update(content)
        deflate = record.endswith((".py", ".debug_pkl")) and len(content) > DEFLATE_ABOVE
        raw = _deflated(content) if deflate else content
        large = max(len(raw), len(content)) >= LARGE
        flags = 0x0808 if content else 0x0800
        method, version = (8, 20) if deflate else (0, 45 if large else 0)
        header = self._offset
        self._put(self._local_header(name, flags, method, version, large))
        self._put(raw)
        if content:
            sizes = struct.pack("<QQ" if large else "<II", len(raw), len(content))
            self._put(b"PK\x07\x08" + struct.pack("<I", crc) + sizes)
        self._written.append(_Written(name, flags, method, crc, len(raw), len(content), header))

    def _local_header(
        self, name: bytes, flags: int, method: int, version: int, large: bool
    ) -> bytes:
        zip64 = struct.pack("<HHQQ", 1, 16, 0, 0) if large else b""
        size = LARGE if large else 0
        before = self._offset + 30 + len(name) + len(zip64) + 4
        padding = -before % ALIGNMENT
        extra = zip64 + b"FB" + struct.pack("<H", padding) + b"Z" * padding
        fields = (version, flags, method, 0, 0, 0, size, size, len(name), len(extra))
        return struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", *fields) + name + extra

    def serialization_id(self) -> str:
        """40 digits that depend on the records written so far, and on nothing else."""
        parts = (self._names.digest(), self._digest.digest())
        return "".join(f"{int.from_bytes(part[:8], 'little'):020d}" for part in parts)

    def finish_identified(self) -> None:
        """Write those digits as the last record, and the directory."""
        self.add(".data/serialization_id", self.serialization_id().encode())
        self.finish()

    def finish(self) -> None:
        """Write the directory."""
        start = self._offset
        for entry in self._written:
            self._put(_central_header(entry))
        length, count = self._offset - start, len(self._written)
        end64 = self._offset
        fields = (44, 0x031E, 45, 0, 0, count, count, length, start)
        self._put(struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", *fields))
        self._put(struct.pack("<4sIQI", b"PK\x06\x07", 0, end64, 1))
        short = min(count, 0xFFFF)
        sizes = (min(length, LARGE), min(start, LARGE))
        self._put(struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, short, short, *sizes, 0))


def _deflated(content: bytes) -> bytes:
    compressor = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -15)
    return compressor.compress(content) + compressor.flush()


def _central_header(entry: _Written) -> bytes:
    large = [v for v in (entry.size, entry.compressed, entry.header) if v >= LARGE]
    extra = struct.pack(f"<HH{len(large)}Q", 1, 8 * len(large), *large) if large else b""
    version = 20 if entry.method == 8 else 45 if large else 0
    sizes = (min(entry.compressed, LARGE), min(entry.size, LARGE), len(entry.name), len(extra))
    fields = (0, version, entry.flags, entry.method, 0, 0, entry.crc, *sizes)
    rest = (0, 0, 0, 0, min(entry.header, LARGE))
    packed = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", *fields, *rest)
    return packed + entry.name + extra


def write_container(file: FilePath | IO[bytes], write: Callable[[Sink, str], None]) -> None:
    """Have an archive written by `write(sink, name)`, where `name` is its top folder's.

    What stands at a path is replaced once all is written; a file object gets all bytes at the end.

    Raises:
        OSError: the file cannot be written.
        RuntimeError: the path gives an archive no name.
    """
    if is_path(file):
        name = archive_name(file)
        with atomic_file(file) as opened:
            write(opened, name)
        return
    sink = io.BytesIO()
    write(sink, "archive")
    write_all(file, sink.getvalue())
    if callable(flush := getattr(file, "flush", None)):
        flush()  # others may open the file by its name at once


def archive_name(path: FilePath) -> str:
    """The top folder of an archive written to this path: the file's name without its last suffix,
    or `archive` where that is no text.

    Raises:
        RuntimeError: nothing is left (`.hidden`).
    """
    name = os.path.basename(os.fsdecode(path))
    stem = name.rpartition(".")[0] if "." in name else name
    if not stem:
        raise RuntimeError(f"an archive cannot be named `{name}`: nothing before its suffix")
    return stem if _is_text(stem) else "archive"


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
