"""Code text that remembers which part of the source each stretch was printed for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ...frontend.sources.source import UNKNOWN, Span

__all__ = ["Record", "Spans", "Text"]

Record = tuple[int, Span]
"""From this character of the text on, up to the next record, the text stands for this span."""


class Spans:
    """The spans of the constructs being printed, outermost first."""

    def __init__(self) -> None:
        self._stack: list[Span] = [UNKNOWN]

    @property
    def current(self) -> Span:
        return self._stack[-1]

    @contextmanager
    def at(self, span: Span) -> Iterator[None]:
        """Let what is printed inside the `with` stand for `span`."""
        self._stack.append(span)
        try:
            yield
        finally:
            self._stack.pop()


class Text:
    """A growing text with its records, which are ascending and differ from their neighbours."""

    __slots__ = ("_pieces", "_spans", "length", "records")

    def __init__(self, spans: Spans, text: str = "") -> None:
        self._spans = spans
        self._pieces: list[str] = []
        self.length = 0
        self.records: list[Record] = []
        self.write(text)

    def write(self, text: str) -> None:
        """Append characters printed for the current span."""
        if text:
            self._record(self.length, self._spans.current)
            self._append(text)

    def write_text(self, other: Text) -> None:
        """Append another text with its records."""
        start = self.length
        for offset, span in other.records:
            self._record(start + offset, span)
        self._append(str(other))

    def write_list(self, items: Iterable[Text], begin: str = "", end: str = "") -> None:
        """Append `begin`, the items between commas, and `end`."""
        self.write(begin)
        for i, item in enumerate(items):
            if i:
                self.write(", ")
            self.write_text(item)
        self.write(end)

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)

    def _record(self, offset: int, span: Span) -> None:
        if not self.records or self.records[-1][1] != span:
            self.records.append((offset, span))

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""
