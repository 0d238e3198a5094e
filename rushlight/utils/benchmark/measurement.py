"""Times of a statement, and what they say."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np

from ... import get_num_threads, set_num_threads

__all__ = ["Measurement", "TaskSpec"]

T = TypeVar("T")

_MAX_SIGNIFICANT_FIGURES: Final = 4
_MIN_CONFIDENCE_INTERVAL: Final = 25e-9
_IQR_WARN_THRESHOLD: Final = 0.1
_UNITS: Final = (
    *((1e-9, "ns", "nanoseconds"), (1e-6, "us", "microseconds"), (1e-3, "ms", "milliseconds")),
    (1.0, "s", "seconds"),
)


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time of `t` seconds is written, and how long that is."""
    power = int(np.log10(t) // 3) if t > 0 else 0
    fitting = [each for each in _UNITS if each[0] <= 10.0 ** (3 * power) * 1.001]
    scale, name, _ = fitting[-1] if fitting else _UNITS[0]
    return name, scale


def unit_to_english(u: str) -> str:
    """`us` as `microseconds`."""
    return next(word for _, name, word in _UNITS if name == u)


def trim_sigfig(x: float, n: int) -> float:
    """A number rounded to `n` digits that count."""
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    if not x:
        return x
    scale = 10.0 ** (math.floor(math.log10(abs(x))) - n + 1)
    return float(np.round(x / scale)) * scale


def ordered_unique(elements: Iterable[T]) -> list[T]:
    """Each element once, in the order of their first places."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """A block in which operators use `n` threads."""
    before = get_num_threads()
    set_num_threads(n)
    try:
        yield
    finally:
        set_num_threads(before)


@dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What is measured."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt
        inner = textwrap.indent(self.stmt, "  ")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{inner}"

    def setup_str(self) -> str:
        """The setup, as a report has it."""
        if self.setup in ("", "pass"):
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """What is measured, as a report has it."""
        parts = [self.title, self.description or "", self.setup_str()]
        return "\n".join([f"{each}\n" if "\n" in each else each for each in parts if each])


@dataclass(init=True, repr=False)
class Measurement:
    """Times of a task: `raw_times` in seconds, each of `number_per_run` runs."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[object, object] | None = None

    def __post_init__(self) -> None:
        self._warnings: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name != "task_spec" and hasattr(self.task_spec, name):
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """Seconds a run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The middle of the times."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """Their mean."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """How far the first and third quarters are apart."""
        low, high = np.quantile(self.times, (0.25, 0.75))
        return float(high - low)

    @property
    def significant_figures(self) -> int:
        """How many digits of the median are worth telling.

        The width of what the times leave open is at least 25 ns; more times make it narrower, by
        the square root of their number.
        """
        count = len(self.raw_times)
        total = sum(sorted(self.times)[int(count // 4) : max(int(3 * count // 4), 1)] or [1.0])
        spread = self.iqr / math.sqrt(count) if count > 1 else 0.0
        width = max(spread * 1.35, _MIN_CONFIDENCE_INTERVAL / self.number_per_run)
        relative = math.log10(self.median / width) if total and self.median > 0 else 1
        return min(max(int(relative), 1), _MAX_SIGNIFICANT_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times differ much."""
        return self.iqr / self.median > _IQR_WARN_THRESHOLD

    def meets_confidence(self, threshold: float = _IQR_WARN_THRESHOLD) -> bool:
        """Whether the quarters are no farther apart than a part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """What is measured."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """Where."""
        return "Unspecified env" if self.task_spec.env is None else str(self.task_spec.env)

    @property
    def as_row_name(self) -> str:
        """The name of a row of a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Those of one task as one."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).append(each)
        return [
            Measurement(1, [t for each in group for t in each.times], task)
            for task, group in groups.items()
        ]

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        count = len(self.raw_times)
        lines = [f"<{type(self).__module__}.{type(self).__name__} object at {hex(id(self))}>"]
        lines.append(self.task_spec.summarize())
        if count == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        else:
            low, high = np.quantile(self.times, (0.25, 0.75))
            lines.append(f"  Median: {self.median / scale:.2f} {unit}")
            lines.append(
                f"  IQR:    {self.iqr / scale:.2f} {unit} ({low / scale:.2f} to {high / scale:.2f})"
            )
        ending = "s" if count > 1 else ""
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        runs = f"{self.number_per_run} runs {'per measurement' if count > 1 else ''}"
        lines.append(f"  {count} measurement{ending}, {runs}, {threads}")
        return "\n".join(lines)
