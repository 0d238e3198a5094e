"""Files of what is made again where they are missing: whole, or as if they were not there.

A file begins with a digest of the rest; one that is cut off, or from elsewhere, is not read.  A
folder keeps what has been read lately, up to a number of bytes and of files.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["MOST_BYTES", "MOST_FILES", "keep", "make_room", "read_kept"]

MOST_BYTES: Final = 256 << 20
MOST_FILES: Final = 50_000
"""What a folder holds of files that are kept; where it is more, three quarters of that stay."""

_LOOKED_FOR: Final = 4 << 20
"""Bytes, of all processes together, after which somebody looks how much there is."""

_BLOCK: Final = 4096
_HOUR, _DAY = 3600, 86400
_DIGEST: Final = 32
_READING: Final = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")
)
"""Nothing is waited for, and nowhere else is looked, whatever lies in the place of a file."""
_LARGEST: Final = 64 << 20
"""Bytes; an object has some thousands."""


def read_kept(file: Path | None) -> bytes | None:
    """What a file holds; None if there is none that is whole.  Once a day it is noted that the
    file is used, as the time of its last change."""
    if file is None:
        return None
    try:
        descriptor = os.open(file, _READING)
        with os.fdopen(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
                return None
            data = opened.read()
            if found.st_mtime < time.time() - _DAY and os.utime in os.supports_fd:
                with suppress(OSError):
                    os.utime(descriptor)
    except OSError:
        return None
    kept = data[_DIGEST:]
    return kept if hashlib.sha256(kept).digest() == data[:_DIGEST] else None


def keep(file: Path | None, made: bytes) -> None:
    """Write a file, whole; where that fails it is made again next time."""
    if file is None:
        return
    digest = hashlib.sha256(made).digest()
    with suppress(OSError):
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".new", dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(digest + made)
            os.replace(name, file)
        except OSError:
            os.unlink(name)
        # by chance, which nothing but the digest decides: processes need not know of each other
        if int.from_bytes(digest[:4], "little") % _LOOKED_FOR < _BLOCK + len(made):
            make_room(file.parent)


# ---------------------------------------------------------------------------------------- room


class _Kept(NamedTuple):
    used: float
    size: int
    paths: list[str]


_NAME: Final = re.compile(r"(\w+-)?[0-9a-f]{32}\.(o|digest|code)", re.ASCII)
_BEGUN: Final = re.compile(r"\.\w{8}\.new", re.ASCII)


def make_room(folder: Path) -> None:
    """Let the files go that have not been used for longest, where a folder holds too much, and
    those that were never finished.

    Other processes may do the same, or read: what they have opened stays theirs, and what they do
    not find they make again.  Files whose names are not of this library are left alone.
    """
    found = _kept_in(folder)
    size, count = sum(each.size for each in found), sum(len(each.paths) for each in found)
    if size <= MOST_BYTES and count <= MOST_FILES:
        return
    for each in sorted(found):
        if size <= MOST_BYTES * 3 // 4 and count <= MOST_FILES * 3 // 4:
            return
        for path in each.paths:
            with suppress(OSError):
                os.unlink(path)
        size, count = size - each.size, count - len(each.paths)


def _kept_in(folder: Path) -> list[_Kept]:
    """What is kept in a folder: a file may have several names."""
    found = dict[object, _Kept]()
    for path, about in _files_of(folder):
        key = about.st_ino if about.st_nlink > 1 else path
        if key in found:
            found[key].paths.append(path)
        else:
            size = -(-about.st_size // _BLOCK) * _BLOCK
            found[key] = _Kept(about.st_mtime, size, [path])
    return list(found.values())


def _files_of(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The files of a folder that this library has written; what is unfinished since an hour goes,
    as whoever began it is gone."""
    old = time.time() - _HOUR
    with suppress(OSError), os.scandir(folder) as entries:
        for each in entries:
            with suppress(OSError):
                about = each.stat(follow_symlinks=False)
                if not stat.S_ISREG(about.st_mode):
                    continue
                if _NAME.fullmatch(each.name):
                    yield each.path, about
                elif _BEGUN.fullmatch(each.name) and about.st_mtime < old:
                    os.unlink(each.path)
