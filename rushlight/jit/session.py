"""One compilation from its outside: nested calls share a collector, the outermost raises.

`script(f)` compiles what `f` calls, which may be Python functions, classes and modules that are
compiled on the way; all their diagnostics come together and are raised once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType

from ..frontend.diagnostics import Collector, Diagnostic
from ..frontend.exceptions import raise_for
from ..frontend.folding import fold

__all__ = ["CompilationFailed", "collecting", "compiling"]

_collector: ContextVar[Collector | None] = ContextVar("collector", default=None)
_gathered: ContextVar[list[Diagnostic] | None] = ContextVar("gathered", default=None)


class CompilationFailed(Exception):
    """Raised instead of the real error while `collecting`, after its diagnostics were kept."""


class compiling:
    """A context that gives the collector of the compilation that is going on, or of a new one.

    A new compilation raises at its end if anything was found (see `frontend.exceptions.raise_for`).
    It is a class, not a generator, so that no frame of `contextlib` shows in the user's traceback.
    """

    __slots__ = ("_token",)

    def __enter__(self) -> Collector:
        outer = _collector.get()
        self._token: Token[Collector | None] | None = None
        if outer is not None:
            return outer
        collector = Collector()
        self._token = _collector.set(collector)
        return collector

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._token is None:
            return
        collector = _collector.get()
        _collector.reset(self._token)
        if error is None and collector is not None:
            _report(collector)


def _report(collector: Collector) -> None:
    gathered = _gathered.get()
    if gathered is not None:
        gathered.extend(fold(collector.found))
        if collector.errors:
            raise CompilationFailed
        return
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
