"""Tasks that running code forks, and their results as Python sees them."""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import Any

from ..ir.graph import Graph
from ..ops.futures import TaskResult

__all__ = ["Future", "Task"]


class Task:
    """The code of a fork; `executable` is what the interpreter keeps to run it."""

    name = qualified_name = "<forked function>"
    owner = None

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.executable: object | None = None

    @property
    def guard(self) -> object | None:
        """What bounds the code, if it is not trusted."""
        return self.graph.guard


class Future:
    """The result of a task in Python: `wait()` gives it, or raises what the task failed with."""

    def __class_getitem__(cls, element: Any) -> GenericAlias:
        return GenericAlias(cls, (element,))

    def __init__(self, result: TaskResult, convert: Callable[[Any], Any] | None = None) -> None:
        self._result = result
        self._convert = convert

    @property
    def task_result(self) -> TaskResult:
        """The result as the machine has it."""
        return self._result

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

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """The future of `callback(self)`."""
        try:
            return Future(TaskResult(callback(self)))
        except Exception as error:  # told to whoever waits
            return Future(TaskResult(error=error))
