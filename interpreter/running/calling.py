"""Calling functions from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ops.memory.quiet import QUIET, enter, leave
from ...ops.table.grad_mode import RUNNING, is_grad_enabled
from ...typecheck.functions import Function
from ..failures.errors import Failure, script_error
from ..values.objects import ScriptObject
from .contexts import ENTERED, leave_all
from .invoking import invoke, tiers_of
from .reached import Reached
from .recording import begun, finished

__all__ = ["call"]


def call(
    function: Function,
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] | None = None,
    self: ScriptObject | None = None,
    told: Callable[[Failure, Function], Exception] = script_error,
) -> Any:
    """Call a function, or a method of `self`, with Python values.

    `told` makes the exception for a failure of the program.

    Raises:
        RuntimeError: an argument is missing, unknown or of the wrong type, or an operator failed;
            the text is torch's.
        ScriptError: the program raised an exception.
    """
    tiers, records = tiers_of(function), RUNNING.record is not None
    way = tiers.way(records)
    given = args if self is None else (self, *args)
    values = tiers.binding.bind(given, kwargs)
    record = None
    if not records and is_grad_enabled():
        reached = Reached((*given, *kwargs.values()) if kwargs else given)
        if way.executable.makes_leaves or any(t._requires_grad for t in reached.tensors):
            record = begun(reached)
    depth = len(ENTERED.objects)
    try:
        if record is not None:
            way = tiers.way(True)
        loud = enter(QUIET)  # without NumPy's warnings about numbers
        try:
            result = way.run(values)
        finally:
            leave(loud)
    except Failure as failure:
        leave_all(depth, invoke)
        if record is not None:  # what was written stays written, and has its history
            finished(record, way.executable, reached, None)
        error = told(failure, function)
    except BaseException:  # an interrupt
        leave_all(depth, invoke)
        raise
    else:
        if record is not None:
            result = finished(record, way.executable, reached, result)
        return tiers.binding.give_back(result)
    finally:
        if record is not None:
            RUNNING.record = None
    raise error from None
