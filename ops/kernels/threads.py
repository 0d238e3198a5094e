"""Work shared by several threads.

Native kernels run without the interpreter's lock, each on a range of its own.  The threads are our
own, so that user threads may call kernels at the same time, and a forked child starts anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...frontend.locks import after_fork, ask_first
from ..memory.allocation import carrying

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["get_threads", "set_threads", "share"]


class _Crew:
    """The threads of this process, made when first needed."""

    def __init__(self) -> None:
        self.size = _wanted()
        self.pool: ThreadPoolExecutor | None = None

    def start(self) -> ThreadPoolExecutor:
        """The pool; two threads may both make one, then the last is kept."""
        if self.pool is None:
            from concurrent.futures import ThreadPoolExecutor  # start-up need not wait for it

            ask_first()
            self.pool = ThreadPoolExecutor(max(1, self.size - 1), "rushlight-kernel")
        return self.pool

    def forget(self) -> None:
        """In a forked child the threads are gone."""
        self.pool = None


def _wanted() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


_CREW: Final = _Crew()
after_fork(_CREW.forget)


def get_threads() -> int:
    """How many threads share a large piece of work."""
    return _CREW.size


def set_threads(count: int) -> None:
    """Let that many threads share a large piece of work.

    Raises:
        RuntimeError: the count is not a positive int.
    """
    if type(count) is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _CREW.size, _CREW.pool = count, None
    _limit_blas(count)


def _limit_blas(count: int) -> None:
    """Let NumPy's matrix products use as many: small ones are far slower on threads that wait."""
    from threadpoolctl import threadpool_limits  # its look at all loaded libraries can wait

    threadpool_limits(limits=count, user_api="blas")


def share(kernel: Callable[..., Any], count: int, least: int, *rest: Any) -> None:
    """Call `kernel(start, stop, *rest)` for ranges that together are 0 to `count`.

    A thread gets at least `least` of them.  The ranges never change what a kernel writes: each
    element is computed alone.
    """
    parts = min(_CREW.size, count // least if least else count)
    if parts <= 1:
        kernel(0, count, *rest)
        return
    pool = _CREW.start()
    work = carrying(kernel)
    bounds = [count * i // parts for i in range(parts + 1)]
    try:
        pending = [pool.submit(work, bounds[i], bounds[i + 1], *rest) for i in range(1, parts)]
    except RuntimeError:  # the interpreter is shutting down: no new threads
        kernel(0, count, *rest)
        return
    try:
        kernel(0, bounds[1], *rest)
    finally:
        _wait(pending)


def _wait(pending: list[Future[Any]]) -> None:
    for each in pending:
        each.result()
