"""Where Python called scripted code: the call in the user's file that is running now."""

from __future__ import annotations

import linecache
import sys
from itertools import islice
from types import FrameType

from ..sources.source import Source, Span
from .paths import is_own_file

__all__ = ["call_site"]


def call_site() -> Span | None:
    """The call, in the innermost function that is none of rushlight's; None if its file is not
    known."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        if frame.f_code.co_filename.endswith("__main__.py"):
            return None  # what called the command line is none of the user's
        frame = frame.f_back
    if frame is None:
        return None
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    position = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if not lines or position is None:
        return None
    line, end_line, column, end_column = position
    if line is None or end_line is None or column is None or end_column is None:
        return None
    if not 1 <= line <= end_line <= len(lines):
        return None
    source = Source("".join(lines), frame.f_code.co_filename)
    start, end = source.line_starts[line - 1], source.line_starts[end_line - 1]
    first, last = lines[line - 1].encode(), lines[end_line - 1].encode()
    start += len(first[:column].decode(errors="ignore"))
    return Span(source, start, end + len(last[:end_column].decode(errors="ignore")))
