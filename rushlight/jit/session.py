"""One compilation from its outside: nested calls share a collector, the outermost raises.

`script(f)` compiles what `f` calls, which may be Python functions, classes and modules that are
compiled on the way; all their diagnostics come together and are raised once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from types import FrameType, TracebackType

from ..frontend.diagnostics.diagnostics import Collector, Diagnostic
from ..frontend.diagnostics.exceptions import raise_for
from ..frontend.diagnostics.folding import fold
from ..typecheck.definitions.functions import Function

__all__ = [
    *("Compilation", "CompilationFailed", "Gathered", "GivenUp"),
    *("collecting", "compiling", "gather", "is_known", "trying"),
]

_running: ContextVar[compiling | None] = ContextVar("running", default=None)
_gathered: ContextVar[Gathered | None] = ContextVar("gathered", default=None)


@dataclass
class Gathered:
    """What compilations reported while `collecting`, how many there were, and of what functions."""

    found: list[Diagnostic] = field(default_factory=list)
    compilations: int = 0
    functions: list[Function] = field(default_factory=list)
    known: Callable[[object], bool] | None = None
    """Of which functions all is known already: they are compiled when they are needed."""


class CompilationFailed(Exception):
    """Raised instead of the real error while `collecting`, after its diagnostics were kept."""


@dataclass
class Compilation(Collector):
    """The diagnostics of one compilation, and what it remembers until it is over.

    `being_defined` are the functions whose bodies are being compiled, the outermost first;
    `needed_failed` those that call one whose errors were reported already.
    """

    being_defined: list[Function] = field(default_factory=list)
    needed_failed: set[Function] = field(default_factory=set)

    def needs_failed(self) -> None:
        """What is being compiled needs something that failed."""
        self.needed_failed.update(self.being_defined[-1:])


class compiling:
    """A context that gives the compilation that is going on in this thread, or a new one.

    A new compilation raises at its end if anything was found (see `frontend.exceptions.raise_for`).
    It is a class, not a generator, so that no frame of `contextlib` shows in the user's traceback.
    """

    __slots__ = ("_compilation", "_frame", "_token")

    _compilation: Compilation
    _frame: FrameType | None

    def __enter__(self) -> Compilation:
        outer = _running.get()
        frame = sys._getframe(1)
        self._token: Token[compiling | None] | None = None
        if outer is not None and outer._is_above(frame):
            return outer._compilation
        self._begin(Compilation(), frame)
        return self._compilation

    def _begin(self, compilation: Compilation, frame: FrameType) -> None:
        self._compilation = compilation
        self._frame = frame
        self._token = _running.set(self)

    def _is_above(self, frame: FrameType | None) -> bool:
        """Whether the block still runs: an interrupt can come before its end is noted."""
        while frame is not None:
            if frame is self._frame:
                return True
            frame = frame.f_back
        return False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._token is None:
            return
        self._frame = None
        _running.reset(self._token)
        if error is None:
            _report(self._compilation)


def gather(function: Function) -> None:
    """Keep a function that was compiled while `collecting`."""
    gathered = _gathered.get()
    if gathered is not None:
        gathered.functions.append(function)


def is_known(python: object) -> bool:
    """Whether whoever is `collecting` knows all of a function."""
    gathered = _gathered.get()
    return gathered is not None and gathered.known is not None and gathered.known(python)


class GivenUp(Exception):
    """A compilation that was only tried has found its first error."""


class _Attempt(Compilation):
    """A compilation that is given up at the first error, and so has nothing to report."""

    def add(self, diagnostic: Diagnostic) -> None:
        if diagnostic.severity != "warning":
            raise GivenUp


class trying(compiling):
    """A context of a new compilation.

    Its first error ends it with `GivenUp`; definitions under way are then as if not begun.
    """

    __slots__ = ()

    def __enter__(self) -> Compilation:
        self._begin(_Attempt(), sys._getframe(1))
        return self._compilation


def _report(collector: Collector) -> None:
    gathered = _gathered.get()
    if gathered is not None:
        gathered.found.extend(fold(collector.found))
        gathered.compilations += 1
        if collector.errors:
            raise CompilationFailed
        return
    raise_for(collector)


@contextmanager
def collecting(known: Callable[[object], bool] | None = None) -> Iterator[Gathered]:
    """Let compilations report their diagnostics into one place instead of raising.

    `script` then returns what it was given when it fails, so that a file can be read to its end.
    """
    gathered = Gathered(known=known)
    token = _gathered.set(gathered)
    try:
        yield gathered
    finally:
        _gathered.reset(token)
