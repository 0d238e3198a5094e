"""Batches of numbered trials in a process with limits, and which of them stops or ends it.

The process is sent ranges of numbers and answers with what broke; the number that it is at stands
in memory that both sides see, so that a hang or a crash is told of by its number at no cost to the
other trials.  Time is the processor's, which others at work do not make longer.
"""

from __future__ import annotations

import io
import mmap
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

SECONDS = 5.0
PATIENCE = 20
"""By the clock on the wall a trial may take this many times as long, busy or asleep."""
MEMORY = 4 << 30

__all__ = ["SECONDS", "Batches", "Trials"]

Trials = Callable[[], Callable[[int], str]]
"""Called in the process, makes ready; returns what tries a number and says what rule it breaks."""


class _Place:
    """Where the process is: the trial's number, and the processor's time when it began."""

    def __init__(self) -> None:
        self._words = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("q")
        self.leave(0)

    def enter(self, number: int) -> None:
        """The trial begins."""
        self._words[1] = time.process_time_ns()
        self._words[0] = number

    def leave(self, following: int) -> None:
        """No trial is under way; `following` is the next."""
        self._words[1] = -1
        self._words[0] = following

    @property
    def number(self) -> int:
        return self._words[0]

    @property
    def began(self) -> float | None:
        """Seconds of the processor's time; None between trials."""
        return None if self._words[1] < 0 else self._words[1] / 1e9


def _work(connection: Connection, place: _Place, trials: Trials) -> None:
    sys.stdout = io.StringIO()
    attempt = trials()
    sys.setrecursionlimit(10_000)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # a file that is written kills the process
    connection.send(None)
    while True:
        first, end = connection.recv()
        for number in range(first, end):
            sys.stdout = io.StringIO()
            place.enter(number)
            told = attempt(number)
            place.leave(number + 1)
            if told:
                connection.send((number, told))
        connection.send(None)


def _processor_seconds(process: BaseProcess) -> float:
    """What a process has taken of the processor's time."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Batches:
    """A process that tries numbers, made anew when one of them kills or stops it."""

    def __init__(self, trials: Trials, seconds: float = SECONDS) -> None:
        self._trials, self._seconds = trials, seconds
        self._start()

    def _start(self) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        self._place = _Place()
        context = multiprocessing.get_context("fork")
        arguments = (theirs, self._place, self._trials)
        self._process = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        theirs.close()  # so that its end is seen when the process ends
        self._connection.recv()  # it is ready

    def run(self, first: int, end: int) -> Iterator[tuple[int, str]]:
        """The numbers of `first` to `end` that break a rule, each with what it breaks."""
        while first < end:
            self._place.leave(first)
            self._connection.send((first, end))
            try:
                while (answer := self._answer()) is not None:
                    yield answer
                return
            except (EOFError, ConnectionResetError):
                self._process.join()
                fate = f"the process ended (status {self._process.exitcode})"
            except TimeoutError:
                self.stop()
                fate = f"it ran for more than {self._seconds:g} seconds"
            at = self._place.number
            yield at, fate
            first = at + 1
            self._start()

    def _answer(self) -> tuple[int, str] | None:
        """A number that breaks a rule, or None at the end of the batch.

        Raises:
            TimeoutError: a trial takes too long.
            EOFError, ConnectionResetError: the process has ended.
        """
        seen, until = -1, 0.0
        while not self._connection.poll(0.25):
            number, began = self._place.number, self._place.began
            if number != seen:
                seen, until = number, time.monotonic() + PATIENCE * self._seconds
            late = time.monotonic() > until
            if began is not None and number == self._place.number:
                late |= _processor_seconds(self._process) > began + self._seconds
            if late and number == self._place.number:
                raise TimeoutError
        answer: tuple[int, str] | None = self._connection.recv()
        return answer

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
