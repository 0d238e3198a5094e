"""A failure of rushlight's own while it compiles, told as such, at the line being compiled."""

from __future__ import annotations

import linecache
import traceback

from ...frontend.diagnostics.diagnostics import Collector, Diagnostic, Label
from ...frontend.diagnostics.paths import is_own_file
from ...frontend.sources.source import UNKNOWN

__all__ = ["FAULTS", "report_fault"]

FAULTS = (AssertionError, AttributeError, LookupError, TypeError, ValueError, ArithmeticError)
"""What a mistake in rushlight's code raises."""


def report_fault(error: Exception, collector: Collector, where: str, is_ours: bool = False) -> bool:
    """Report the error if it is rushlight's own: not one that the user's code raised on the way,
    nor, unless `is_ours`, one that was raised on purpose."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno or 0).strip()
    if not is_own_file(frame.filename) or (line.startswith("raise ") and not is_ours):
        return False
    place = collector.at or UNKNOWN
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    collector.add(
        Diagnostic(
            code="internal",
            message="rushlight failed while compiling this",
            primary=Label(place.whole, "being compiled here"),
            where=where,
            notes=(
                f"{text} ({frame.name})",
                "this is a fault of rushlight: please report it with this program",
            ),
            severity="bug",
        )
    )
    return True
