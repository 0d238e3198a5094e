"""What NumPy and its zip files raise about arrays that are damaged, foreign or oversized."""

from __future__ import annotations

import struct
import zipfile
import zlib
from tokenize import TokenError
from typing import Final

__all__ = ["UNREADABLE"]

UNREADABLE: Final = (
    *(OSError, ValueError, EOFError, MemoryError, RuntimeError, TypeError, OverflowError),
    *(TokenError, zipfile.BadZipFile, zlib.error, struct.error),
)
