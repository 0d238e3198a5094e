"""One compilation from its outside: nested calls share a collector, the outermost raises.

`script(f)` compiles what `f` calls, which may be Python functions, classes and modules that are
compiled on the way; all their diagnostics come together and are raised once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..frontend.diagnostics import Collector, Diagnostic
from ..frontend.exceptions import raise_for

__all__ = ["CompilationFailed", "collecting", "compiling"]

_collector: ContextVar[Collector | None] = ContextVar("collector", default=None)
_gathered: ContextVar[list[Diagnostic] | None] = ContextVar("gathered", default=None)


class CompilationFailed(Exception):
    """Raised instead of the real error while `collecting`, after its diagnostics were kept."""


@contextmanager
def compiling() -> Iterator[Collector]:
    """The collector of the compilation that is going on, or of a new one.

    A new compilation raises at its end if anything was found (see `frontend.exceptions.raise_for`).
    """
    outer = _collector.get()
    if outer is not None:
        yield outer
        return
    collector = Collector()
    token = _collector.set(collector)
    try:
        yield collector
    finally:
        _collector.reset(token)
    gathered = _gathered.get()
    if gathered is not None and collector.errors:
        gathered.extend(collector.found)
        raise CompilationFailed
    raise_for(collector)


@contextmanager
def collecting() -> Iterator[list[Diagnostic]]:
    """Let compilations report their diagnostics into a list instead of raising.

    `script` then returns what it was given when it fails, so that a file can be read to its end.
    """
    found: list[Diagnostic] = []
    token = _gathered.set(found)
    try:
        yield found
    finally:
        _gathered.reset(token)
