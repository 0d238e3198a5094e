"""The clock of guarded calls: one thread that knows when each has to end.

Running code looks at the clock itself, every few thousand instructions.  What does not (an operator
that loops in Python, a compilation, a pickle that is read) gets an exception sent a little after
its time is up, and again while it goes on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Final

from ...frontend.locks import after_fork, fork_safe_lock
from ...ops.memory.errors import LimitExceeded
from ...ops.memory.metadata import stand_by

__all__ = ["WALL", "Watched", "unwatch", "watch"]

TICK: Final = 0.05
"""Seconds between two looks."""

GRACE: Final = 1.0
"""Seconds that a call gets to notice by itself that its time is up: an exception that is sent may
come while a finalizer runs, where Python can only print it."""

AGAIN: Final = 0.5
"""Seconds until an exception that was caught is sent again."""


class Watched:
    """A call that is to end at a time, of `time.monotonic`."""

    def __init__(self) -> None:
        self.until = 0.0
        self.told = 0.0
        self.thread = 0


WALL: Final[list[float]] = []
"""In a process of the command line: the seconds after which the system ends a call that overruns
its time, whatever it does."""

_RUNNING: Final[set[Watched]] = set()
_LOCK: Final = fork_safe_lock()
_AWAKE = threading.Event()
_THREADS: Final[list[threading.Thread]] = []


def watch(call: Watched, seconds: float) -> None:
    """Let a call of this thread end after so many seconds."""
    call.until = time.monotonic() + seconds
    call.told = 0.0
    call.thread = threading.get_ident()
    if WALL and not _RUNNING:
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE + WALL[0])
    _RUNNING.add(call)
    if not _AWAKE.is_set():
        _start()


def unwatch(call: Watched) -> None:
    """The call has ended; nothing reaches its thread any more."""
    with _LOCK:
        _RUNNING.discard(call)
        if WALL and not _RUNNING:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if call.told:
            _send(call.thread, None)


def _start() -> None:
    _AWAKE.set()
    if not _THREADS:
        made = threading.Thread(target=_watch, name="rushlight-watch", daemon=True)
        _THREADS.append(made)
        try:
            made.start()
        except RuntimeError:  # the interpreter is shutting down
            _THREADS.clear()


def _forget() -> None:
    """In a forked child the thread is gone; so are the calls of other threads."""
    global _AWAKE
    _AWAKE = threading.Event()
    _THREADS.clear()
    here = threading.get_ident()
    _RUNNING.intersection_update({call for call in _RUNNING if call.thread == here})
    if _RUNNING:
        _start()


after_fork(_forget)


def _watch() -> None:
    stand_by()
    idle = 0
    while True:
        time.sleep(TICK)
        if _RUNNING:
            idle = 0
            _look(time.monotonic())
            continue
        idle += 1
        if idle * TICK > 1:
            _AWAKE.clear()
            if not _RUNNING:  # else a call has begun in between
                _AWAKE.wait()
            _AWAKE.set()


def _look(now: float) -> None:
    for call in list(_RUNNING):
        if now > call.until + GRACE and now > call.told + AGAIN:
            with _LOCK:
                if call in _RUNNING and not _is_leaving(call.thread):
                    call.told = now
                    _send(call.thread, LimitExceeded)


def _is_leaving(thread: int) -> bool:
    """Whether a thread is in the few lines that end a guarded call."""
    frame = sys._current_frames().get(thread)
    return frame is None or frame.f_code.co_filename in _OWN


_OWN: Final = {__file__, os.path.join(os.path.dirname(__file__), "guard.py")}


def _send(thread: int, error: type[Exception] | None) -> None:
    told = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), told)
