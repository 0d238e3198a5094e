"""The bytes of a file that is being read.

A file at a path is read piece by piece where its bytes are wanted, into memory of our own: what
another process does to it meanwhile can make the content wrong, which checksums find, or end it too
early, which is an error, but cannot take memory away that is in use, as it can from a mapping.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
from typing import IO

from .errors import archive_error

__all__ = ["PIECE", "OpenedFile", "Readable"]

Readable = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]

PIECE = 1 << 20
"""Bytes that are read at once where a checksum follows: they are still in the cache then."""


class OpenedFile:
    """A file at a path, read where it is wanted; or bytes in memory.

    `title` is what messages call the file, `is_regular` whether it is none of the pipes, devices
    and sockets, which have no bytes here.  Parts are taken by slices: `file[:4]`.

    Raises:
        OSError: the file cannot be opened.
        ValueError: it is to be mapped, and not at a path.
    """

    def __init__(self, source: Readable, mapped: bool = False) -> None:
        if mapped and not isinstance(source, str | os.PathLike):
            raise ValueError("f must be a file path in order to use the mmap argument")
        self._descriptor = -1
        self._memory = memoryview(b"")
        self._map: mmap.mmap | None = None
        self.is_regular = True
        if isinstance(source, bytes | bytearray | memoryview):
            self.title = "the given buffer"
            self._memory = memoryview(source).cast("B")
        elif isinstance(source, str | os.PathLike):
            self.title = f"`{os.fsdecode(source)}`"
            self._open(os.fspath(source))
        else:
            self.title = "the given file object"
            self._read_all(source)
        if self._descriptor < 0:
            self._length = len(self._memory)

    def _open(self, path: str | bytes) -> None:
        if "\0" in os.fsdecode(path):
            raise OSError(errno.EINVAL, "a NUL in the name of a file", path)
        # a pipe that nobody writes to must not keep us waiting
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
        try:
            found = os.fstat(self._descriptor)
            if stat.S_ISDIR(found.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        except BaseException:
            self.close()
            raise
        self.is_regular = stat.S_ISREG(found.st_mode)
        self._length = found.st_size if self.is_regular else 0

    def _read_all(self, source: IO[bytes]) -> None:
        read = source.read()
        if not isinstance(read, bytes | bytearray | memoryview):
            raise TypeError("a file is read from a file object opened in binary mode ('rb')")
        self._memory = memoryview(read).cast("B")
        name = getattr(source, "name", None)
        if isinstance(name, str):
            self.title = f"`{name}`"

    def close(self) -> None:
        """Let go of the file; what was read or mapped stays."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._memory = memoryview(b"")
        self._map = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> bytes | memoryview:
        """The bytes of a part.

        Raises:
            ArchiveError: the file has become shorter since it was opened.
        """
        if self._descriptor < 0:
            return self._memory[part]
        start, end, _ = part.indices(self._length)
        content = bytearray(max(end - start, 0))
        self.read_into(start, memoryview(content))
        return bytes(content) if len(content) < PIECE else memoryview(content)

    def read_into(self, start: int, target: memoryview) -> None:
        """Fill `target` with the bytes from `start` on; raises as reading a part."""
        if self._descriptor < 0:
            target[:] = self._memory[start : start + len(target)]
            return
        at = 0
        while at < len(target):
            count = _read_at(self._descriptor, target[at:], start + at)
            if not count:
                raise self._changed()
            at += count

    def map(self) -> memoryview | None:
        """The file mapped into memory, privately and writable; None if it is not at a path.

        Whoever touches it after the file was cut off by somebody else is killed by the system.
        """
        if self._descriptor < 0 or not self._length:
            return None
        if self._map is None:
            self._map = mmap.mmap(self._descriptor, self._length, access=mmap.ACCESS_COPY)
        return memoryview(self._map)

    def _changed(self) -> Exception:
        message = f"{self.title} was cut off or changed while it was read"
        return archive_error("damaged-archive", message, help="read it again when it is complete")


_BINARY = getattr(os, "O_BINARY", 0)


def _read_at(descriptor: int, target: memoryview, place: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [target[: 1 << 30]], place)
    os.lseek(descriptor, place, os.SEEK_SET)  # Windows has no other way
    content = os.read(descriptor, min(len(target), 1 << 30))
    target[: len(content)] = content
    return len(content)
