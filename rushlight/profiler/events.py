"""Events of a profile: each call, and calls of one name taken together."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from .recording import Span
from .tables import table_of, time_text

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "events_of"]


class Interval(NamedTuple):
    """Begin and end of an event, in microseconds since the profile's begin."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it took."""
        return self.end - self.start


class _Times:
    """What events and averages have in common: times in microseconds."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    device_time = device_time_total = self_device_time_total = 0.0
    cuda_time = self_cuda_time_total = 0.0
    device_memory_usage = self_device_memory_usage = 0
    flops = 0
    is_async = is_remote = is_legacy = False
    node_id = -1
    use_device = None
    overload_name = ""

    @property
    def cpu_time(self) -> float:
        """The time of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """The time of one call, with its unit."""
        return time_text(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """The time of all calls, with its unit."""
        return time_text(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """The time of all calls without what they call, with its unit."""
        return time_text(self.self_cpu_time_total)


class FunctionEvent(_Times):
    """One call."""

    count = 1

    def __init__(self, id: int, span: Span, began: int) -> None:
        self.id, self.name, self.key, self.trace_name = id, span.name, span.name, span.name
        self.time_range = Interval((span.start - began) / 1e3, (span.end - began) / 1e3)
        self.thread = span.thread
        self.input_shapes, self.stack = span.shapes, span.stack
        self.is_user_annotation = span.is_label
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.self_cpu_memory_usage = span.memory

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """How long it took, in microseconds."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """The same without what it called."""
        return self.cpu_time_total - sum(each.cpu_time_total for each in self.cpu_children)

    @property
    def cpu_memory_usage(self) -> int:
        """The bytes of its results, and of those of what it called."""
        return self.self_cpu_memory_usage + sum(e.cpu_memory_usage for e in self.cpu_children)

    def __repr__(self) -> str:
        start, end = self.time_range
        return (
            f"<FunctionEvent id={self.id} name={self.name} device_type=DeviceType.CPU node_id=-1 "
            f"cpu_time={self.cpu_time_str} start_us={start:.3f} end_us={end:.3f} "
            f"cpu_children={[each.id for each in self.cpu_children]} name={self.name} "
            f"thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class FunctionEventAvg(_Times):
    """Calls of one name, or of one name and one choice of shapes."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.input_shapes: object = None
        self.stack: list[str] | None = None
        self.is_user_annotation = False

    def add(self, other: Any) -> FunctionEventAvg:
        """Take in an event or an average."""
        if self.key is None:
            self.key, self.input_shapes, self.stack = other.key, other.input_shapes, other.stack
            self.is_user_annotation = other.is_user_annotation
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        shapes = "" if self.input_shapes is None else str(self.input_shapes)
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_cuda_time=0.000us cuda_time=0.000us "
            f"input_shapes={shapes} cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>"
        )


class EventList(list[Any]):
    """Events or averages of a profile."""

    def __init__(self, events: Iterable[object] = (), *, profile_memory: bool = False) -> None:
        super().__init__(events)
        self._profile_memory = profile_memory

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of all events' times without what they called, in microseconds."""
        return float(sum(event.self_cpu_time_total for event in self))

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """A table, a row an event.

        Raises:
            AttributeError: `sort_by` is no attribute of events.
        """
        events = list(self)
        if sort_by is not None:
            events.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        if top_level_events_only:
            events = [e for e in events if getattr(e, "cpu_parent", None) is None]
        return table_of(
            events,
            self.self_cpu_time_total,
            limit=row_limit,
            widths=(max_name_column_width, max_shapes_column_width, max_src_column_width),
            header=header,
            unit=time_unit,
            memory=self._profile_memory,
        )

    def __str__(self) -> str:
        return self.table()

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Calls of one name together; by shapes and innermost lines too, if asked."""
        found: dict[object, FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            lines = tuple(event.stack[:group_by_stack_n]) if group_by_stack_n else ()
            made = found[event.key, shapes, lines].add(event)
            made.input_shapes = event.input_shapes if group_by_input_shapes else ""
            made.stack = list(lines)
        return EventList(found.values(), profile_memory=self._profile_memory)

    def total_average(self) -> FunctionEventAvg:
        """All together."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write what Chrome's `about:tracing` and Perfetto read: JSON, times in microseconds."""
        events = [
            {
                "ph": "X",
                "cat": "user_annotation" if event.is_user_annotation else "cpu_op",
                "name": event.name,
                "pid": os.getpid(),
                "tid": event.thread,
                "ts": event.time_range.start,
                "dur": event.time_range.elapsed_us(),
                "args": {"Input Dims": event.input_shapes} if event.input_shapes else {},
            }
            for event in self
        ]
        whole = {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": events}
        Path(path).write_text(json.dumps(whole), encoding="utf-8")

    def export_stacks(self, path: str | os.PathLike[str], metric: str) -> None:
        """Write a line for each call with a stack, the outermost first, and its time: what makes
        flame graphs.

        Raises:
            ValueError: the metric is not `self_cpu_time_total`.
        """
        if metric != "self_cpu_time_total":
            raise ValueError("metric should be one of: ['self_cpu_time_total']")
        clean: Callable[[str], str] = lambda text: text.replace(";", "_").replace(" ", "_")  # noqa: E731
        lines = [
            f"{';'.join(clean(each) for each in reversed(e.stack))} {int(e.self_cpu_time_total)}\n"
            for e in self
            if e.stack and int(e.self_cpu_time_total) > 0
        ]
        Path(path).write_text("".join(lines), encoding="utf-8")


def events_of(spans: Iterable[Span], began: int, *, profile_memory: bool = False) -> EventList:
    """Spans as events, in the order in which they began."""
    made: dict[int, FunctionEvent] = {}
    for number, span in enumerate(spans, 1):
        event = made[id(span)] = FunctionEvent(number, span, began)
        parent = made.get(id(span.parent))
        if parent is not None:
            event.cpu_parent = parent
            parent.cpu_children.append(event)
    return EventList(made.values(), profile_memory=profile_memory)
