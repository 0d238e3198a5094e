"""`rushlight check --fix`: apply the edits that are sure to be right."""

from __future__ import annotations

import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..frontend.diagnostics.diagnostics import Diagnostic
from ..frontend.diagnostics.edits import Edit
from ..frontend.diagnostics.paths import is_library_file
from .atomic import replacing
from .failure import CommandError

__all__ = ["apply_fixes", "sure_edits"]


@dataclass(frozen=True, slots=True)
class _Change:
    """A stretch of a file's text and what takes its place."""

    start: int
    end: int
    text: str


def sure_edits(diagnostic: Diagnostic) -> tuple[Edit, ...]:
    """The edits to apply for a diagnostic: those of its only help that is sure."""
    sure = [h for h in diagnostic.helps if h.edits and h.applicability == "machine"]
    return sure[0].edits if len(sure) == 1 else ()


def apply_fixes(diagnostics: Iterable[Diagnostic]) -> int:
    """Apply all sure edits, file by file, each file whole or not at all.

    A diagnostic's edits are applied together; one that would overlap an earlier one's is left for
    the next run, and so is all that no longer matches the file's text.

    Returns:
        How many diagnostics were dealt with.

    Raises:
        CommandError: a file cannot be read or written.
    """
    texts: dict[str, str] = {}
    changes: dict[str, list[_Change]] = {}
    count = 0
    for diagnostic in diagnostics:
        edits = sure_edits(diagnostic)
        placed = [_placed(edit, texts) for edit in edits]
        if not edits or any(place is None for place in placed):
            continue
        wanted = [place for place in placed if place is not None]
        if any(_overlaps(change, changes.get(file, [])) for file, change in wanted):
            continue
        for file, change in wanted:
            changes.setdefault(file, []).append(change)
        count += 1
    for file, found in changes.items():
        try:
            new = _changed(texts[file], found).encode(_encoding(file))
        except UnicodeEncodeError as error:
            raise CommandError(f"{file}: {error}") from None
        with replacing(file) as out:
            out.write(new)
    return count


def _encoding(file: str) -> str:
    """The encoding that a Python file declares; UTF-8 if it does not."""
    with open(file, "rb") as lines:
        return tokenize.detect_encoding(lines.readline)[0]


def _placed(edit: Edit, texts: dict[str, str]) -> tuple[str, _Change] | None:
    """The change of the file's text that an edit is, if the file still holds what it replaces."""
    span = edit.span.whole
    file = span.filename
    if file is None or is_library_file(file):
        return None
    if file not in texts:
        try:
            texts[file] = Path(file).read_bytes().decode(_encoding(file))
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise CommandError(f"{file}: {error}") from None
    text = texts[file]
    lines = text.split("\n")
    if span.line > len(lines):
        return None
    start = sum(len(line) + 1 for line in lines[: span.line - 1]) + span.column
    end = start + len(span.text)
    new = edit.text.replace("\n", "\r\n") if "\r\n" in text else edit.text
    return (file, _Change(start, end, new)) if text[start:end] == span.text else None


def _overlaps(change: _Change, others: list[_Change]) -> bool:
    return any(change.start < other.end and other.start < change.end for other in others)


def _changed(text: str, changes: list[_Change]) -> str:
    for change in sorted(changes, key=lambda change: change.start, reverse=True):
        text = text[: change.start] + change.text + text[change.end :]
    return text
