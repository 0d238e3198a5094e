"""How a command says that it cannot go on."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..frontend.diagnostics.diagnostics import Diagnostic
from ..frontend.diagnostics.render import render_rich
from ..frontend.diagnostics.terminal import colors_wanted, width_wanted
from .speech import complain, write

__all__ = ["BAD_INPUT", "CommandError", "FAILED", "diagnostics_of", "one_line", "report"]

FAILED = 1
"""Exit status: the program under the tool has errors."""

BAD_INPUT = 2
"""Exit status: the tool was called wrongly or cannot read what it was given."""


class CommandError(Exception):
    """Bad input to the tool: told in one line, exit status `BAD_INPUT`."""


def one_line(error: BaseException) -> str:
    """The first line of an exception's text, or its class if it has none."""
    text = str(error).strip()
    return text.split("\n")[0] if text else type(error).__name__


def diagnostics_of(error: BaseException) -> Sequence[Diagnostic]:
    """The diagnostics that an exception carries, if any."""
    found: Sequence[Diagnostic] = getattr(error, "diagnostics", ())
    return found


def report(error: Exception) -> None:
    """Tell on standard error what went wrong in a script: its diagnostics, or torch's text."""
    found = diagnostics_of(error)
    if found:
        width, color = width_wanted(sys.stderr), colors_wanted(sys.stderr)
        write(render_rich(found, width=width, color=color), sys.stderr)
    else:
        complain(str(error).strip() or type(error).__name__)
