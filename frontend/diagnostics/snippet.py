"""Source lines with marks under them: the picture in the middle of a diagnostic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..foundations.value_class import value_class
from ..sources.source import Source, Span
from .cells import ELLIPSIS, cells_of, clean, width_of
from .diagnostics import Label

__all__ = ["Mark", "Row", "snippet"]

MANY_LINES = 4
"""A span over more lines than this is shown by its first and last lines."""

BEFORE = 8
"""Columns kept to the left of the marks where a line is cut."""

Style = str
Row = list[tuple[str, Style]]
"""Pieces of text, each with the name of its style: "", "primary", "secondary"."""


@value_class(frozen=True, slots=True)
class Mark:
    """A stretch of one line, in characters, with what is written beside it."""

    start: int
    end: int
    text: str
    primary: bool

    @property
    def style(self) -> Style:
        return "primary" if self.primary else "secondary"


@dataclass(slots=True)
class Lines:
    """The lines of one file that are shown, and their marks."""

    sources: list[Source] = field(default_factory=list)
    marks: dict[int, list[Mark]] = field(default_factory=dict)

    def add(self, label: Label, primary: bool) -> None:
        span = label.span.whole
        if span.source not in self.sources:
            self.sources.append(span.source)
        numbers = list(range(span.line, span.end_line + 1))
        if len(numbers) > MANY_LINES:
            numbers = [numbers[0], numbers[-1]]
        for number in numbers:
            start, end = _part(span, number)
            text = label.text if number == numbers[-1] else ""
            self.marks.setdefault(number, []).append(Mark(start, end, text, primary))

    def text(self, number: int) -> str | None:
        """The text of a line, if one of the sources holds it."""
        found = None
        for source in self.sources:
            index = number - source.first_line
            if 0 <= index < len(source.lines):
                found = source.lines[index] or found or ""
        return found


def _part(span: Span, number: int) -> tuple[int, int]:
    """The columns of a line that a span covers, its indentation left out."""
    line = span.source.lines[number - span.source.first_line]
    indent = len(line) - len(line.lstrip())
    start = span.column if number == span.line else indent
    end = span.end_column if number == span.end_line else len(line.rstrip())
    return start, max(start, end)


def snippet(
    labels: Iterable[tuple[Label, bool]], margin: Callable[[int | None], Row], width: int
) -> list[Row]:
    """The rows for labels of one file; `margin` writes what stands before each line.

    `margin` is given the line's number, or None for a row of marks.
    """
    lines = Lines()
    for label, primary in labels:
        lines.add(label, primary)
    rows: list[Row] = []
    previous: int | None = None
    for number in sorted(lines.marks):
        if previous is not None and number == previous + 2 and (text := lines.text(previous + 1)):
            rows.append([*margin(previous + 1), (_cut(text, [], width)[0], "")])
        elif previous is not None and number > previous + 1:
            rows.append([("...", "margin")])
        text, marks = _cut(lines.text(number) or "", lines.marks[number], width)
        rows.append([*margin(number), (text, "")])
        rows.extend([*margin(None), *row] for row in _mark_rows(marks))
        previous = number
    return rows


def _cut(text: str, marks: list[Mark], width: int) -> tuple[str, list[Mark]]:
    """A line as shown in `width` columns, and its marks in columns of what is shown."""
    cells = cells_of(text)
    placed = [_in_columns(text, mark) for mark in marks]
    left, right = 0, len(cells)
    if right > width:
        last = max((mark.end for mark in placed), default=0)
        first = min((mark.start for mark in placed), default=0)
        if last > width - 1:
            left = max(0, min(first - BEFORE, last + 1 - width + 1))
        right = left + width - (1 if left else 0) - 1
        right = min(right, len(cells))
    shown = list(cells[left:right])
    if shown and shown[0] == "":
        shown[0] = " "
    shift = left - (1 if left else 0)
    before, after = ELLIPSIS if left else "", ELLIPSIS if right < len(cells) else ""
    limit = len(shown) + len(before) + len(after)
    placed = [
        Mark(
            max(0, min(mark.start - shift, limit - 1)),
            max(1, min(mark.end - shift, limit)),
            mark.text,
            mark.primary,
        )
        if left or after
        else mark
        for mark in placed
    ]
    return before + "".join(shown).rstrip() + after, placed


def _in_columns(text: str, mark: Mark) -> Mark:
    start = width_of(text[: mark.start])
    end = start + width_of(text[mark.start : mark.end])
    return Mark(start, max(end, start + 1), clean(mark.text).replace("\t", " "), mark.primary)


# ------------------------------------------------------------------------------------ mark rows


def _mark_rows(marks: list[Mark]) -> list[Row]:
    """The underlines, the words beside the last of them, and below these the other words."""
    marks = sorted(marks, key=lambda mark: (mark.start, mark.primary))
    rows = [_underlines(marks)]
    worded = [mark for mark in marks if mark.text]
    if not worded:
        return rows
    if worded[-1].end >= max(mark.end for mark in marks):
        last = worded.pop()
        rows[0].append((" " + last.text, last.style))
    if not worded:
        return rows
    rows.append(_bars(worded))
    while worded:
        last = worded.pop()
        bars = _bars([mark for mark in worded if mark.start < last.start])
        column = sum(len(text) for text, _ in bars)
        rows.append([*bars, (" " * (last.start - column), ""), (last.text, last.style)])
    return rows


def _underlines(marks: list[Mark]) -> Row:
    width = max(mark.end for mark in marks)
    cells: list[tuple[str, Style]] = [(" ", "")] * width
    for mark in sorted(marks, key=lambda mark: mark.primary):
        character = "^" if mark.primary else "-"
        cells[mark.start : mark.end] = [(character, mark.style)] * (mark.end - mark.start)
    return _joined(cells)


def _bars(marks: list[Mark]) -> Row:
    """A `|` under the start of each mark."""
    cells: list[tuple[str, Style]] = []
    for mark in marks:
        if mark.start >= len(cells):
            cells.extend([(" ", "")] * (mark.start - len(cells)))
            cells.append(("|", mark.style))
    return _joined(cells)


def _joined(cells: list[tuple[str, Style]]) -> Row:
    """Neighbours of one style as one piece."""
    row: Row = []
    for text, style in cells:
        if row and row[-1][1] == style:
            row[-1] = (row[-1][0] + text, style)
        else:
            row.append((text, style))
    return row
