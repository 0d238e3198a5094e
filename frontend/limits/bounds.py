"""What asks for too much: errors that name the bound, in place of Python's own.

Where a program or file can ask for more than there is, `bounded` stands around: at the borders that
users call.  Inside, what counts raises `BoundExceeded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from ..diagnostics.diagnostics import Collector, Diagnostic, Label

__all__ = [
    "DEEPEST_VALUES",
    "EXHAUSTED",
    "BoundExceeded",
    "bounded",
    "bounded_call",
    "report_exhausted",
]


_P = ParamSpec("_P")
_R = TypeVar("_R")

DEEPEST_VALUES = 250
"""How deep modules, lists and other values may lie in each other where they are compiled, saved or
loaded."""


class BoundExceeded(RuntimeError):
    """A value, type or program is larger, or nested deeper, than is allowed.

    `diagnostics` has the error with its code, `limit-exceeded`.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.diagnostics = [Diagnostic("limit-exceeded", message, None, torch_message=message)]


EXHAUSTED = (BoundExceeded, RecursionError, MemoryError)
"""What is raised where something asks for too much."""


def sentence_of(error: BaseException, what: str) -> str:
    """A sentence about one of these; `what` was done or made: "the module"."""
    if isinstance(error, RecursionError):
        return f"{what} is nested too deeply"
    if isinstance(error, MemoryError):
        return f"{what} needs more memory than there is"
    return str(error)


@contextmanager
def bounded(what: str, make: Callable[[str], BaseException] = BoundExceeded) -> Iterator[None]:
    """Raise what `make` makes of a sentence where Python's stack or memory come to their end."""
    try:
        yield
    except (RecursionError, MemoryError) as error:
        sentence = sentence_of(error, what)
    except BoundExceeded as error:
        if make is BoundExceeded:
            raise
        sentence = str(error)
    else:
        return
    raise make(sentence) from None


def bounded_call(
    what: str, make: Callable[[str], BaseException] = BoundExceeded
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A function with `bounded` around each call."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with bounded(what, make):
                return function(*args, **kwargs)

        return call

    return decorate


def report_exhausted(error: BaseException, collector: Collector, where: str) -> None:
    """Report one of `EXHAUSTED` at the statement that is being compiled."""
    message = sentence_of(error, "this")
    label = None if collector.at is None else Label(collector.at.whole, "being compiled here")
    collector.add(Diagnostic("limit-exceeded", message, label, where=where, torch_message=message))
