"""Work shared by several threads.

Native kernels run without the interpreter's lock, each on a range of its own.  The threads are our
own, so that user threads may call kernels at the same time, and a forked child starts anew.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

from ...frontend.foundations.locks import after_fork
from ...frontend.foundations.started import started
from ..memory.allocation import carrying

__all__ = ["followers", "get_threads", "set_threads", "share"]


class _Part:
    """A piece of work for whichever thread comes first."""

    def __init__(self, work: Callable[..., object], *values: object) -> None:
        self._work = work
        self._values = values
        self._begun = threading.Lock()
        self._ended = threading.Lock()
        self._ended.acquire()
        self._process = os.getpid()
        self._error: BaseException | None = None

    def do(self) -> None:
        """Do it, unless another thread does."""
        if not self._begun.acquire(blocking=False):
            return
        try:
            self._work(*self._values)
        except BaseException as error:
            self._error = error
        finally:
            self._values = ()
            self._ended.release()

    def finish(self) -> BaseException | None:
        """What it raised, or what came to this thread meanwhile; it has ended in any case."""
        came: BaseException | None = None
        while True:
            try:
                self.do()
                while not self._ended.acquire(timeout=1.0):
                    if os.getpid() != self._process:
                        return RuntimeError("a signal's handler forked amid a native kernel")
            except BaseException as error:  # from such a handler
                came = error
            else:
                return came or self._error


class _Crew:
    """The threads of this process, made when first needed."""

    def __init__(self) -> None:
        self.size = _wanted()
        self._forget()
        after_fork(self._forget)

    def _forget(self) -> None:
        """In a forked child there are no threads but one."""
        self._parts: SimpleQueue[_Part | None] = SimpleQueue()
        self._members = 0
        self._growing = threading.Lock()

    def give(self, parts: list[_Part]) -> None:
        """Have parts done by other threads, as far as there are some."""
        if self._members < self.size - 1 and self._growing.acquire(blocking=False):
            try:
                while self._members < self.size - 1 and self._begin():
                    self._members += 1
            finally:
                self._growing.release()
        if self._members:
            for part in parts:
                self._parts.put(part)

    def _begin(self) -> bool:
        return started(f"rushlight-kernel_{self._members}", _serve, self._parts) is not None

    def resize(self, size: int) -> None:
        """Have so many threads, the one that shares included."""
        parts, members = self._parts, self._members
        self.size = size
        self._forget()
        for _ in range(members):
            parts.put(None)


def _serve(parts: SimpleQueue[_Part | None]) -> None:
    while (part := parts.get()) is not None:
        part.do()
        del part  # which holds arrays


def _wanted() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


_CREW: Final = _Crew()


followers: Final[list[Callable[[int], None]]] = []
"""What is told when there are to be more threads or fewer."""


def get_threads() -> int:
    """How many threads share a large piece of work."""
    return _CREW.size


def set_threads(count: int) -> None:
    """Let that many threads share a large piece of work.

    Raises:
        RuntimeError: the count is not a positive int.
        ValueError: it does not fit into 64 bits.
    """
    if type(count) is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if not -(1 << 63) <= count < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _CREW.resize(count)
    for follow in followers:
        follow(count)
    _limit_blas(count)


def _limit_blas(count: int) -> None:
    """Let NumPy's matrix products use as many: small ones are far slower on threads that wait."""
    from threadpoolctl import threadpool_limits  # its look at all loaded libraries can wait

    threadpool_limits(limits=count, user_api="blas")


def share(kernel: Callable[..., object], count: int, least: int, *rest: object) -> None:
    """Call `kernel(start, stop, *rest)` for ranges that together are 0 to `count`.

    A thread gets at least `least` of them.  The ranges never change what a kernel writes: each
    element is computed alone.
    """
    parts = min(_CREW.size, count // least if least else count)
    if parts <= 1:
        kernel(0, count, *rest)
        return
    work = carrying(kernel)
    bounds = [count * i // parts for i in range(parts + 1)]
    pending = [_Part(work, bounds[i], bounds[i + 1], *rest) for i in range(1, parts)]
    try:
        _CREW.give(pending)
        kernel(0, bounds[1], *rest)
    finally:
        errors = [error for part in pending if (error := part.finish()) is not None]
        if errors:
            raise errors[0]
