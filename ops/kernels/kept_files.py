"""Files of what is made again where they are missing: whole, or as if they were not there.

A file begins with a digest of the rest; one that is cut off, or from elsewhere, is not read.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["keep", "read_kept"]

_DIGEST: Final = 32
_READING: Final = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")
)
"""Nothing is waited for, and nowhere else is looked, whatever lies in the place of a file."""
_LARGEST: Final = 64 << 20
"""Bytes; an object has some thousands."""


def read_kept(file: Path | None) -> bytes | None:
    """What a file holds; None if there is none that is whole."""
    if file is None:
        return None
    try:
        descriptor = os.open(file, _READING)
        with os.fdopen(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
                return None
            data = opened.read()
    except OSError:
        return None
    kept = data[_DIGEST:]
    return kept if hashlib.sha256(kept).digest() == data[:_DIGEST] else None


def keep(file: Path | None, made: bytes) -> None:
    """Write a file, whole; where that fails it is made again next time."""
    if file is None:
        return
    with suppress(OSError):
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".new", dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(hashlib.sha256(made).digest() + made)
            os.replace(name, file)
        except OSError:
            os.unlink(name)
