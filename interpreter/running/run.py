"""Calling functions: from Python, and from running code."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from ...frontend.deep_stack import deeply
from ...ir.define import graph_of
from ...ir.graph import Graph
from ...ir.inline import inline
from ...ir.passes.autocast import enters_autocast, insert_casts
from ...ir.passes.constant_propagation import propagate_constants
from ...ir.passes.context import PassContext
from ...ir.passes.dead_code import eliminate_dead_code
from ...ir.passes.peephole import peephole
from ...ops.memory.quiet import QUIET, enter, leave
from ...ops.python_values.futures import TaskResult
from ...ops.table.autocast import Autocast, autocast_state, script_autocasts
from ...ops.table.grad_mode import RUNNING, is_grad_enabled
from ...ops.table.table import TABLE
from ...ops.tensors.tensor import Parameter, Tensor
from ...typecheck.defining import DEFINING
from ...typecheck.functions import Function, PythonFunction
from ...typecheck.schema import Signature
from ...typecheck.types import ANY, ClassType, InterfaceType
from ..bounds.guard import CALLS, Guard, active_guard
from ..code.assemble import assemble
from ..code.code import Code
from ..code.inlined_size import check_inlined_size
from ..code.instructions import row
from ..code.machine import MachineFailure, execute
from ..code.steps import ENTER, EXIT, MEMBER
from ..failures.errors import Failure, is_from_outside, script_error, task_error
from ..native.native import native_of
from ..plans.plan import Plan, make_plan
from ..values.arguments import Binding
from ..values.objects import ScriptObject, call_method, run_method
from ..values.outward import outward
from ..values.tasks import Task
from ..values.values import to_machine

__all__ = ["Executable", "call", "code_of", "evaluate", "executable_of", "invoke"]

PLAN_VARIABLE = "RUSHLIGHT_PLAN"
"""The environment variable that, set to `off`, leaves everything to the machine."""

SHORT = 400
"""Code of at most this many instructions is short: its plan is made in a few milliseconds."""


def evaluate(signature: Signature, values: Sequence[object]) -> object:
    """The result of an operator, for what the clean-up of inlined graphs computes beforehand."""
    guard, entry = active_guard(), TABLE.of(signature)
    forward = entry.forward if guard is None else guard.forward(entry, entry.forward)
    with np.errstate(all="ignore"):
        result: object = forward(*values)
    return result


CONTEXT = PassContext(TABLE, evaluate)
"""What inlining is handed."""


class Executable:
    """What is kept of a function to run it.

    Code that loops and is short gets its plan before its first run, any other code before its
    second: until then the machine runs it.  A plan that cannot be made is not asked for again.
    """

    def __init__(self, function: Function) -> None:
        guard = graph_of(function).guard or function.guard
        self.guard = guard if isinstance(guard, Guard) else None
        with nullcontext() if self.guard is None else self.guard.entered():
            deeply(lambda: self._make(function))

    def _make(self, function: Function) -> None:
        check_inlined_size(function)
        graph = inline(graph_of(function), function.name, CONTEXT)
        for each in graph.with_tasks:
            each.guard = self.guard
        peephole(graph, CONTEXT)
        _cast_automatically(graph)
        eliminate_dead_code(graph)
        self.code = assemble(graph, function.name)
        self.binding = Binding(function)
        self._native = native_of(self.code, [value.type for value in graph.inputs])
        self.plan: Plan | None = None
        self._recording: Plan | None = None
        self._records = False
        self._recorded = os.environ.get(PLAN_VARIABLE, "").lower() == "off"
        names = {entry.name for entry in self.code.operators}
        kinds = {row(instruction).name for instruction in self.code.instructions}
        # what is left to Python may use parameters that no argument reaches
        self.makes_leaves = "function" in kinds or not names.isdisjoint(_ABOUT_GRADIENTS)
        self.sets_slots = not kinds.isdisjoint(("set_slot", "set_tensor", "method", "function"))
        eager = self.code.has_loop and len(self.code.instructions) <= SHORT
        self._runs_before_plan = 0 if eager else 1
        self._planned = os.environ.get(PLAN_VARIABLE, "").lower() == "off"
        if self.guard is not None:  # only the machine counts
            self._planned = self._recorded = True

    def run(self, values: Sequence[Any]) -> Any:
        """The result on machine values.

        Raises:
            Failure: the program failed.
        """
        if self.guard is not None:
            if RUNNING.record is not None:
                RUNNING.record.bounds[self.guard] = None
            with self.guard.entered(CALLS):
                return self._on_machine(values)
        if RUNNING.record is not None:
            plan = self._recording_plan()
        else:
            plan = self.plan
            if plan is None:
                plan = self._next_plan()
        if plan is None:
            return self._on_machine(values)
        try:
            if self._native is not None:
                return self._native.call(plan, values)
            return plan.run(*values)
        except Exception as cause:
            if is_from_outside(cause):
                raise
            raise Failure.in_plan(cause, plan) from None

    def _next_plan(self) -> Plan | None:
        if self._planned:
            return None
        if self._runs_before_plan > 0:
            self._runs_before_plan -= 1
            return None
        with DEFINING:
            if not self._planned:
                self.plan = make_plan(self.code, invoke)
                self._planned = True
        return self.plan

    def _recording_plan(self) -> Plan | None:
        """The plan that tells what it does; made before the second run that is recorded."""
        if not self._recorded and self._records:
            with DEFINING:
                if not self._recorded:
                    self._recording = make_plan(self.code, invoke, RUNNING.record)
                    self._recorded = True
        self._records = True
        return self._recording

    def _on_machine(self, values: Sequence[Any]) -> Any:
        try:
            return execute(self.code, values, invoke, self.guard)
        except MachineFailure as failed:
            if is_from_outside(failed.cause):
                raise failed.cause from None
            raise Failure.in_machine(failed, self.code) from None


def _cast_automatically(graph: Graph) -> None:
    """Put in the casts of autocast, where the graph enters it or Python has.

    Raises:
        RuntimeError: what autocast shall do is not known beforehand.
    """
    state, scripted = autocast_state(), script_autocasts()
    if state or (scripted and enters_autocast(graph)):
        if propagate_constants(graph, CONTEXT):
            peephole(graph, CONTEXT)
        insert_casts(graph, state, scripted=scripted)


def executable_of(function: Function) -> Executable:
    """The executable of a function, made when first asked for; another one under autocast.

    Raises:
        UnsupportedKind: the machine has no instruction for a node of the graph.
        RuntimeError: what autocast shall do is not known beforehand.
    """
    state = autocast_state()
    if state:
        return _executable_under(state, function)
    found = function.executable
    if not isinstance(found, Executable):
        with DEFINING:
            found = function.executable
            if not isinstance(found, Executable):
                found = function.executable = Executable(function)
    return found


def _executable_under(state: Autocast, function: Function) -> Executable:
    variants = function.autocast_executables
    found = variants.get(state)
    if not isinstance(found, Executable):
        with DEFINING:
            found = variants.get(state)
            if not isinstance(found, Executable):
                found = variants[state] = Executable(function)
    return found


def code_of(function: Function) -> Code:
    """The register code of a function."""
    return executable_of(function).code


def invoke(target: Function | PythonFunction | Task | str, values: Sequence[Any]) -> Any:
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
            return _enter(owner) if target == ENTER else _leave(owner)
        method = owner.cls.method(target)
        if method is None:
            raise AttributeError(f"'{owner.cls.name}' object has no attribute '{target}'")
        return executable_of(method).run(values)
    return executable_of(target).run(values)


run_method.append(invoke)


def _run_python(function: PythonFunction, values: Sequence[Any]) -> Any:
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
    return to_machine(result, function.signature.returns[0].type)


def _run_task(task: Task, values: Sequence[Any]) -> TaskResult:
    code = task.executable
    if not isinstance(code, Code):
        code = task.executable = assemble(task.graph, task.name)
    guard = task.graph.guard if isinstance(task.graph.guard, Guard) else None
    try:
        return TaskResult(execute(code, values, invoke, guard))
    except MachineFailure as failed:
        return TaskResult(error=task_error(Failure.in_machine(failed, code), task))


def _member(owner: ScriptObject, key: object) -> Any:
    """A submodule by number or name."""
    if isinstance(key, int):
        names = [a.name for a in owner.cls.attributes.values() if _is_module(a.type)]
        if not -len(names) <= key < len(names):
            raise IndexError("list index out of range")
        key = names[key]
    elif key not in owner.cls.attributes:
        raise KeyError(f"Key Error, {key}")
    return owner.slots[owner.cls.slot(str(key))]


def _is_module(type: object) -> bool:
    return isinstance(type, ClassType | InterfaceType) and type.is_module


class _Entered(threading.local):
    """The contexts that running code of a thread has entered."""

    def __init__(self) -> None:
        self.objects: list[ScriptObject] = []


_ENTERED = _Entered()


def _enter(owner: ScriptObject) -> Any:
    result = invoke("__enter__", (owner,))
    _ENTERED.objects.append(owner)
    return result


def _leave(owner: ScriptObject) -> Any:
    _ENTERED.objects.pop()
    return invoke("__exit__", (owner, None, None, None))


def _leave_all(depth: int) -> None:
    """Leave the contexts that a failure has left open, innermost first."""
    while len(_ENTERED.objects) > depth:
        _leave(_ENTERED.objects[-1])


def call(
    function: Function,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    self: ScriptObject | None = None,
) -> Any:
    """Call a function, or a method of `self`, with Python values.

    Raises:
        RuntimeError: an argument is missing, unknown or of the wrong type, or an operator failed;
            the text is torch's.
        ScriptError: the program raised an exception.
    """
    executable = executable_of(function)
    given = args if self is None else (self, *args)
    values = executable.binding.bind(given, kwargs)
    if is_grad_enabled() and RUNNING.record is None:
        every = (*given, *kwargs.values()) if kwargs else given
        reached = _Reached(every)
        if executable.makes_leaves or any(t._requires_grad for t in reached.tensors):
            return _recorded_call(function, executable, values, reached)
    entered = len(_ENTERED.objects)
    try:
        result = _run_quietly(executable, values)
    except Failure as failure:
        _leave_all(entered)
        error = script_error(failure, function)
    except BaseException:  # an interrupt
        _leave_all(entered)
        raise
    else:
        return executable.binding.give_back(result)
    raise error from None


def _run_quietly(executable: Executable, values: Sequence[Any]) -> Any:
    """The result, without NumPy's warnings about numbers."""
    loud = enter(QUIET)
    try:
        return executable.run(values)
    finally:
        leave(loud)


def _recorded_call(
    function: Function, executable: Executable, values: Sequence[Any], reached: _Reached
) -> Any:
    """A call that is recorded: what comes out knows how it was made."""
    record = _new_record()
    record.know(reached.tensors)
    entered = len(_ENTERED.objects)
    RUNNING.record = record
    try:
        result = _run_quietly(executable, values)
    except Failure as failure:
        _leave_all(entered)
        error = script_error(failure, function)
    except BaseException:  # an interrupt
        _leave_all(entered)
        raise
    else:
        record.finish()
        if executable.sets_slots:
            _wait_for_history(record, reached.holders)
        return executable.binding.give_back(record.outward(result))
    finally:
        RUNNING.record = None
    raise error from None


def _new_record() -> Any:
    """A record, whose module is loaded when it is first needed."""
    if not _RECORD:
        _RECORD.append(import_module("...ops.gradients.record", __package__).Record)
    return _RECORD[0]()


_RECORD: list[Any] = []


def _wait_for_history(record: Any, holders: Sequence[ScriptObject]) -> None:
    """Have the tensors that a run put into attributes ask its record for their history."""
    for holder in holders:
        for number, slot in enumerate(holder.slots):
            if isinstance(slot, Tensor):
                known = record.known.get(id(slot._array))
                if known is None:
                    record.wait(slot)
                else:  # the same tensor: a parameter, or one whose history is made already
                    holder.slots[number] = known


_PLAIN = frozenset((int, float, bool, complex, str, np.ndarray))
"""Types of elements that hold no tensors which Python knows."""


class _Reached:
    """The tensors among some values and in the objects among them, and those objects."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.tensors: list[Tensor] = []
        self.holders: list[ScriptObject] = []
        self._seen: set[int] = set()
        self._look(values)
        seen: set[int] = set()
        for holder in self.holders:  # which grows while it is looked at
            if id(holder) not in seen:
                seen.add(id(holder))
                self._look(holder.slots)

    def _look(self, values: Iterable[Any]) -> None:
        for value in values:
            kind = type(value)
            if kind is Parameter or kind is Tensor:
                self.tensors.append(value)
            elif kind is ScriptObject:
                self.holders.append(value)
            elif (kind is list or kind is tuple) and value:
                if kind is tuple or type(value[0]) not in _PLAIN:
                    self._look_into(value, value)
            elif kind is dict:
                self._look_into(value, value.values())
            elif isinstance(value, Tensor):
                self.tensors.append(value)

    def _look_into(self, container: object, values: Iterable[Any]) -> None:
        if id(container) not in self._seen:  # lists may share others many times
            self._seen.add(id(container))
            self._look(values)


_ABOUT_GRADIENTS = frozenset(("aten::requires_grad_", "aten::tensor"))
"""Operators that can make tensors that require gradients."""


def _call_method(owner: ScriptObject, method: Function, /, *args: Any, **kwargs: Any) -> Any:
    return call(method, args, kwargs, owner)


call_method.append(_call_method)
