"""Counters that programs add to, and the logger that keeps them: `torch.jit._logging`."""

from __future__ import annotations

from enum import Enum
from time import perf_counter_ns
from typing import Final

from ...frontend.foundations.chosen import Chosen
from ...frontend.foundations.locks import fork_safe_lock
from ..table.table import operator

__all__ = ["AggregationType", "LockingLogger", "LoggerBase", "NoopLogger", "set_logger"]


class AggregationType(Enum):
    """What becomes of the values that are added to one counter."""

    SUM = 0
    AVG = 1


class LoggerBase:
    """Takes the values that programs add."""

    def add_stat_value(self, name: str, value: int) -> None:
        """Add to a counter."""
        raise NotImplementedError(type(self).__name__)


class NoopLogger(LoggerBase):
    """Keeps nothing."""

    def add_stat_value(self, name: str, value: int) -> None:
        """Nothing is added."""


class LockingLogger(LoggerBase):
    """Keeps sums, or means; several threads may add at the same time."""

    def __init__(self) -> None:
        self._lock = fork_safe_lock()
        self._sums: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._kinds: dict[str, AggregationType] = {}

    def add_stat_value(self, name: str, value: int) -> None:
        """Add to a counter."""
        with self._lock:
            self._sums[name] = self._sums.get(name, 0) + value
            self._counts[name] = self._counts.get(name, 0) + 1

    def get_counter_val(self, name: str) -> int:
        """The sum of what was added, or its mean, rounded down; 0 if that is nothing."""
        with self._lock:
            count = self._counts.get(name, 0)
            if not count:
                return 0
            is_mean = self._kinds.get(name) is AggregationType.AVG
            return self._sums[name] // count if is_mean else self._sums[name]

    def set_aggregation_type(self, name: str, type: AggregationType) -> None:
        """Say what becomes of the values of a counter: they are summed unless that is said."""
        with self._lock:
            self._kinds[name] = type


_LOGGER: Final[Chosen[LoggerBase]] = Chosen(NoopLogger())


def set_logger(logger: LoggerBase) -> LoggerBase:
    """Have another logger take the values; gives the one before."""
    return _LOGGER.exchange(logger)


@operator("prim::AddStatValue(str key, int val) -> ()", effects=True)
def add_stat_value(key: str, val: int) -> None:
    _LOGGER.now.add_stat_value(key, val)


@operator("prim::TimePoint() -> int", effects=True)
def time_point() -> int:
    return perf_counter_ns()
