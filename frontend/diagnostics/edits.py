"""Changes to source text, and the lines they change."""

from __future__ import annotations

from collections.abc import Iterable

from ..foundations.value_class import value_class
from ..sources.source import Source, Span

__all__ = ["Edit", "Hunk", "hunks", "joined"]


@value_class(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`."""

    span: Span
    text: str


@value_class(frozen=True, slots=True)
class Hunk:
    """Lines of a file, from the 1-based `line` on, to take out and to put in their place."""

    filename: str | None
    line: int
    remove: tuple[str, ...]
    insert: tuple[str, ...]


def joined(edits: Iterable[Edit]) -> Edit:
    """One edit that does what several edits of one source do, for what is to be read as one."""
    parts = sorted(edits, key=_place)
    source, start = parts[0].span.source, parts[0].span.whole.start
    text, at = "", start
    for edit in parts:
        span = edit.span.whole
        text += source.text[at : span.start] + edit.text
        at = span.end
    return Edit(Span(source, start, at), text)


def hunks(edits: Iterable[Edit]) -> list[Hunk]:
    """The changed lines, one hunk for every edit; edits that share a line share a hunk."""
    result: list[Hunk] = []
    group: list[Edit] = []
    for edit in sorted(edits, key=_place):
        if group and not _touch(group[-1], edit):
            result.append(_hunk(group))
            group = []
        group.append(edit)
    if group:
        result.append(_hunk(group))
    return result


def _place(edit: Edit) -> tuple[str, int, int]:
    span = edit.span.whole
    return (span.filename or "", span.line, span.column)


def _touch(one: Edit, other: Edit) -> bool:
    a, b = one.span, other.span
    return a.source is b.source and a.end_line >= b.whole.line


def _hunk(edits: list[Edit]) -> Hunk:
    source = edits[0].span.source
    first = edits[0].span.whole.start
    last = max(edit.span.end for edit in edits)
    line = source.line_index(first)
    if _inserts_lines(edits, source, first):
        text = "".join(edit.text for edit in edits)
        return Hunk(source.filename, line + source.first_line, (), tuple(text[:-1].split("\n")))
    start = source.line_starts[line]
    end = _end_of_line(source, last)
    if last > first and source.text[last - 1] == "\n":
        end = last - 1
    new, at = "", start
    for edit in edits:
        span = edit.span.whole
        new += source.text[at : span.start] + edit.text
        at = span.end
    new += source.text[at : max(at, end)]
    if new.endswith("\n") and at > end:
        new = new[:-1]
    return Hunk(
        source.filename,
        line + source.first_line,
        tuple(source.text[start:end].split("\n")),
        tuple(new.split("\n")) if new or at <= end else (),
    )


def _inserts_lines(edits: list[Edit], source: Source, first: int) -> bool:
    """Whether whole lines are put before the line at `first`, and nothing is taken out."""
    at_start = first in source.line_starts or first == len(source.text)
    return at_start and all(
        edit.span.whole.start == edit.span.end == first and edit.text.endswith("\n")
        for edit in edits
    )


def _end_of_line(source: Source, offset: int) -> int:
    end = source.text.find("\n", offset)
    return len(source.text) if end < 0 else end
