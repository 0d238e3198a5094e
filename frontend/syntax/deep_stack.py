"""Programs that nest deeply: Python's stack is made deeper for them while they are compiled.

Python's parser takes some 3,000 operands, links or `elif`s in a row.  What walks such a tree begins
as usual; where the stack ends, it begins anew with a limit that has room for all of them.  Python's
frames take nothing of the machine's stack but what calls through C between them need: less than
0.7 kB were measured for each level of the deepest programs.  Small stacks keep the limit.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from ..foundations.locks import after_fork, fork_safe_lock
from ..sources.source import Span
from . import tree

__all__ = [
    "SHALLOW",
    "deeply",
    "goes_deep",
    "is_deep",
    "usual_limit",
    "with_frames_anew",
    "with_room",
    "with_usual_depth",
]

_P = ParamSpec("_P")
_T = TypeVar("_T")

DEEP: Final = 60_000
"""The limit meanwhile: twenty frames for each level that the parser takes."""

STEPS: Final = 30_000
"""The limit for what goes down step by step through others' code, which may call through C."""

SHALLOW: Final = 60
"""Levels of a tree or graph for which the usual limit has room in any case."""

NEEDED: Final = 4 << 20
"""Bytes of stack that a thread must have."""

_LOCK: Final = fork_safe_lock()


class _Raised:
    """The limit while it is raised, which is one for all threads."""

    def __init__(self) -> None:
        self.limits: dict[int, list[int]] = {}
        """What threads need for the blocks that they are in, the last one last."""
        self.usual = 0
        """What it is outside; 0 while it is not raised."""
        self.now = 0
        """What it was set to."""

    def is_here(self) -> bool:
        """Whether it is raised for this thread as far as it goes."""
        return DEEP in self.limits.get(threading.get_ident(), ())

    @contextmanager
    def block(self, limit: int = DEEP) -> Iterator[None]:
        """A block for which it is raised."""
        thread = threading.get_ident()
        with _LOCK:
            if not self.limits:
                self.usual = self.now = sys.getrecursionlimit()
            self.limits.setdefault(thread, []).append(limit)
            self._settle()
        try:
            yield
        finally:
            with _LOCK:
                self.limits[thread].pop()
                if not self.limits[thread]:
                    del self.limits[thread]
                self._settle()

    def _settle(self) -> None:
        """Set the limit to what the threads need, and back where none needs it any more."""
        needed = max([self.usual, *(max(limits) for limits in self.limits.values())])
        if self.usual and needed != self.now == sys.getrecursionlimit():
            sys.setrecursionlimit(needed)
            self.now = needed
        if not self.limits:
            self.usual = 0

    def forget(self) -> None:
        """In a forked child the other threads are gone."""
        here = threading.get_ident()
        self.limits = {here: self.limits[here]} if here in self.limits else {}
        self._settle()


_RAISED: Final = _Raised()
after_fork(_RAISED.forget)


def is_deep(root: object) -> bool:
    """Whether a syntax tree nests deeply; if not, it is not the tree that the stack ends for."""
    waiting = [(root, 0)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, tree.Boolean):
            depth += len(part.values)  # each of them will lie in the one before
        elif isinstance(part, tree.Compare):
            depth += len(part.rights)
        if depth > SHALLOW:
            return True
        if isinstance(part, tuple):
            waiting.extend((each, depth) for each in part)
        elif is_dataclass(part) and not isinstance(part, Span):
            waiting.extend((getattr(part, each.name), depth + 1) for each in fields(part))
    return False


def usual_limit() -> int:
    """How many frames may lie in each other, where the limit is not raised for a while."""
    return _RAISED.usual or sys.getrecursionlimit()


def _nothing() -> None:
    """Nothing has to be undone."""


def deeply(
    make: Callable[[], _T],
    undo: Callable[[], None] = _nothing,
    may: Callable[[], bool] = lambda: True,
) -> _T:
    """What `make` makes; where the stack ends, `undo` and try again with a deeper one.

    `may` says whether that is good for anything: Python code of others that calls itself for ever
    must not get it.

    Raises:
        RecursionError: that is not enough either, or there is no room for it.
    """
    try:
        return make()
    except RecursionError:
        if _RAISED.is_here() or usual_limit() >= DEEP:
            raise
        if not (may() and _has_room()):
            raise
    undo()
    with _RAISED.block():
        return make()


@contextmanager
def with_room(levels: int) -> Iterator[None]:
    """What runs inside goes down so many levels, and cannot begin anew: the stack is made deeper
    beforehand."""
    if levels <= SHALLOW or _RAISED.is_here() or not _has_room():
        yield
        return
    with _RAISED.block():
        yield


@contextmanager
def with_frames_anew() -> Iterator[None]:
    """What runs inside may have as many frames as if the program began here, up to STEPS of all:
    for what goes down step by step, with others' code in each, which must not go on for ever."""
    limit = min(STEPS, _depth() + usual_limit())
    if limit <= sys.getrecursionlimit() or not _has_room():
        yield
        return
    with _RAISED.block(limit):
        yield


def _depth() -> int:
    """How many frames lie in each other here."""
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


@contextmanager
def with_usual_depth() -> Iterator[None]:
    """Python's parser runs inside: it takes no deeper trees than ever, or C's stack might end."""
    if not _RAISED.is_here():
        yield
        return
    sys.setrecursionlimit(min(DEEP, _depth() + _RAISED.usual))
    try:
        yield
    finally:
        sys.setrecursionlimit(DEEP)


def _has_room() -> bool:
    """Whether this thread's stack is known to be large enough."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    thread, size = ctypes.c_ulong(threading.get_ident()), ctypes.c_size_t()
    attributes = ctypes.create_string_buffer(256)
    try:
        system = ctypes.CDLL(None)
        if system.pthread_getattr_np(thread, attributes):
            return False
        system.pthread_attr_getstacksize(attributes, ctypes.byref(size))
        system.pthread_attr_destroy(attributes)
    except (OSError, AttributeError):
        return False
    return size.value >= NEEDED


def goes_deep(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """A function without effects, called as by `deeply`."""

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        return deeply(lambda: function(*args, **kwargs))

    return call
