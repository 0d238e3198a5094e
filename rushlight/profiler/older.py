"""`torch.autograd.profiler.profile`: a profile of one block."""

from __future__ import annotations

import os
from typing import Any

from .events import EventList, FunctionEventAvg, events_of
from .recording import Recorder

__all__ = ["profile"]


class profile:
    """Notes the operators of a `with` block.

    Args:
        enabled: whether it does anything.
        use_cuda, use_device: there is nothing but a CPU.
        record_shapes, profile_memory, with_stack: what is noted of each call besides.
        with_flops, with_modules, use_kineto, use_cpu, experimental_config, acc_events: taken; they
            change nothing.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: object = None,
        acc_events: bool = False,
        **options: object,
    ) -> None:
        self.enabled, self.entered, self._memory = enabled, False, profile_memory
        self._recorder = Recorder(
            record_shapes=record_shapes, memory=profile_memory, with_stack=with_stack
        )
        self._events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._recorder.start()
        return self

    def __exit__(self, *raised: object) -> None:
        if self.enabled:
            self._recorder.stop()
            recorded = self._recorder
            self._events = events_of(recorded.spans, recorded.began, profile_memory=self._memory)

    @property
    def function_events(self) -> EventList:
        """All calls, in the order in which they began.

        Raises:
            RuntimeError: the block has not ended.
        """
        if self._events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self._events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """Calls of one name together: see `EventList`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def table(self, *args: Any, **options: Any) -> str:
        """All calls as a table: see `EventList`."""
        return self.function_events.key_averages().table(*args, **options)

    def total_average(self) -> FunctionEventAvg:
        """All together."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all calls, in microseconds."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write what Chrome's `about:tracing` reads."""
        self.function_events.export_chrome_trace(path)

    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total"
    ) -> None:
        """Write what makes flame graphs: see `EventList`."""
        self.function_events.export_stacks(path, metric)

    def __str__(self) -> str:
        if self._events is None:
            return "<unfinished torch.autograd.profile>"
        return self._events.key_averages().table()

    __repr__ = __str__
