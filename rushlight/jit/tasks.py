"""`fork` and `wait` as Python runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..interpreter.tasks import Future
from ..ops.futures import TaskResult

__all__ = ["Future", "fork", "wait"]


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
    """Run a function as a task; in scripted code and here it has ended when this returns.

    Raises:
        Exception: what the function raised; of a task forked in script `wait` raises it.
    """
    return Future(TaskResult(func(*args, **kwargs)))


def wait(future: Future) -> Any:
    """The result of a task, or the exception it raised."""
    return future.wait()
