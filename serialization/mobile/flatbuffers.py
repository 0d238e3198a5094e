"""Reading flatbuffers: tables, vectors and strings that refer to each other by offsets.

Every offset is checked before it is followed, and what is read altogether is bounded by the length
of the buffer, so that damaged files cannot make small buffers into large values.  Format: the
FlatBuffers internals document (tables begin with the distance to a list of field offsets; numbers
are little-endian).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["FlatBuffer", "MalformedBuffer", "Table"]

Referred = TypeVar("Referred")

_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")


class MalformedBuffer(Exception):
    """An offset leads out of the buffer, or a part has a form it cannot have."""


class FlatBuffer:
    """A buffer, and how much of it may still be read."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self._left = 2 * len(data)
        self._strings: dict[int, str] = {}

    def root(self) -> Table:
        """The table the buffer begins with."""
        return Table(self, self.follow(0))

    def unpack(self, form: struct.Struct, place: int) -> Any:
        """The one number of a form that lies at a place.

        Raises:
            MalformedBuffer: it does not lie in the buffer.
        """
        try:
            return form.unpack_from(self.data, place)[0] if place >= 0 else self._fail()
        except struct.error:
            return self._fail()

    def follow(self, place: int) -> int:
        """Where the offset at a place leads to."""
        return place + int(self.unpack(_U32, place))

    def extent(self, place: int, size: int) -> tuple[int, int]:
        """The number of elements of a vector, of `size` bytes each, and where the first is."""
        count = int(self.unpack(_U32, place))
        first = place + _U32.size
        self._left -= count * size
        if first + count * size > len(self.data) or self._left < 0:
            self._fail()
        return count, first

    def string(self, place: int) -> str:
        """The string at a place."""
        if place not in self._strings:
            count, first = self.extent(place, 1)
            text = bytes(self.data[first : first + count])
            self._strings[place] = text.decode("utf-8", "surrogateescape")
        return self._strings[place]

    @staticmethod
    def _fail() -> object:
        raise MalformedBuffer


class Table:
    """A table: fields by number, each of which may be missing."""

    def __init__(self, buffer: FlatBuffer, place: int) -> None:
        self._buffer = buffer
        self._place = place
        self._fields = place - int(buffer.unpack(_I32, place))
        self._size = int(buffer.unpack(_U16, self._fields))

    def _field(self, number: int) -> int:
        """Where a field lies; 0 if it is missing."""
        entry = 4 + 2 * number
        if entry + 2 > self._size:
            return 0
        offset = int(self._buffer.unpack(_U16, self._fields + entry))
        return self._place + offset if offset else 0

    def __contains__(self, number: int) -> bool:
        return self._field(number) != 0

    def number(self, number: int, form: struct.Struct, default: object = 0) -> Any:
        """A number."""
        place = self._field(number)
        return self._buffer.unpack(form, place) if place else default

    def target(self, number: int) -> int:
        """Where the offset in a field leads to.

        Raises:
            MalformedBuffer: the field is missing.
        """
        place = self._field(number)
        if not place:
            raise MalformedBuffer
        return self._buffer.follow(place)

    def table(self, number: int) -> Table:
        """The table a field refers to; raises as `target`."""
        return Table(self._buffer, self.target(number))

    def string(self, number: int) -> str:
        """The string a field refers to; empty if it is missing."""
        return self._buffer.string(self.target(number)) if number in self else ""

    def structs(self, number: int, form: struct.Struct) -> list[tuple[Any, ...]]:
        """The elements of a vector of structs; none if it is missing."""
        if number not in self:
            return []
        count, first = self._buffer.extent(self.target(number), form.size)
        end = first + count * form.size
        return list(form.iter_unpack(self._buffer.data[first:end]))

    def numbers(self, number: int, form: struct.Struct) -> list[Any]:
        """The elements of a vector of numbers; none if it is missing."""
        return [value for (value,) in self.structs(number, form)]

    def bytes(self, number: int) -> memoryview:
        """The elements of a vector of bytes, where they lie."""
        count, first = self._buffer.extent(self.target(number), 1)
        return self._buffer.data[first : first + count]

    def tables(self, number: int) -> list[Table]:
        """The tables of a vector; none if it is missing."""
        return self._referred(number, lambda place: Table(self._buffer, place))

    def strings(self, number: int) -> list[str]:
        """The strings of a vector; none if it is missing."""
        return self._referred(number, self._buffer.string)

    def _referred(self, number: int, make: Callable[[int], Referred]) -> list[Referred]:
        if number not in self:
            return []
        count, first = self._buffer.extent(self.target(number), 4)
        return [make(self._buffer.follow(first + 4 * i)) for i in range(count)]

    def struct(self, number: int, form: struct.Struct) -> tuple[Any, ...]:
        """The struct that the offset in a field leads to; raises as `target`."""
        try:
            return form.unpack_from(self._buffer.data, self.target(number))
        except struct.error:
            raise MalformedBuffer from None
