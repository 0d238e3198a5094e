"""`fork` and `wait` as Python runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..interpreter.values.tasks import Future
from ..ops.python_values.futures import TaskResult

__all__ = ["Future", "fork", "wait"]


def fork(func: Callable[..., object], *args: object, **kwargs: object) -> Future:
    """Run a function as a task; in scripted code and here it has ended when this returns.

    Raises:
        Exception: what the function raised; of a task forked in script `wait` raises it.
    """
    return Future.done_with(TaskResult(func(*args, **kwargs)))


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
