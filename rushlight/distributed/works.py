"""Works: what processes have begun together, and how one waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from ..ops.tensors.tensor import Tensor
from .backends import DistBackendError, default_pg_timeout
from .communicators import Pending

__all__ = ["Work", "waited"]

_AT_ONCE: Final = 30
"""Looks without a pause, each of which lets other processes run."""

_LONGEST: Final = 0.0005
"""Seconds of the longest pause between two looks."""


def waited(pending: Pending, seconds: float, what: str) -> None:
    """Wait for something, with pauses that grow, so that a process that waits uses no core.

    Raises:
        DistBackendError: it takes longer than it may, or failed.
    """
    end, looks = time.monotonic() + seconds, 0
    while not pending.done():
        looks += 1
        if looks <= _AT_ONCE:
            time.sleep(0)
            continue
        if time.monotonic() > end:
            pending.abandon()
            raise DistBackendError(
                f"Timed out waiting {seconds * 1000:.0f}ms for {what} operation to complete"
            )
        time.sleep(min(_LONGEST, 2e-5 * (looks - _AT_ONCE)))


class Work:
    """Something that was begun, which is finished when somebody waits for it or asks.

    Args:
        pending: what was begun.
        what: its name, for errors.
        timeout: how long `wait` waits.
        finish: what is left to do in this process once it is done.
        results: the tensors that it fills.
        members: the numbers among all processes of the group's members.
    """

    def __init__(
        self,
        pending: Pending,
        what: str = "the",
        timeout: timedelta = default_pg_timeout,
        finish: Callable[[], None] | None = None,
        results: Sequence[Tensor] = (),
        members: Sequence[int] = (0,),
    ) -> None:
        self._pending: Pending | None = pending
        self._what = what
        self._timeout = timeout
        self._finish = finish
        self._results = list(results)
        self._members = members
        self._failure: Exception | None = None
        self._source = -1

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until it is done; True.

        Raises:
            DistBackendError: that takes longer than `timeout` (the group's, if None or 0), or the
                backend failed.
        """
        seconds = (timeout or self._timeout).total_seconds()

        def until_done(pending: Pending) -> bool:
            waited(pending, seconds, self._what)
            return True

        self._proceed(until_done)
        if self._failure is not None:
            raise self._failure
        return True

    def is_completed(self) -> bool:
        """Whether it is done, well or not."""
        self._proceed(lambda pending: pending.done())
        return self._pending is None

    def is_success(self) -> bool:
        """Whether it is done, and well."""
        return self.is_completed() and self._failure is None

    def exception(self) -> Exception | None:
        """What went wrong, if anything did."""
        return self._failure

    def synchronize(self) -> None:
        """`wait`."""
        self.wait()

    def result(self) -> list[Tensor]:
        """The tensors that it filled.

        Raises:
            RuntimeError: it is not done.
        """
        if not self.is_completed():
            raise RuntimeError("Work needs to be completed before calling result()")
        return list(self._results)

    def source_rank(self) -> int:
        """The number among all processes of the one whose message was received."""
        return self._members[self._source] if self._source >= 0 else -1

    def _proceed(self, is_done: Callable[[Pending], bool]) -> None:
        """End if what was begun is done, or has failed."""
        pending = self._pending
        if pending is None:
            return
        try:
            if not is_done(pending):
                return
        except DistBackendError as failure:
            self._pending, self._failure = None, failure
            return
        finish, self._pending, self._finish = self._finish, None, None
        self._source = pending.source()
        if finish is not None:
            finish()
