"""The results of tasks (`torch.jit.fork`), and waiting for them.

A task runs to its end where it is forked; a failure is kept and told to whoever waits.
"""

from __future__ import annotations

from ..table.table import operator

__all__ = ["TaskResult"]


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


@operator("aten::wait(Future(t) self) -> t", effects=True)
def wait(self: TaskResult) -> object:
    return self.result()
