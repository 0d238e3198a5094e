"""Where in Python the operators of a traced archive were called: a trace keeps these calls in the
place of source text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ...frontend.diagnostics.diagnostics import Frame
from ...frontend.diagnostics.paths import is_own_file, shown
from ...frontend.sources.source import Source
from .spelling import is_of_torch

__all__ = ["is_trace", "traced_at"]

MOST: Final = 6
"""Calls that are told."""


class _Call(NamedTuple):
    """One line, `model.py(95): forward`."""

    file: str
    line: str
    function: str

    @property
    def is_users(self) -> bool:
        return not is_own_file(self.file) and not is_of_torch(self.file)


_LINE: Final = re.compile(r"(.+)\((\d+)\): (.+)")


def _calls(source: Source) -> list[_Call]:
    """The calls that a text consists of, the innermost first; none if it is a program's text."""
    found = [_LINE.fullmatch(line) for line in source.lines if line]
    return [_Call(m[1], m[2], m[3]) for m in found if m is not None] if all(found) else []


def is_trace(frame: Frame) -> bool:
    """Whether what is known of a frame's source are calls of Python."""
    return bool(_calls(frame.span.source))


def traced_at(frame: Frame | None) -> tuple[str, ...]:
    """The note of the calls that led to an operator in Python, without those within torch, by what
    is known of its source."""
    calls = [] if frame is None else _calls(frame.span.source)
    users = [each for each in calls if each.is_users] or calls[:1]
    lines = [f"{shown(each.file)}:{each.line} in {each.function}" for each in users[:MOST]]
    return ("traced at (innermost first):\n" + "\n".join(lines),) if lines else ()
