"""`torch.utils.throughput_benchmark`: how many calls a second a module takes from some threads."""

from __future__ import annotations

import itertools
import random
import threading
import time
from typing import Any

from ..nn.modules.module import Module

__all__ = ["ExecutionStats", "ThroughputBenchmark", "format_time"]


def format_time(
    time_us: float | None = None, time_ms: float | None = None, time_s: float | None = None
) -> str:
    """A time as text, in seconds from one second on, in milliseconds from one of these on.

    Args:
        time_us, time_ms, time_s: the time in micro-, milli- or whole seconds: one of them.

    Raises:
        AssertionError: not one of them.
    """
    given = [
        each * scale
        for each, scale in ((time_us, 1.0), (time_ms, 1e3), (time_s, 1e6))
        if each is not None
    ]
    if len(given) != 1:
        raise AssertionError("Expected only one of time_us, time_ms, time_s is given.")
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if given[0] >= size:
            return f"{given[0] / size:.3f}{unit}"
    return f"{given[0]:.3f}us"


class ExecutionStats:
    """What was measured."""

    def __init__(self, latency_s: float, calls: int, threads: int, total_s: float) -> None:
        self._latency_s = latency_s
        self._calls = calls
        self._threads = threads
        self.total_time_seconds = total_s

    @property
    def latency_avg_ms(self) -> float:
        """How long a call took, in milliseconds."""
        return self._latency_s * 1e3

    @property
    def num_iters(self) -> int:
        """How many calls there were."""
        return self._calls

    @property
    def iters_per_second(self) -> float:
        """How many calls a second all threads made."""
        return self._calls / self.total_time_seconds

    def __str__(self) -> str:
        return "\n".join(
            [
                "Average latency per example: " + format_time(time_ms=self.latency_avg_ms),
                f"Total number of iterations: {self.num_iters}",
                "Total number of iterations per second (across all threads): "
                f"{self.iters_per_second:.2f}",
                "Total time: " + format_time(time_s=self.total_time_seconds),
            ]
        )


class ThroughputBenchmark:
    """Calls a module from several threads with inputs that are chosen at random.

    Args:
        module: scripted or not.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._inputs: list[tuple[tuple[object, ...], dict[str, object]]] = []

    def add_input(self, *args: object, **kwargs: object) -> None:
        """Arguments that calls may have."""
        self._inputs.append((args, kwargs))

    def run_once(self, *args: object, **kwargs: object) -> Any:
        """One call, as it would be measured."""
        return self._module(*args, **kwargs)

    def benchmark(
        self,
        num_calling_threads: int = 1,
        num_warmup_iters: int = 10,
        num_iters: int = 100,
        profiler_output_path: str = "",
    ) -> ExecutionStats:
        """Measure calls.

        Args:
            num_calling_threads: how many threads call.
            num_warmup_iters: how many calls each thread makes before.
            num_iters: how many calls are measured, of all threads together.
            profiler_output_path: taken, without effect.

        Raises:
            RuntimeError: no input was added.
        """
        if not self._inputs:
            raise RuntimeError(
                "Please provide benchmark inputs.Did you forget to call add_input()?"
            )
        gate = threading.Barrier(num_calling_threads + 1)
        left = itertools.count()
        spent = [0.0] * num_calling_threads

        def work(number: int) -> None:
            for _ in range(num_warmup_iters):
                self._call()
            gate.wait()
            while next(left) < num_iters:
                begin = time.perf_counter()
                self._call()
                spent[number] += time.perf_counter() - begin

        threads = [
            threading.Thread(target=work, args=(number,)) for number in range(num_calling_threads)
        ]
        for thread in threads:
            thread.start()
        gate.wait()
        begin = time.perf_counter()
        for thread in threads:
            thread.join()
        total = time.perf_counter() - begin
        return ExecutionStats(sum(spent) / num_iters, num_iters, num_calling_threads, total)

    def _call(self) -> None:
        args, kwargs = random.choice(self._inputs)
        self._module(*args, **kwargs)
