"""The clock by which code that is not trusted is read and compiled.

Its guard arms the clock for a thread; whatever goes through texts, trees, graphs or pickles calls
`checkpoint` now and then, for each statement at least.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Final

from .bounds import BoundExceeded

__all__ = [
    "ARMED",
    "Alarm",
    "OutOfTime",
    "arm",
    "checkpoint",
    "disarm",
    "next_alarm",
    "reprieve",
    "time_left",
]


class OutOfTime(BoundExceeded):
    """It goes on for longer than it may."""


@dataclass(frozen=True, slots=True, eq=False)
class Alarm:
    """When a thread's work is to end, by `time.monotonic`, and how long it may take in all."""

    until: float
    seconds: float


class _Alarms(threading.local):
    next: Alarm | None = None


_ALARMS: Final = _Alarms()
ARMED: Final[set[Alarm]] = set()
"""The alarms of all threads; while there is none, no clock needs a look."""


def next_alarm() -> Alarm | None:
    """When this thread's work is to end by now, which `disarm` takes afterwards."""
    return _ALARMS.next


def arm(until: float, seconds: float) -> None:
    """Let the work of this thread end at a time, if it does not end before."""
    before = _ALARMS.next
    if before is None or until < before.until:
        _ALARMS.next = made = Alarm(until, seconds)
        ARMED.add(made)


def disarm(before: Alarm | None) -> None:
    """Take the alarm off that was set since."""
    alarm = _ALARMS.next
    if alarm is not None and alarm is not before:
        ARMED.discard(alarm)
        _ALARMS.next = before


@contextmanager
def reprieve(seconds: float) -> Iterator[None]:
    """Give this thread so many seconds inside, also if its time is up: to tell what failed."""
    before = _ALARMS.next
    if before is None:
        yield
        return
    later = Alarm(max(before.until, monotonic() + seconds), before.seconds)
    try:
        _ALARMS.next = later
        ARMED.add(later)
        yield
    finally:
        _ALARMS.next = before
        ARMED.discard(later)


def checkpoint() -> None:
    """Go on, if there is time left.

    Raises:
        OutOfTime: this thread's time is up.
    """
    if ARMED:
        alarm = _ALARMS.next
        if alarm is not None and monotonic() > alarm.until:
            raise OutOfTime(f"it has run for more than {alarm.seconds:g} seconds")


def time_left() -> float:
    """The seconds until this thread's work is to end; infinite where nothing bounds it."""
    alarm = _ALARMS.next if ARMED else None
    return inf if alarm is None else alarm.until - monotonic()
