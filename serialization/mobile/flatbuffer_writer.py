"""Writing flatbuffers: what refers to something lies before it, so that offsets are positive."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Number", "Packed", "Part", "Struct", "TableOf", "Text", "VectorOf", "write_flatbuffer"]


class Part(Protocol):
    """Something that lies at a place of its own and is referred to."""

    def place(self, buffer: _Buffer) -> int:
        """Append it; where it lies."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that lies in its table; `form` is a letter of `struct`."""

    form: str
    value: float


@dataclass(frozen=True, slots=True)
class TableOf:
    """A table: fields by their numbers, those of None are left out."""

    fields: Mapping[int, Number | Part | None]

    def place(self, buffer: _Buffer) -> int:
        given = {n: field for n, field in self.fields.items() if field is not None}
        sizes = {n: _size(field) for n, field in given.items()}
        order = sorted(given, key=lambda n: -sizes[n])
        widest = max((*sizes.values(), 4))
        count = max(given, default=-1) + 1
        buffer.align(2)
        fields = len(buffer.data)
        buffer.data += bytes(4 + 2 * count)
        # numbers of eight bytes come first behind the four of the distance to the field offsets
        buffer.align(widest, 4)
        place = len(buffer.data)
        buffer.data += struct.pack("<i", place - fields)
        offsets = [0] * count
        for n in order:
            field = given[n]
            offsets[n] = len(buffer.data) - place
            if isinstance(field, Number):
                buffer.data += struct.pack(f"<{field.form}", field.value)
            else:
                buffer.refer(field)
        lengths = (4 + 2 * count, len(buffer.data) - place)
        struct.pack_into(f"<{2 + count}H", buffer.data, fields, *lengths, *offsets)
        return place


@dataclass(frozen=True, slots=True)
class VectorOf:
    """A vector of references."""

    parts: Sequence[Part]

    def place(self, buffer: _Buffer) -> int:
        buffer.align(4)
        place = len(buffer.data)
        buffer.data += struct.pack("<I", len(self.parts))
        for part in self.parts:
            buffer.refer(part)
        return place


@dataclass(frozen=True, slots=True)
class Packed:
    """A vector of numbers or structs, given as their bytes, which begin at a multiple."""

    content: bytes | memoryview
    count: int
    alignment: int

    def place(self, buffer: _Buffer) -> int:
        buffer.align(max(self.alignment, 4), 4)
        place = len(buffer.data)
        buffer.data += struct.pack("<I", self.count)
        buffer.data += self.content
        return place


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct that is referred to; `form` as `struct` writes it."""

    form: str
    values: tuple[float, ...]

    def place(self, buffer: _Buffer) -> int:
        buffer.align(8)
        place = len(buffer.data)
        buffer.data += struct.pack(self.form, *self.values)
        return place


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    text: str

    def place(self, buffer: _Buffer) -> int:
        content = self.text.encode("utf-8", "surrogateescape")
        buffer.align(4)
        place = len(buffer.data)
        buffer.data += struct.pack("<I", len(content)) + content + b"\0"
        return place


class _Buffer:
    """The bytes so far, and what is referred to but not there yet."""

    def __init__(self, identifier: bytes) -> None:
        self.data = bytearray()
        self.waiting: deque[tuple[int, Part]] = deque()
        self._header = identifier

    def align(self, multiple: int, before: int = 0) -> None:
        """Fill up so that what begins `before` bytes from here does so at a multiple."""
        self.data += bytes(-(len(self.data) + before) % multiple)

    def refer(self, part: Part) -> None:
        """Append the place of a part, which is put behind."""
        self.waiting.append((len(self.data), part))
        self.data += bytes(4)


def write_flatbuffer(root: Part, identifier: bytes) -> bytes:
    """The bytes of a flatbuffer."""
    buffer = _Buffer(identifier)
    buffer.refer(root)
    buffer.data += identifier
    while buffer.waiting:
        reference, part = buffer.waiting.popleft()
        struct.pack_into("<I", buffer.data, reference, part.place(buffer) - reference)
    return bytes(buffer.data)


def _size(field: Number | Part) -> int:
    return struct.calcsize(f"<{field.form}") if isinstance(field, Number) else 4
