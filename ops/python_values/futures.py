"""The results of tasks (`torch.jit.fork`, `torch.jit._awaitable`), and waiting for them.

A task runs to its end where it is forked; a failure is kept and told to whoever waits.  An
awaitable runs when it is first waited for; one that fails runs again when it is waited for again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..table.table import operator

__all__ = ["TASK_RESULTS", "AwaitedResult", "TaskResult"]


class TaskResult:
    """What a task gave: a machine's value, or the exception it failed with."""

    __slots__ = ("error", "value")

    def __init__(self, value: object = None, error: Exception | None = None) -> None:
        self.value = value
        self.error = error

    def result(self) -> object:
        """The value; raises what the task failed with."""
        if self.error is not None:
            raise self.error
        return self.value

    def with_values(self, made: Callable[[object], object]) -> TaskResult:
        """The same, its value as something makes it."""
        return self if self.error is not None else TaskResult(made(self.value))


class AwaitedResult:
    """A machine's value, or the `call` of what is `given` that makes it."""

    __slots__ = ("call", "given", "value")

    def __init__(
        self,
        value: object = None,
        call: Callable[[Sequence[object]], object] | None = None,
        given: Sequence[object] = (),
    ) -> None:
        self.value = value
        self.call = call
        self.given = given

    def result(self) -> object:
        """The value; raises what the call fails with."""
        if self.call is not None:
            self.value = self.call(self.given)
            self.call, self.given = None, ()
        return self.value

    def with_values(self, made: Callable[[object], object]) -> AwaitedResult:
        """The same, its value, or what the call is given, as something makes it."""
        if self.call is None:
            return AwaitedResult(made(self.value))
        return AwaitedResult(call=self.call, given=[made(each) for each in self.given])


TASK_RESULTS = (TaskResult, AwaitedResult)


@operator("aten::wait(Future(t) self) -> t", effects=True)
def wait(self: TaskResult) -> object:
    return self.result()


@operator("prim::awaitable_wait(Await(t) self) -> t", effects=True)
def awaitable_wait(self: AwaitedResult) -> object:
    return self.result()


@operator("prim::awaitable_nowait(t self) -> Await(t)")
def awaitable_nowait(self: object) -> AwaitedResult:
    return AwaitedResult(self)
