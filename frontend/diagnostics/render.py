"""Diagnostics as text: for people, in one line each, for GitHub, for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby

from ..sources.source import UNKNOWN, Span
from .cells import clean, clean_lines, width_of
from .diagnostics import HTML, Diagnostic, Frame, Help, Label, sorted_by_place
from .edits import Hunk, hunks
from .html import as_html
from .paths import is_own_file, shown
from .sarif import render_sarif
from .snippet import Row, snippet

__all__ = [
    "FORMATS",
    "render",
    "render_concise",
    "render_github",
    "render_json",
    "render_rich",
    "render_sarif",
]

MAXIMUM = 20
"""Diagnostics shown at most in the readable form."""

_COLORS = {
    "error": "1;31",
    "bug": "1;31",
    "warning": "1;33",
    "message": "1",
    "margin": "1;34",
    "primary": "1;31",
    "secondary": "1;34",
    "remove": "31",
    "insert": "32",
}


# --------------------------------------------------------------------------------- for programs


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """One line for each: `file:line:column: error[code] message`."""
    lines = []
    for diagnostic in sorted_by_place(diagnostics):
        span = _place(diagnostic)
        place = f"{_file_line(span)}:{span.column + 1}: " if span else ""
        text = _one_line(diagnostic.message)
        lines.append(f"{place}{diagnostic.severity}[{diagnostic.code}] {text}\n")
    return "".join(lines)


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """One workflow command for each, which GitHub shows beside the changed lines."""
    lines = []
    for diagnostic in sorted_by_place(diagnostics):
        span = _place(diagnostic)
        kind = "warning" if diagnostic.severity == "warning" else "error"
        place = ""
        if span is not None:
            name = _escaped(clean(shown(span.filename)), ":,")
            place = f"file={name},line={span.line},col={span.column + 1},"
        title = _escaped(diagnostic.code, ":,")
        lines.append(
            f"::{kind} {place}title={title}::{_escaped(clean_lines(diagnostic.message))}\n"
        )
    return "".join(lines)


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" + more else c for c in text)


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """One JSON object on one line for each."""
    dicts = (diagnostic.to_dict() for diagnostic in sorted_by_place(diagnostics))
    return "".join(json.dumps(d) + "\n" for d in dicts)


# ----------------------------------------------------------------------------------- for people


def render_rich(
    diagnostics: Iterable[Diagnostic],
    *,
    width: int = 100,
    color: bool = False,
    max_errors: int = MAXIMUM,
) -> str:
    """The readable form of all diagnostics, by place, with a last line that counts them."""
    found = sorted_by_place(diagnostics)
    if not found:
        return ""
    parts = [_Page(diagnostic, width, color).text() for diagnostic in found[:max_errors]]
    return "\n".join(parts) + "\n" + _summary(found, max_errors) + "\n"


def _summary(found: Sequence[Diagnostic], max_errors: int) -> str:
    shown_here = found[:max_errors]
    warnings = sum(d.severity == "warning" for d in shown_here)
    errors = len(shown_here) - warnings
    counts = [_count(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n]
    if len(found) > max_errors:
        counts.append(f"and {len(found) - max_errors} more")
    return f"{', '.join(counts)}; `rushlight explain {found[0].code}` says more"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


class _Page:
    """One diagnostic being laid out; every line has a margin that holds line numbers."""

    def __init__(self, diagnostic: Diagnostic, width: int, color: bool) -> None:
        self.diagnostic = diagnostic
        self.width = width
        self.color = color
        self.hunks = [hunks(help.edits) for help in diagnostic.helps]
        self.margin_width = self._margin_width()
        self.rows: list[Row] = []

    def _margin_width(self) -> int:
        numbers = [1]
        for label, _ in self.diagnostic.labels():
            if label.span.source is not UNKNOWN.source:
                numbers.append(label.span.end_line)
        for group in self.hunks:
            numbers.extend(hunk.line + max(len(hunk.remove), len(hunk.insert)) for hunk in group)
        return len(str(max(numbers)))

    def text(self) -> str:
        """The whole of it, one line end after each line."""
        diagnostic = self.diagnostic
        head = f"{diagnostic.severity}[{diagnostic.code}]"
        self.rows.append(
            [(head, diagnostic.severity), (": " + _one_line(diagnostic.message), "message")]
        )
        self.picture()
        self.values()
        for note in diagnostic.notes:
            self.paragraph("note", note)
        self.stack()
        for help, group in zip(diagnostic.helps, self.hunks, strict=True):
            self.help(help, group)
        return "".join(self.line(row) + "\n" for row in self.rows)

    def line(self, row: Row) -> str:
        pieces = list(row)
        while pieces and not pieces[-1][0].strip() and pieces[-1][1] == "":
            pieces.pop()
        if not self.color:
            return "".join(text for text, _ in pieces)
        return "".join(_colored(text, style) for text, style in pieces)

    # ---------------------------------------------------------------------------- the picture

    def margin(self, number: int | None) -> Row:
        text = "" if number is None else str(number)
        return [(f"{text:>{self.margin_width}} |", "margin"), (" ", "")]

    def empty(self) -> None:
        self.rows.append([(" " * self.margin_width + " |", "margin")])

    def picture(self) -> None:
        """The place of the diagnostic and the marked source lines, file by file."""
        diagnostic = self.diagnostic
        span = _place(diagnostic)
        indent = " " * self.margin_width
        if span is None:
            if diagnostic.where:
                self.rows.append([(indent + "--> ", "margin"), (_one_line(diagnostic.where), "")])
            return
        place = f"{_file_line(span)}:{span.column + 1}"
        if diagnostic.where:
            place += f", {_one_line(diagnostic.where)}"
        self.rows.append([(indent + "--> ", "margin"), (place, "")])
        labels = [pair for pair in diagnostic.labels() if pair[0].span.source is not UNKNOWN.source]
        here = [pair for pair in labels if pair[0].span.filename == span.filename]
        self.marked(here)
        others = [pair for pair in labels if pair[0].span.filename != span.filename]
        for _, group in groupby(others, key=lambda pair: pair[0].span.filename or ""):
            pairs = list(group)
            first = pairs[0][0].span.whole
            where = f"{_file_line(first)}:{first.column + 1}"
            self.rows.append([(indent + "::: ", "margin"), (where, "")])
            self.marked(pairs)
        if diagnostic.values or diagnostic.notes or self.frames or diagnostic.helps:
            self.empty()

    def marked(self, labels: list[tuple[Label, bool]]) -> None:
        self.empty()
        self.rows.extend(snippet(labels, self.margin, self.width - self.margin_width - 3))

    # -------------------------------------------------------------------------- what follows

    def item(self, text: str) -> None:
        self.rows.append([(" " * self.margin_width + " = ", "margin"), (text, "")])

    def sub_item(self, text: str) -> None:
        self.rows.append([(" " * (self.margin_width + 5) + clean(text), "")])

    def paragraph(self, kind: str, text: str) -> None:
        """`= note: ...`, wrapped, its lines aligned."""
        indent = self.margin_width + 3 + len(kind) + 2
        lines: list[str] = []
        for part in text.split("\n"):
            lines.extend(_wrapped(clean(part), self.width - indent))
        self.item(f"{kind}: {lines[0]}")
        self.rows.extend([(" " * indent + line, "")] for line in lines[1:])

    def values(self) -> None:
        values = self.diagnostic.values
        if not values:
            return
        self.item("values:")
        widest = max(width_of(value.expression) for value in values)
        for value in values:
            space = " " * (widest - width_of(value.expression))
            self.sub_item(f"{_one_line(value.expression)}{space} : {_one_line(value.value)}")

    @property
    def frames(self) -> list[Frame]:
        """The calls in the user's files, if there is more than the one that is shown above."""
        stack = self.diagnostic.stack
        users = [f for f in stack if not is_own_file((f.span.original or f.span).filename or "")]
        return users if len(users) > 1 or not _place(self.diagnostic) else []

    def stack(self) -> None:
        for number, frame in enumerate(self.frames):
            if not number:
                self.item("called from (outermost first):")
            text = _one_line(frame.span.text)
            self.sub_item(f"{_file_line(frame.span)}  in {frame.function}: {text}")

    def help(self, help: Help, group: list[Hunk]) -> None:
        self.paragraph("help", help.text)
        for hunk in group:
            self.empty()
            self.hunk(hunk)

    def hunk(self, hunk: Hunk) -> None:
        place = _place(self.diagnostic)
        if place is None or hunk.filename != place.filename:
            self.rows.append(
                [(" " * self.margin_width + "::: ", "margin"), (clean(shown(hunk.filename)), "")]
            )
        for sign, style, lines in (("-", "remove", hunk.remove), ("+", "insert", hunk.insert)):
            for number, line in enumerate(lines, hunk.line):
                margin = f"{number:>{self.margin_width}} "
                text = clean(line).replace("\t", "    ")
                self.rows.append([(margin, "margin"), (f"{sign} {text}", style)])


def _place(diagnostic: Diagnostic) -> Span | None:
    label = diagnostic.primary
    if label is None or label.span.source is UNKNOWN.source:
        return None
    return label.span.whole


def _file_line(span: Span) -> str:
    return f"{clean(shown(span.filename))}:{span.whole.line}"


def _one_line(text: str) -> str:
    return clean(" ".join(text.split("\n")) if "\n" in text else text)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_long_words=False, break_on_hyphens=False) or [
        ""
    ]


def _colored(text: str, style: str) -> str:
    code = _COLORS.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() else text


FORMATS = {
    "rich": render_rich,
    "concise": render_concise,
    "github": render_github,
    "json": render_json,
    "sarif": render_sarif,
}


def render(
    diagnostics: Iterable[Diagnostic],
    format: str,
    *,
    width: int,
    color: bool,
    max_errors: int = MAXIMUM,
) -> str:
    """The text in a format of `FORMATS`; width, colour and limit matter to "rich" alone."""
    if format == "rich":
        return render_rich(diagnostics, width=width, color=color, max_errors=max_errors)
    if format not in FORMATS:
        raise ValueError(f"no format {format!r}; there are {', '.join(FORMATS)}")
    return FORMATS[format](diagnostics)


HTML.install(lambda diagnostic: as_html(render_rich([diagnostic], width=100, color=True)))
