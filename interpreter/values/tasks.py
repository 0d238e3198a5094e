"""Tasks that running code forks, and their results as Python sees them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import GenericAlias
from typing import Any

from ...ir.graph import Graph
from ...ops.python_values.futures import TaskResult

__all__ = ["Future", "Task"]


class Task:
    """The code of a fork; `tiers` is what the interpreter keeps to run it."""

    name = qualified_name = "<forked function>"
    owner = None

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.tiers: object | None = None

    @property
    def guard(self) -> object | None:
        """What bounds the code, if it is not trusted."""
        return self.graph.guard


class Future:
    """The result of a task in Python: `wait()` gives it, or raises what the task failed with."""

    __module__ = "rushlight"  # its public place

    def __class_getitem__(cls, element: object) -> GenericAlias:
        return GenericAlias(cls, (element,))

    def __init__(self, result: TaskResult, convert: Callable[[Any], object] | None = None) -> None:
        self._result = result
        self._convert = convert

    def wait(self) -> Any:
        """The value of the task.

        Raises:
            Exception: what the task failed with.
        """
        value = self._result.result()
        return value if self._convert is None else self._convert(value)

    def value(self) -> Any:
        """The value of the task; the same as `wait`, since tasks are done at once."""
        return self.wait()

    def done(self) -> bool:
        """Whether the task has ended; always true here."""
        return True

    def set_result(self, result: object) -> None:
        """Give the value, which is there already.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "Attempting to mark a completed Future as complete again. Note that a Future can only "
            "be marked completed once."
        )

    def then(self, callback: Callable[[Future], object]) -> Future:
        """The future of `callback(self)`; its `wait` raises a RuntimeError if that fails."""
        try:
            return Future(TaskResult(callback(self)))
        except Exception as error:  # told to whoever waits
            return Future(TaskResult(error=RuntimeError(_failed(error))))

    def add_done_callback(self, callback: Callable[[Future], object]) -> None:
        """Call `callback(self)`; if it fails, that is written to the standard error."""
        try:
            callback(self)
        except Exception as error:
            print(_failed(error), file=sys.stderr)


def _failed(error: Exception) -> str:
    told = f"{type(error).__name__}: {error}"
    return f"Got the following error when running the callback: {told}"
