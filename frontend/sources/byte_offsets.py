"""Offsets in bytes of UTF-8 and offsets in characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

__all__ = ["ByteOffsets"]


class ByteOffsets:
    """Turns offsets in bytes of a text into offsets in characters, and back, in little time.

    A byte that was not UTF-8 and became half of a surrogate pair counts as the one byte it was.
    """

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._wide: list[int] = []  # a character's offset for each of its bytes but the first
        if not text.isascii():
            for offset, character in enumerate(text):
                if character > "\x7f":
                    self._wide += [offset] * (_size(character) - 1)
        self._later = [offset + number + 1 for number, offset in enumerate(self._wide)]

    def to_character(self, offset: int) -> int:
        """The offset of the character that holds the byte at `offset`; at most the length."""
        return min(offset - bisect_right(self._later, offset), self._length)

    def to_byte(self, offset: int) -> int:
        """The offset of the first byte of the character at `offset`."""
        offset = min(offset, self._length)
        return offset + bisect_left(self._wide, offset)


def _size(character: str) -> int:
    """How many bytes a character outside of ASCII takes."""
    if "\udc80" <= character <= "\udcff":
        return 1
    return 2 if character < "\u0800" else 3 if character < "\U00010000" else 4
