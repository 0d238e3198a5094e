"""Measuring how long a statement takes."""

from __future__ import annotations

import enum
import textwrap
import timeit
from collections.abc import Callable, Mapping
from time import perf_counter as timer
from typing import Final, NoReturn

from .measurement import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]

_MIN_RUN_TIME: Final = 0.2


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures a statement; names in it are looked up in `globals`.

    Args:
        stmt: Python.
        setup: runs once before.
        timer: gives the time in seconds.
        num_threads: how many threads operators use.

    Raises:
        NotImplementedError: the statement is C++.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: Mapping[str, object] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError("torch.utils.benchmark.Timer: only Python is measured")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, most likely it is intended for `setup`: {global_setup}"
            )
        stmt, setup = (textwrap.dedent(each).strip("\n") for each in (stmt, setup))
        self._globals = {**(globals or {}), "torch": __import__(__name__.partition(".")[0])}
        self._timer = timeit.Timer(stmt=stmt, setup=setup, timer=timer, globals=self._globals)
        self._task_spec = TaskSpec(
            stmt=stmt,
            setup=setup,
            label=label,
            sub_label=sub_label,
            description=description,
            env=env,
            num_threads=num_threads,
        )

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of that many runs, after a few that do not count."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(int(number // 100), 2))
            return Measurement(number, [self._timeit(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Not here, as in torch.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> NoReturn:
        """Not here, as in torch.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time: float) -> int:
        """How many runs take a thousandth of the whole time, or a tenth of a millisecond."""
        number = 1
        while True:
            spent = self._timeit(number)
            if spent >= min(1e-4, min_run_time / 1000) or number > 10**8:
                return number
            number *= 10

    def blocked_autorange(
        self,
        callback: Callable[[int, float], NoReturn] | None = None,
        min_run_time: float = _MIN_RUN_TIME,
    ) -> Measurement:
        """Times of blocks of runs, until they took `min_run_time` seconds in all."""
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], NoReturn] | None = None,
    ) -> Measurement:
        """The same until the times agree to a part of the median, or `max_run_time` is over."""
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(0.05)
            times: list[float] = []
            while True:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
                made = Measurement(number, times, self._task_spec)
                enough = len(times) > 3 and sum(times) > min_run_time
                if (enough and made.meets_confidence(threshold)) or sum(times) > max_run_time:
                    return made

    def collect_callgrind(self, *args: object, **kwargs: object) -> NoReturn:
        """Counting of instructions, which is not here.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "torch.utils.benchmark.Timer.collect_callgrind: rushlight does not run Valgrind"
        )
