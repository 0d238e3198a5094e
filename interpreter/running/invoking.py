"""Running code that calls: functions, methods by name, Python's functions, forked tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...frontend.foundations.locks import DEFINING
from ...frontend.limits.walks import text_of
from ...ops.python_values.futures import AwaitedResult, TaskResult
from ...ops.table.grad_mode import RUNNING
from ...typecheck.definitions.functions import Function, PythonFunction
from ...typecheck.types.types import ANY
from ..code.code import Code
from ..code.machine import Target
from ..code.steps import ENTER, EXIT, MEMBER
from ..failures.errors import Failure, script_error, task_error
from ..values.handles import KEEPING, keeps_handles, listener
from ..values.inward import CastError
from ..values.objects import CALL, RUN, ScriptObject
from ..values.outward import outward
from ..values.tasks import RUN_TASK, Task
from ..values.values import to_machine
from . import contexts
from .executable import Executable
from .tiers import FunctionTiers, Tiers, Way
from .writes import count_writes_of

__all__ = ["code_of", "invoke", "tiers_of"]


def tiers_of(function: Function) -> FunctionTiers:
    """How a function runs; made when first asked for."""
    found = function.tiers
    if not isinstance(found, FunctionTiers):
        with DEFINING:
            found = function.tiers
            if not isinstance(found, FunctionTiers):
                found = function.tiers = FunctionTiers(function, invoke)
    return found


def code_of(function: Function) -> Code:
    """The register code of a function, under the present autocast.

    Raises:
        UnsupportedKind: the machine has no instruction for a node of the graph.
        RuntimeError: what autocast shall do is not known beforehand.
    """
    return tiers_of(function).way().executable.code


def _way_of(tiers: Tiers) -> Way:
    """How a code that other code calls runs: as its caller does."""
    if KEEPING and keeps_handles():
        return tiers.way_on_handles()
    return tiers.way(RUNNING.record is not None)


def invoke(target: Target, values: Sequence[Any]) -> object:
    """Run a function, or the method of that name of the first value, on machine values.

    Raises:
        Failure: the program failed.
    """
    if isinstance(target, PythonFunction):
        return _run_python(target, values)
    if isinstance(target, Task):
        return _run_task(target, values)
    if isinstance(target, str):
        owner = values[0]
        if target == MEMBER:
            return _member(owner, values[1])
        if target in (ENTER, EXIT):
            return (contexts.enter if target == ENTER else contexts.leave)(owner, invoke)
        method = owner.cls.method(target)
        if method is None:
            raise AttributeError(f"'{owner.cls.name}' object has no attribute '{target}'")
        way = _way_of(tiers_of(method))
        told = listener() if KEEPING else None
        if told is None:
            return _run(way, values)
        return told(owner, target, lambda: _run(way, values))
    return _run(_way_of(tiers_of(target)), values)


def _run(way: Way, values: Sequence[object]) -> object:
    if way.writes:
        count_writes_of(values, way.writes)
    return way.run(values)


RUN.install(invoke)


def _call(name: str, values: Sequence[Any]) -> object:
    try:
        return invoke(name, values)
    except Failure as failure:
        method = values[0].cls.method(name)
        error = script_error(failure, method)
    raise error from None


CALL.install(_call)


def _run_python(function: PythonFunction, values: Sequence[object]) -> object:
    types = [argument.type for argument in function.signature.arguments]
    types += [ANY] * (len(values) - len(types))  # of a function that takes any number
    record = RUNNING.record
    if record is None:
        result = function.run(*(outward(t)(v) for t, v in zip(types, values, strict=True)))
    else:  # tensors go out and come back with their history
        record.resolve()
        given = [record.outward(v) for v in values]
        RUNNING.record = None
        try:
            result = function.run(*(outward(t)(v) for t, v in zip(types, given, strict=True)))
        finally:
            RUNNING.record = record
        record.know((result,))
    wanted = function.signature.returns[0].type
    try:
        return to_machine(result, wanted)
    except CastError as error:
        raise RuntimeError(
            f" expected value of type {wanted} for return value but instead got value of type "
            f"{type(result).__name__}.\nValue: {text_of(result, repr)}\n{error}"
        ) from None


def _run_task(task: Task, values: Sequence[object]) -> TaskResult | AwaitedResult:
    if task.awaited:
        return AwaitedResult(call=task, given=values)
    try:
        return TaskResult(_run(_way_of_task(task), values))
    except Failure as failure:
        return TaskResult(error=task_error(failure, task))


def _result_of(task: Task, values: Sequence[object]) -> object:
    try:
        return _way_of_task(task).run(values)
    except Failure as failure:
        raise script_error(failure, task) from None


RUN_TASK.install(_result_of)


def _way_of_task(task: Task) -> Way:
    if not isinstance(task.tiers, Tiers):
        task.tiers = Tiers(lambda: Executable(task.graph, task.name), task.graph.guard, invoke)
    return _way_of(task.tiers)


def _member(owner: ScriptObject, key: object) -> object:
    """A submodule by number or name."""
    if isinstance(key, int):
        names = [a.name for a in owner.cls.attributes.values() if a.type.is_module]
        if not -len(names) <= key < len(names):
            raise IndexError("list index out of range")
        key = names[key]
    elif key not in owner.cls.attributes:
        raise KeyError(f"Key Error, {key}")
    return owner.slots[owner.cls.slot(str(key))]
