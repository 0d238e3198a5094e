"""The clock that bounds a thread's work asks nothing of other threads."""

from __future__ import annotations

import time
from threading import Thread

import pytest

from rushlight.frontend.limits import clock


def test_a_thread_without_a_bound_goes_on_while_another_has_one() -> None:
    before = clock.next_alarm()
    clock.arm(time.monotonic() - 1.0, 0.5)
    told = list[object]()

    def other() -> None:
        try:
            clock.checkpoint()
            told.append(clock.time_left())
        except BaseException as error:
            told.append(error)

    try:
        thread = Thread(target=other)
        thread.start()
        thread.join()
        with pytest.raises(clock.OutOfTime, match=r"more than 0\.5 seconds"):
            clock.checkpoint()
    finally:
        clock.disarm(before)
    assert told == [float("inf")]
    clock.checkpoint()
