"""Files of records as TensorFlow has them, and messages in protobuf's form.

Each record is its length (8 bytes), a checksum of that, the bytes, and a checksum of these; both
are CRC-32C (RFC 3720, appendix B.4), turned and shifted so that sums of sums differ.
"""

from __future__ import annotations

import struct
from functools import cache
from os import PathLike
from typing import Final, Self

__all__ = ["Message", "RecordWriter", "decimals", "double", "field", "number", "numbers", "single"]

_POLYNOMIAL: Final = 0x82F63B78


@cache
def _table() -> list[int]:
    rows = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        rows.append(value)
    return rows


def _checksum(data: bytes) -> bytes:
    table, found = _table(), 0xFFFFFFFF
    for byte in data:
        found = table[(found ^ byte) & 255] ^ found >> 8
    found ^= 0xFFFFFFFF
    masked = ((found >> 15 | found << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return struct.pack("<I", masked)


class RecordWriter:
    """Appends records to a file."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._file = open(path, "ab")  # noqa: SIM115 - `close` closes it

    def write(self, data: bytes) -> None:
        """Append one record."""
        length = struct.pack("<Q", len(data))
        self._file.write(length + _checksum(length) + data + _checksum(data))

    def flush(self) -> None:
        """Hand to the system what was written."""
        self._file.flush()

    def close(self) -> None:
        """Flush, and end."""
        self._file.close()

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._file.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Message:
    """A message, written out."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def SerializeToString(self) -> bytes:
        """The message in protobuf's form."""
        return self._content


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are written by their 64 bits
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def field(place: int, content: bytes | str) -> bytes:
    """A field that holds bytes, a text or another message."""
    held = content.encode() if isinstance(content, str) else content
    return _varint(place << 3 | 2) + _varint(len(held)) + held


def number(place: int, value: int) -> bytes:
    """A field that holds a whole number."""
    return _varint(place << 3) + _varint(value)


def numbers(place: int, values: list[int]) -> bytes:
    """A field that holds whole numbers."""
    return field(place, b"".join(map(_varint, values)))


def double(place: int, value: float) -> bytes:
    """A field that holds a float of 64 bits."""
    return _varint(place << 3 | 1) + struct.pack("<d", value)


def single(place: int, value: float) -> bytes:
    """A field that holds a float of 32 bits."""
    return _varint(place << 3 | 5) + struct.pack("<f", value)


def decimals(place: int, values: list[float]) -> bytes:
    """A field that holds floats of 64 bits."""
    return field(place, struct.pack(f"<{len(values)}d", *values))
