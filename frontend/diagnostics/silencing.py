"""`# rushlight: ignore[code]` on a line: no warnings of that code there."""

from __future__ import annotations

import re

from ..sources.source import Span
from .paths import is_library_file

__all__ = ["is_silenced"]

_COMMENT = re.compile(r"#\s*rushlight:\s*ignore(?:\[([\w\s,-]*)\])?")


def is_silenced(code: str, span: Span) -> bool:
    """Whether a warning is not wanted at a place: its first line says so, or the code there is a
    library's, which the user cannot change."""
    if is_library_file(span.filename):
        return True
    text = span.source.lines[span.source.line_index(span.whole.start)]
    found = _COMMENT.search(text)
    if found is None:
        return False
    named = found.group(1)
    return named is None or code in {word.strip() for word in named.split(",")}
