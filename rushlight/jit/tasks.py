"""`fork` and `wait` as Python runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..interpreter.values.inference import infer_type
from ..interpreter.values.tasks import Future
from ..ir.tracing.trace_bodies import TracedTask
from ..ir.tracing.tracing import GraphTracer
from ..ops.python_values.futures import TaskResult
from ..ops.tensors.tracing import current_tracer

__all__ = ["Future", "fork", "wait"]


def fork(func: Callable[..., object], *args: object, **kwargs: object) -> Future:
    """Run a function as a task; in scripted code and here it has ended when this returns.

    Raises:
        Exception: what the function raised; of a task forked in script `wait` raises it.
    """
    tracer = current_tracer()
    if not isinstance(tracer, GraphTracer):
        return Future.done_with(TaskResult(func(*args, **kwargs)))
    task = TracedTask(tracer)
    result = task.run(lambda: func(*args, **kwargs), infer_type)
    made = _TracedFuture.done_with(TaskResult(result))
    assert isinstance(made, _TracedFuture)
    made.task = task
    return made


class _TracedFuture(Future):
    """The result of a task that is part of a trace, and so is waiting for it."""

    task: TracedTask | None = None

    def wait(self) -> object:
        result = super().wait()
        if self.task is not None and current_tracer() is self.task.tracer:
            self.task.waited(result)
        return result


def wait(future: Future) -> Any:
    """The result of a task, or the exception it raised.

    Raises:
        TypeError: it is none.
        RuntimeError: it is None.
    """
    if future is None:
        raise RuntimeError("Future can't be None")
    if not isinstance(future, Future):
        raise TypeError(
            "wait(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (arg0: torch._C.Future) -> object\n\nInvoked with: {future!r}"
        )
    return future.wait()
