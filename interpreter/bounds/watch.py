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
from contextlib import suppress
from typing import Final

from ...frontend.foundations.locks import after_fork, fork_safe_lock
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

_LOCK: Final = fork_safe_lock()


def watch(call: Watched, seconds: float) -> None:
    """Let a call of this thread end after so many seconds."""
    call.until = time.monotonic() + seconds
    call.told = 0.0
    call.thread = threading.get_ident()
    if WALL and not _WATCH.running:
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE + WALL[0])
    _WATCH.running.add(call)
    if not _WATCH.awake.is_set():
        _WATCH.start()


def unwatch(call: Watched) -> None:
    """The call has ended; nothing reaches its thread any more."""
    with _LOCK:
        _WATCH.running.discard(call)
        if WALL and not _WATCH.running:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if call.told:
            _take_back(call.thread)


class _Watch:
    """The calls that are watched, and the thread that does it, which sleeps if there is none."""

    def __init__(self) -> None:
        self.running: set[Watched] = set()
        self.awake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Have the thread look, and begin it if there is none."""
        self.awake.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._go, name="rushlight-watch", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # the interpreter is shutting down
                self._thread = None

    def forget(self) -> None:
        """In a forked child the thread is gone; so are the calls of other threads."""
        self.awake = threading.Event()
        self._thread = None
        here = threading.get_ident()
        self.running.intersection_update({call for call in self.running if call.thread == here})
        if self.running:
            self.start()

    def _go(self) -> None:
        stand_by()
        idle = 0
        while True:
            time.sleep(TICK)
            if self.running:
                idle = 0
                self._look(time.monotonic())
                continue
            idle += 1
            if idle * TICK > 1:
                self.awake.clear()
                if not self.running:  # else a call has begun in between
                    self.awake.wait()
                self.awake.set()

    def _look(self, now: float) -> None:
        for call in list(self.running):
            if now > call.until + GRACE and now > call.told + AGAIN:
                with _LOCK:
                    if call in self.running and not _is_leaving(call.thread):
                        call.told = now
                        _send(call.thread, LimitExceeded)


_WATCH: Final = _Watch()
after_fork(_WATCH.forget)


def _is_leaving(thread: int) -> bool:
    """Whether a thread is in the few lines that end a guarded call."""
    frame = sys._current_frames().get(thread)
    return frame is None or frame.f_code.co_filename in _OWN


_OWN: Final = {__file__, os.path.join(os.path.dirname(__file__), "guard.py")}


class _Nothing(BaseException):
    """Sent to a thread for it to take something."""


def _take_back(thread: int) -> None:
    """Have nothing of what was sent to this thread reach it any more.

    Before version 3.13 Python looks for what was sent until something is taken, so something is:
    else all goes on more slowly, and with a debugger (`sys.settrace`) functions never begin.
    """
    _send(thread, None)
    with suppress(_Nothing):
        _send(thread, _Nothing)
        for _ in range(2):  # Python looks at the end of a round at the latest
            pass


def _send(thread: int, error: type[BaseException] | None) -> None:
    told = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), told)
