"""Locks that survive a fork.

A lock that another thread holds when the process forks would stay taken in the child for ever, and
what it protects would stay half-made.  So a fork waits until nobody else holds a lock made here,
imports one of our modules, or is inside a foreign function that is `whole`; the child gets all of
them anew.  Who holds a lock must come to an end by itself: after `PATIENCE` seconds the fork goes
on, and the child forgets what was half-made.
"""

from __future__ import annotations

import _imp
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial, wraps
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Final, ParamSpec, Protocol, TypeVar
from weakref import ref

__all__ = ["DEFINING", "Lock", "after_fork", "fork_safe_lock", "whole"]

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE: Final = 120.0
"""Seconds that a fork waits for other threads."""

_OURS: Final = (
    *("rushlight", "llvmlite", "lark", "threadpoolctl", "ml_dtypes", "numpy", "ctypes"),
)
"""Packages that are imported in the middle of work, when they are first needed."""


class Lock(Protocol):
    """What Python's re-entrant locks are; their class has no public name."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...
    def __enter__(self) -> bool: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def _is_owned(self) -> bool: ...
    def _at_fork_reinit(self) -> None: ...


class _Living:
    """Locks that live as long as who has them."""

    def __init__(self) -> None:
        self._locks: dict[int, ref[Lock]] = {}

    def add(self, lock: Lock) -> None:
        """One more."""
        key = id(lock)
        self._locks[key] = ref(lock, partial(self._locks.pop, key))

    def all(self) -> list[Lock]:
        """Those that there are."""
        found = [each() for each in list(self._locks.values())]
        return [lock for lock in found if lock is not None]


class _Made:
    """The locks that were made here, but for those of threads."""

    def __init__(self) -> None:
        self.tried: list[Lock] = []
        self.usual: list[Lock] = []
        self.of_objects = _Living()

    def all(self) -> list[Lock]:
        """Them, and LLVM's, in the order in which a fork takes them."""
        return [*self.tried, *self.usual, *self.of_objects.all(), *_borrowed()]


_made: Final = _Made()
_forgetting: Final[list[Callable[[], None]]] = []


_Plain: Final[Any] = type(threading.RLock())


class _Closing(_Plain):  # type: ignore[misc]  # a class that is not known by a name
    """A lock that no signal can leave taken: Python 3.14 looks for signals between its own locks'
    being taken and the beginning of the `with` block, which then never ends."""

    def __enter__(self) -> bool:
        before = self._recursion_count()
        try:
            taken: bool = self.acquire()
        except BaseException:
            if self._recursion_count() > before:
                self.release()
            raise
        return taken  # nobody looks for signals where a function in Python returns


_Lock: Final[Callable[[], Lock]] = _Closing if sys.version_info >= (3, 14) else _Plain


class _Held(threading.local):
    """What the thread that forks has taken for that, and lent."""

    def __init__(self) -> None:
        self.locks: list[Lock] = []
        self.all = False


_held: Final = _Held()


def fork_safe_lock(*, of_object: bool = False, is_tried: bool = False) -> Lock:
    """A re-entrant lock that is free in a forked child; `of_object`: it goes with its owner.

    Whoever holds one may take those that were made later, never an earlier one.  Nobody waits for
    one that `is_tried` (it is taken where it is free), so who holds it may take any: forks wait for
    it before all others.  No signal can come between its being taken and its `with` block.
    """
    made = _Lock()
    if is_tried:
        _made.tried.append(made)
    elif of_object:
        _made.of_objects.add(made)
    else:
        _made.usual.append(made)
    return made


DEFINING: Final = fork_safe_lock()
"""Held by the one thread that defines functions, or makes what runs them, at a time.

Functions of two threads may need each other in any order, so there is one lock for all of them.
What is made already is read without it.  Who defines takes any other lock, so this is the first.
"""


def _borrowed() -> list[Lock]:
    """The lock of LLVM, which is held while native code is made."""
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    lock = getattr(getattr(library, "_lock", None), "_lock", None)
    return [lock] if isinstance(lock, _Plain) else []


def after_fork(forget: Callable[[], None]) -> None:
    """Have a function called in forked children, where no other thread is left."""
    _forgetting.append(forget)


def _before() -> None:
    if _held.all:
        return  # registered more than once
    until = monotonic() + PATIENCE
    lent = _lend()
    tries = 0
    while True:
        _take(_made.all(), until)
        _imp.acquire_lock()  # every import needs it to begin
        tries += 1
        if monotonic() > until or not _importing_elsewhere(tries < 20):
            break
        _release()  # what is imported may need our locks
        sleep(0.001)
    _take([_gate.lock], until)
    _gate.is_closed = True
    _take(_gate.of_threads.all(), until)
    lock = _logging()
    if lock is not None:
        for _ in range(lent):
            lock.acquire()
    _held.all = True


def _take(locks: Sequence[Lock], until: float) -> None:
    for lock in locks:
        if lock.acquire(timeout=max(0.0, until - monotonic())):
            _held.locks.append(lock)


def _logging() -> Lock | None:
    lock: Lock | None = getattr(sys.modules.get("logging"), "_lock", None)
    return lock


def _lend() -> int:
    """Let others log while the fork waits for them; gives how often the lock has to be taken again.

    The fork takes that lock too, and first if `logging` was imported after this module.  Those who
    hold a lock of ours, or import, may need it.
    """
    lock, count = _logging(), 0
    while lock is not None and lock._is_owned():
        lock.release()
        count += 1
    return count


def _importing_elsewhere(about_to_begin: bool) -> bool:
    """Whether another thread imports one of our modules, or is about to, if that is asked for."""
    found: dict[str, Any] = getattr(sys.modules["_frozen_importlib"], "_module_locks", {})
    locks = [known() for name, known in found.copy().items() if name.partition(".")[0] in _OURS]
    owners = {lock.owner for lock in locks if lock is not None} - {threading.get_ident()}
    return bool(owners if about_to_begin else owners - {None})


def _release() -> None:
    _gate.is_closed = False
    _imp.release_lock()
    while _held.locks:
        _held.locks.pop().release()


def _after_in_parent() -> None:
    if _held.all:
        _held.all = False
        _release()


def _after_in_child() -> None:
    if not _held.all:
        return
    _after_in_parent()
    for lock in (*_made.all(), _gate.lock, *_gate.of_threads.all()):
        if not lock._is_owned():
            lock._at_fork_reinit()
    for forget in _forgetting:
        forget()


# --------------------------------------------------------------------------- foreign functions


class _Gate:
    """What a fork closes while it waits for threads to come out of foreign functions."""

    def __init__(self) -> None:
        self.lock = _Lock()
        self.is_closed = False
        self.of_threads = _Living()


_gate: Final = _Gate()


class _Inside(threading.local):
    """The lock that a thread holds while it is inside a foreign function."""

    def __init__(self) -> None:
        self.lock = _Lock()
        with _gate.lock:
            _gate.of_threads.add(self.lock)


_inside: Final = _Inside()


def whole(function: Callable[P, T]) -> Callable[P, T]:
    """A function of a library that a fork amid it would leave locked, in the child or for good.

    A fork waits for it.  It must take no lock of ours, and call nothing that does.
    """

    @wraps(function)
    def call(*values: P.args, **named: P.kwargs) -> T:
        if _gate.is_closed and not _inside.lock._is_owned():
            with _gate.lock:  # or who does nothing else would never let the fork in
                pass
        with _inside.lock:
            return function(*values, **named)

    return call


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
