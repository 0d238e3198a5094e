"""Errors that nobody caught, where a person reads them: the readable text comes first.

Python prints `str(e)`, which is torch's text and long, and then the notes.  On a terminal, and in
IPython and notebooks, the diagnostics take the place of both.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from types import TracebackType

from .diagnostics import Diagnostic
from .terminal import colors_wanted, width_wanted

__all__ = ["after_uncaught", "show_readable_first", "tell_of_torch"]

_HINT = "torch's own text is str(e); RUSHLIGHT_DIAGNOSTICS=both shows it here"

_NO_TORCH = """\
`import rushlight as torch` names rushlight in that file alone.  For `from torch import ...`, also
in other packages, call `rushlight.as_torch()` first, or run `python -m rushlight.as_torch FILE`.
"""


def show_readable_first(error: Exception) -> None:
    """Have this error shown so, unless the program has a hook of its own for errors."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _shown
    if "IPython" in sys.modules:
        error._render_traceback_ = _in_ipython  # type: ignore[attr-defined]


def tell_of_torch() -> None:
    """If the program ends since there is no module `torch`, say then what stands in for it.

    Who asks whether there is one, or catches the error, sees what Python says.
    """
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _shown


def after_uncaught(then: Callable[[], None]) -> None:
    """Have something done after an error that nobody caught was shown, which ends the program."""
    shown = _shown if sys.excepthook is sys.__excepthook__ else sys.excepthook

    def show_and_do(
        kind: type[BaseException], error: BaseException, at: TracebackType | None
    ) -> None:
        shown(kind, error, at)
        then()

    sys.excepthook = show_and_do


def _shown(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
    """Python's hook for errors that nobody caught."""
    stream, found = sys.stderr, getattr(error, "diagnostics", ())
    if not found or stream is None or not stream.isatty():
        sys.__excepthook__(kind, error, at)
        if isinstance(error, ModuleNotFoundError) and error.name == "torch" and stream is not None:
            stream.write(_NO_TORCH)
        return
    text = "".join(_lines(kind, error, at, found, colors_wanted(stream)))
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _lines(
    kind: type[BaseException],
    error: BaseException,
    at: TracebackType | None,
    found: Sequence[Diagnostic],
    color: bool,
) -> list[str]:
    """The frames as Python prints them, the diagnostics, and how to have torch's text."""
    from .render import render_rich  # only errors need it, not every start

    told = traceback.TracebackException(kind, error, at)
    told.__notes__ = None
    message = list(told.format_exception_only())
    frames = list(told.format())[: -len(message)]
    readable = render_rich(found, width=width_wanted(sys.stderr), color=color)
    lines = [*frames, f"{kind.__name__}:\n\n", readable.rstrip("\n"), "\n\n"]
    if os.environ.get("RUSHLIGHT_DIAGNOSTICS") == "both":
        return [*lines, *message]
    return [*lines, f"({_HINT})\n"]


def _in_ipython() -> list[str]:
    """What IPython asks an exception for: the lines to show in place of its own."""
    kind, error, at = sys.exc_info()
    if kind is None or error is None:
        return []
    found = getattr(error, "diagnostics", ())
    return "".join(_lines(kind, error, _outside(at), found, color=True)).splitlines()


def _outside(at: TracebackType | None) -> TracebackType | None:
    """A traceback without IPython's own frames, which come first."""
    while at is not None and "IPython" in at.tb_frame.f_code.co_filename:
        at = at.tb_next
    return at
