"""Source texts and the places in them.

A `Source` is the text of one function, class or archive file together with where that text begins;
a `Span` is a stretch of it.  Offsets and columns count characters, not bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

from ..foundations.made_once import made_once
from ..foundations.value_class import value_class
from .byte_offsets import ByteOffsets

__all__ = ["UNKNOWN", "Source", "Span"]


@dataclass(frozen=True, eq=False)
class Source:
    """A text and its origin.

    `filename` is None for text that has no file.  `first_line` is the 1-based line of the file on
    which `text` begins.  `function` names the function the text was taken from, if it was.
    `origin`, for text that was printed from a program (an archive's code), tells of an offset which
    stretch of that program was printed there, `UNKNOWN` if what was printed had no place.
    """

    text: str
    filename: str | None = None
    first_line: int = 1
    function: str | None = None
    origin: Callable[[int], Span | None] | None = None

    @made_once
    def line_starts(self) -> list[int]:
        """The offset of the first character of every line."""
        return list(accumulate((len(line) + 1 for line in self.lines[:-1]), initial=0))

    @made_once
    def lines(self) -> list[str]:
        """The lines, without their line ends."""
        return self.text.split("\n")

    @made_once
    def bytes(self) -> ByteOffsets:
        """Where its characters stand in bytes."""
        return ByteOffsets(self.text)

    def line_index(self, offset: int) -> int:
        """The 0-based index, within this text, of the line that holds `offset`."""
        return bisect_right(self.line_starts, offset) - 1

    def offset(self, line_index: int, column: int) -> int:
        """The offset of a 0-based line and 0-based column of this text."""
        return self.line_starts[line_index] + column


@value_class(frozen=True, slots=True)
class Span:
    """The characters `start <= offset < end` of a source.

    `torch_end` is where torch's own text stops underlining (for a call it underlines the callee
    alone); it equals `end` unless said otherwise, and never moves the start.
    `written` is where the text itself begins.  It differs from `start` for what torch places
    elsewhere: `(a + b) * c` starts, for torch, at `a`; the slice of `x[1:2]` at `x`.
    """

    source: Source
    start: int
    end: int
    torch_end: int = field(default=-1)
    written: int = field(default=-1)

    def __post_init__(self) -> None:
        if self.torch_end < 0:
            object.__setattr__(self, "torch_end", self.end)
        if self.written < 0:
            object.__setattr__(self, "written", self.start)

    @property
    def text(self) -> str:
        return self.source.text[self.written : self.end]

    @property
    def whole(self) -> Span:
        """The text itself, from its first character on: what to underline or to replace."""
        return self if self.written == self.start else Span(self.source, self.written, self.end)

    def is_within(self, outer: Span) -> bool:
        """Whether all its characters are the other's, too."""
        return self.source is outer.source and outer.start <= self.start and self.end <= outer.end

    @property
    def original(self) -> Span | None:
        """What this text was printed from, if it was and the archive remembers it."""
        if self.source.origin is None:
            return None
        # `a.b.c`, `a[i]` begin with the text of a part; the end of an expression is its own
        is_expression = self.start < self.end and self.line == self.end_line
        found = self.source.origin(self.end - 1 if is_expression else self.start)
        return None if found is UNKNOWN else found

    @property
    def torch_original(self) -> Span | None:
        """What torch takes for the original: that of the first character, also where it is
        `UNKNOWN`; None if the archive remembers nothing."""
        return None if self.source.origin is None else self.source.origin(self.start)

    @property
    def filename(self) -> str | None:
        return self.source.filename

    @property
    def line(self) -> int:
        """The 1-based line in the file."""
        return self.source.line_index(self.start) + self.source.first_line

    @property
    def end_line(self) -> int:
        """The 1-based line in the file that holds the last character."""
        return self.source.line_index(max(self.start, self.end - 1)) + self.source.first_line

    @property
    def column(self) -> int:
        """The 0-based column, in characters."""
        return self.start - self.source.line_starts[self.source.line_index(self.start)]

    @property
    def byte_column(self) -> int:
        """The 0-based column in bytes of UTF-8, as torch counts in graph text."""
        line = self.source.line_starts[self.source.line_index(self.start)]
        to_byte = self.source.bytes.to_byte
        return to_byte(self.start) - to_byte(line)

    @property
    def end_column(self) -> int:
        """The 0-based column just past the last character, on its own line."""
        last = max(self.start, self.end - 1)
        return self.end - self.source.line_starts[self.source.line_index(last)]

    def to(self, other: Span) -> Span:
        """The span from here to the end of `other`, in the same source."""
        return Span(self.source, self.start, other.end)

    def __str__(self) -> str:
        return f"{self.filename or '<string>'}:{self.line}:{self.column + 1}"


UNKNOWN = Span(Source("", None), 0, 0)
"""The span of what the user did not write."""
