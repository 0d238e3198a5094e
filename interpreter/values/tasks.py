"""Tasks that running code forks, and their results as Python sees them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Final, NoReturn

from ...frontend.foundations.port import Port
from ...ir.functions.graph_functions import function_of_graph
from ...ir.graphs.graph import Graph
from ...ops.python_values.futures import TaskResult
from ...typecheck.definitions.functions import Function

__all__ = ["CALL", "RUN_TASK", "Future", "Task"]

RUN_TASK: Final[Port[Callable[[Task, Sequence[object]], object]]] = Port()
"""What runs a task within running code: from machine values to a machine value."""

CALL: Final[Port[Callable[[Function, Sequence[object]], object]]] = Port()
"""What calls a function with Python values."""


class Task:
    """The code of a fork, or of an awaitable; `tiers` is what the interpreter keeps to run it."""

    owner = None

    def __init__(self, graph: Graph, *, awaited: bool = False) -> None:
        self.graph = graph
        self.awaited = awaited
        self.tiers: object | None = None
        self.name = self.qualified_name = f"<{'awaitable' if awaited else 'forked'} function>"
        self._function: Function | None = None

    @property
    def function(self) -> Function:
        """The function that Python calls when it waits for what running code has not."""
        if self._function is None:
            self._function = function_of_graph(self.name, self.graph)
        return self._function

    def __call__(self, values: Sequence[object]) -> object:
        """Run it, within running code."""
        assert RUN_TASK.installed is not None
        return RUN_TASK.installed(self, values)

    @property
    def guard(self) -> object | None:
        """What bounds the code, if it is not trusted."""
        return self.graph.guard


class Future:
    """A result that may come later: `wait()` gives it, or raises what the task failed with.

    Those of tasks hold their result when they are made; one that a program makes itself gets it
    by `set_result` or `set_exception`.
    """

    __module__ = "rushlight"  # its public place

    def __class_getitem__(cls, element: object) -> GenericAlias:
        return GenericAlias(cls, (element,))

    def __init__(self, *, devices: object = None) -> None:
        del devices  # of values on GPUs
        self._result: TaskResult | None = None
        self._convert: Callable[[object], object] | None = None
        self._changed = threading.Condition()
        self._callbacks: list[Callable[[Future], object]] = []

    def __reduce__(self) -> NoReturn:
        raise RuntimeError("Can not pickle torch.futures.Future")

    @classmethod
    def done_with(
        cls, result: TaskResult, convert: Callable[[object], object] | None = None
    ) -> Future:
        """The future of a task that has ended; `convert` makes its value Python's."""
        made = cls()
        made._result, made._convert = result, convert
        return made

    def wait(self) -> object:
        """The value, when it is there.

        Raises:
            Exception: what the task failed with.
        """
        value = self.outcome().result()
        return value if self._convert is None else self._convert(value)

    def outcome(self) -> TaskResult:
        """The value or failure, as running code has it, when it is there."""
        with self._changed:
            while self._result is None:
                self._changed.wait()
            return self._result

    @property
    def held(self) -> tuple[object, ...]:
        """The value, when it is there; nothing after a failure."""
        return () if self.outcome().error is not None else (self.wait(),)

    def value(self) -> object:
        """The value, of a task that has ended; else as `wait`."""
        return self.wait()

    def done(self) -> bool:
        """Whether there is a result, or a failure."""
        return self._result is not None

    def set_result(self, result: object) -> None:
        """Give the value.

        Raises:
            RuntimeError: there is one.
        """
        self._complete(TaskResult(result))

    def set_exception(self, result: Exception) -> None:
        """Give what the task failed with.

        Raises:
            RuntimeError: there is a result.
            AssertionError: it is no exception.
        """
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(TaskResult(error=result))

    def _complete(self, result: TaskResult) -> None:
        with self._changed:
            if self._result is not None:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future "
                    "can only be marked completed once."
                )
            self._result = result
            waiting, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in waiting:
            self._call(callback)

    def then(self, callback: Callable[[Future], object]) -> Future:
        """The future of `callback(self)`; its `wait` raises a RuntimeError if that fails."""
        following = Future()

        def go_on(done: Future) -> None:
            try:
                following.set_result(callback(done))
            except Exception as error:  # told to whoever waits
                following.set_exception(RuntimeError(_failed(error)))

        self._when_done(go_on)
        return following

    def add_done_callback(self, callback: Callable[[Future], object]) -> None:
        """Call `callback(self)` when done; if it fails, that is written to the standard error."""
        self._when_done(callback)

    def _when_done(self, callback: Callable[[Future], object]) -> None:
        with self._changed:
            if self._result is None:
                self._callbacks.append(callback)
                return
        self._call(callback)

    def _call(self, callback: Callable[[Future], object]) -> None:
        try:
            callback(self)
        except Exception as error:
            print(_failed(error), file=sys.stderr)


def _failed(error: Exception) -> str:
    told = f"{type(error).__name__}: {error}"
    return f"Got the following error when running the callback: {told}"
