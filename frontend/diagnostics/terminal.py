"""What the place that output goes to can show."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

__all__ = ["colors_wanted", "width_wanted"]

NARROWEST = 60
USUAL = 100


def colors_wanted(stream: TextIO | None = None) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR; FORCE_COLOR and TERM=dumb are heeded."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    if os.environ.get("TERM") == "dumb":
        return False
    stream = sys.stderr if stream is None else stream
    return stream is not None and stream.isatty()


def width_wanted(stream: TextIO | None = None) -> int:
    """Columns to fill: COLUMNS, else the terminal's, else 100; never fewer than 60."""
    stream = sys.stderr if stream is None else stream
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return max(NARROWEST, int(columns))
    if stream is not None and stream.isatty():
        return max(NARROWEST, shutil.get_terminal_size((USUAL, 24)).columns)
    return USUAL
