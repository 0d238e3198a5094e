"""From the `ast` module's coordinates to offsets in a source.

`ast` counts lines from 1 and columns in UTF-8 bytes of the text it was given, which is the source
with its common indentation taken off.
"""

from __future__ import annotations

import ast
from typing import Protocol

from ..sources.source import Source

__all__ = ["Located", "Positions"]


class Located(Protocol):
    """An `ast` node that has a place."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


class Positions:
    """Offsets in `source` of what was parsed from it.

    `indent` characters were removed from every line before parsing; the first parsed line is the
    source's line number `first` (0-based).
    """

    def __init__(self, source: Source, *, indent: int = 0, first: int = 0) -> None:
        self.source = source
        self._indent = indent
        self._first = first - 1
        self._ascii = source.text.isascii()
        self._starts = source.line_starts
        self._last = len(self._starts) - 1

    def within(self, line_index: int, column: int) -> Positions:
        """Offsets of what was parsed from one line of the source, from a column on."""
        return Positions(self.source, indent=column, first=line_index)

    def offset(self, line: int, column: int) -> int:
        """The offset of `ast`'s 1-based line and 0-based column in bytes."""
        index = line + self._first
        begin = self._starts[index if index < self._last else self._last] + self._indent
        if self._ascii:
            return begin + column
        bytes = self.source.bytes
        return bytes.to_character(bytes.to_byte(begin) + column)

    def start(self, node: Located) -> int:
        """Where the node's text begins."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: Located) -> int:
        """Where the node's text ends."""
        if node.end_lineno is None or node.end_col_offset is None:
            return self.start(node)
        return self.offset(node.end_lineno, node.end_col_offset)

    def after_header(self, start: int, body: list[ast.stmt]) -> int:
        """The end of the line(s) that open a block: just past the colon before `body`."""
        before = self.source.text[start : self.start(body[0])]
        colon = before.rfind(":")
        # A comment between the colon and the body may hold colons of its own.
        first_line = before.split("\n", 1)[0]
        if "#" in before[colon:] or (colon >= 0 and "#" in first_line):
            colon = first_line.split("#", 1)[0].rfind(":")
        return start + (colon + 1 if colon >= 0 else len(first_line.rstrip()))
