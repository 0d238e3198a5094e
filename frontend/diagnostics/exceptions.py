"""Exceptions: torch's classes and torch's text, with the diagnostics attached.

`str(e)` is what torch would say of the first error it would find; `e.diagnostics` holds all; the
readable form is a note (PEP 678), so that Python and pytest print it after the message; on a
terminal it comes in the place of both (`uncaught.py`).
`RUSHLIGHT_DIAGNOSTICS=rich` makes the readable form the message, `torch` leaves it out.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Literal, NoReturn

from .cells import clean_lines
from .diagnostics import Collector, Diagnostic
from .folding import fold
from .paths import is_own_file
from .terminal import colors_wanted, width_wanted
from .torch_text import compile_error_text, exception_name
from .uncaught import show_readable_first

__all__ = [
    "FrontendError",
    "FrontendTypeError",
    "NotSupportedError",
    "ScriptError",
    "ScriptWarning",
    "UnsupportedNodeError",
    "attach",
    "exception_class",
    "exception_for",
    "raise_for",
    "trim_traceback",
    "trimmed",
]


class FrontendError(Exception):
    """The source of a function cannot be read as script (`torch.jit.frontend.FrontendError`)."""


class NotSupportedError(FrontendError):
    """The source uses Python that script does not have."""


class UnsupportedNodeError(NotSupportedError):
    """The source uses a kind of statement or expression that script does not have."""


class FrontendTypeError(FrontendError):
    """The source uses a type in a way that cannot be read."""


class ScriptError(Exception):
    """An exception that a script raised itself (`torch.jit.Error`)."""


ScriptError.__module__ = "rushlight.jit"
ScriptError.__name__ = ScriptError.__qualname__ = "Error"


class ScriptWarning(UserWarning):
    """Something in a script that is probably not meant; the message begins with its code.

    `diagnostic` holds the whole of it.
    """

    diagnostic: Diagnostic | None = None


_CLASSES: dict[str, type[Exception]] = {
    "FrontendError": FrontendError,
    "NotSupportedError": NotSupportedError,
    "UnsupportedNodeError": UnsupportedNodeError,
    "FrontendTypeError": FrontendTypeError,
    "ScriptError": ScriptError,
    "Error": ScriptError,
}


def exception_class(name: str) -> type[Exception]:
    """The class a `Diagnostic.exception` names; RuntimeError for an unknown name."""
    found = _CLASSES.get(name) or getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, Exception):
        return found
    return RuntimeError


# -------------------------------------------------------------------------------------- raising


def raise_for(collector: Collector) -> None:
    """Raise the errors of a compilation, if there are any; warnings are given as warnings."""
    for diagnostic in collector.found:
        if diagnostic.severity == "warning":
            _warn(diagnostic)
    if collector.errors:
        raise exception_for(collector.errors) from None


def exception_for(diagnostics: Sequence[Diagnostic], text: str | None = None) -> Exception:
    """The exception for diagnostics in order of discovery: class and text are the first one's.

    `text` is torch's text where it is not that of a compile error.
    """
    first = diagnostics[0]
    if first.severity == "bug":
        # Torch has no text for a failure of rushlight's own.
        return attach(RuntimeError(first.message), diagnostics)
    (first,) = fold([first])
    message = clean_lines(compile_error_text(first)) if text is None else text
    mode = _mode()
    if mode == "rich":
        message = _readable(fold(diagnostics))
    return attach(_make(exception_class(exception_name(first)), message), fold(diagnostics))


def _make(cls: type[Exception], message: str) -> Exception:
    if issubclass(cls, SyntaxError | UnicodeError):
        # Their text comes from their attributes, which this is not about.
        return SyntaxError(message)
    return cls(message)


def attach(error: Exception, diagnostics: Sequence[Diagnostic]) -> Exception:
    """Give an exception its `diagnostics` and, as a note, their readable form; returns it."""
    error.diagnostics = list(diagnostics)  # type: ignore[attr-defined]
    if _mode() == "both":
        error.add_note("\n" + _readable(diagnostics).rstrip("\n"))
        show_readable_first(error)
    return error


def _readable(diagnostics: Sequence[Diagnostic]) -> str:
    from .render import render_rich  # only errors need it, not every start

    return render_rich(diagnostics, width=width_wanted(), color=colors_wanted())


def _mode() -> Literal["rich", "torch", "both"]:
    wanted = os.environ.get("RUSHLIGHT_DIAGNOSTICS", "both")
    if wanted == "rich":
        return "rich"
    return "torch" if wanted == "torch" else "both"


def _warn(diagnostic: Diagnostic) -> None:
    import warnings

    label = diagnostic.primary
    warning = ScriptWarning(f"[{diagnostic.code}] {diagnostic.message}")
    warning.diagnostic = diagnostic
    if label is None:
        warnings.warn(warning, stacklevel=3)
    else:
        warnings.warn_explicit(warning, ScriptWarning, str(label.span.filename), label.span.line)


# ----------------------------------------------------------------------------------- tracebacks


def trim_traceback(error: BaseException) -> None:
    """Take rushlight's own frames off an exception's traceback.

    `RUSHLIGHT_TRACEBACK=full` leaves them.  In an `except` block followed by a bare `raise` the
    frame of that block does not come back.
    """
    if os.environ.get("RUSHLIGHT_TRACEBACK") == "full":
        return
    kept: list[TracebackType] = []
    at = error.__traceback__
    while at is not None:
        if not is_own_file(at.tb_frame.f_code.co_filename):
            kept.append(at)
        at = at.tb_next
    trimmed: TracebackType | None = None
    for entry in reversed(kept):
        trimmed = TracebackType(trimmed, entry.tb_frame, entry.tb_lasti, entry.tb_lineno or 1)
    error.__traceback__ = trimmed


class trimmed:
    """A context in which exceptions that leave it lose rushlight's own frames."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        if error is not None:
            trim_traceback(error)
        return False


def fail(diagnostic: Diagnostic) -> NoReturn:
    """Raise one diagnostic at once."""
    raise exception_for([diagnostic]) from None
