"""Calling functions from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ops.memory.errors import Elsewhere
from ...ops.memory.quiet import QUIET, enter, leave
from ...ops.table.grad_mode import RUNNING, is_grad_enabled, is_recording
from ...ops.tensors.overriding import STATE
from ...ops.tensors.tape_port import tape
from ...typecheck.definitions.functions import Function
from ..failures.errors import Failure, is_from_outside, script_error
from ..native.program import FAILED
from ..values.handles import KEEPING, keeping_handles, keeps_handles
from ..values.objects import ScriptObject
from ..values.recognized import Recognize
from ..values.tasks import CALL
from .contexts import ENTERED, leave_all
from .invoking import invoke, tiers_of
from .reached import Reached
from .recording import begun, finished
from .tiers import FunctionTiers, Way
from .writes import count_writes_of

if TYPE_CHECKING:
    from ...ops.gradients.calls.record import Record

__all__ = ["after_failure", "call"]


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
    given = args if self is None else (self, *args)
    if KEEPING and keeps_handles():
        return _call_on_handles(tiers, given, kwargs, told)
    way = tiers.way(records)
    if not kwargs and STATE.below is None:
        found = way.run_straight(given)
        if found is not FAILED:
            return found
    return _call_bound(tiers, way, given, kwargs, told)


def _call_bound(
    tiers: FunctionTiers,
    way: Way,
    given: Sequence[object],
    kwargs: Mapping[str, object] | None,
    told: Callable[[Failure, Function], Exception],
) -> object:
    """What a call gives whose arguments are bound, by a way unless gradients are wanted of it: then
    it is recorded."""
    records = RUNNING.record is not None
    try:
        if way.executable.traits.asks_elsewhere or STATE.below is not None:
            raise Elsewhere
        if way.executable.traits.shares_views and _has_complex(given, kwargs):
            raise Elsewhere
        values = tiers.binding.bind(given, kwargs)
    except Elsewhere:
        return _call_on_handles(tiers, given, kwargs, told)
    record = reached = None
    depth = len(ENTERED.objects)
    recognize = tiers.binding.recognize
    try:
        if not records and (recognize is not None or is_recording()):
            inside = values if tiers.binding.takes_objects else ()
            reached = Reached((*given, *(kwargs or {}).values(), *inside))
        if reached is not None and is_recording() and _is_recorded(way, reached):
            try:
                record = begun(reached, tiers)
            except Elsewhere:  # attributes are views, or sparse: they have no array
                return _call_on_handles(tiers, given, kwargs, told)
            way = tiers.way(True)
        if way.writes:
            count_writes_of(values, way.writes)
        loud = enter(QUIET)  # without NumPy's warnings about numbers
        try:
            result = way.run(values)
        finally:
            leave(loud)
    except Failure as failure:
        leave_all(depth, invoke)
        if isinstance(failure.cause, Elsewhere) and not way.executable.traits.changes:
            if record is not None:
                RUNNING.record = record = None
            return _call_on_handles(tiers, given, kwargs, told)
        if record is not None:  # what was written stays written, and has its history
            assert reached is not None
            finished(record, way.executable, reached, None)
        error = told(failure, tiers.binding.function)
    except BaseException:  # an interrupt
        leave_all(depth, invoke)
        raise
    else:
        if reached is not None:
            result = _with_history(way, record, reached, recognize, given, result)
        return tiers.binding.give_back(result)
    finally:
        if not records:  # also if an interrupt came before it was known here
            RUNNING.record = None
    raise error from None


def _with_history(
    way: Way,
    record: Record | None,
    reached: Reached,
    recognize: Recognize | None,
    given: Sequence[object],
    result: Any,
) -> Any:
    """The result of a call that was recorded, or may give the very tensors that it has reached."""
    if record is not None:
        return finished(record, way.executable, reached, result)
    if recognize is None:
        return result
    known = reached.tensors
    if way.executable.traits.sets_slots:  # what was put into attributes is that tensor
        known = [*Reached(given).tensors, *known]
    return recognize(result, known)


def _has_complex(given: Sequence[object], kwargs: Mapping[str, object] | None) -> bool:
    """Whether there are complex numbers among arguments, of which views may have to be made that
    arrays cannot say."""
    reached = Reached((*given, *(kwargs or {}).values()))
    return any(each.dtype.is_complex for each in reached.tensors)


def _is_recorded(way: Way, reached: Reached) -> bool:
    """Whether gradients may be wanted of what a call gives, or directions."""
    if not is_grad_enabled():
        return tape().is_directed(reached.tensors)
    if way.executable.traits.makes_leaves:
        return True
    wanted = [t for t in reached.tensors if t._requires_grad]
    # what waits for the history of an earlier call is only asked where nothing else is wanted
    return any(t._requires_grad is True for t in wanted) or any(t.requires_grad for t in wanted)


CALL.install(call)


def after_failure(
    tiers: FunctionTiers,
    way: Way,
    given: Sequence[object],
    kwargs: Mapping[str, object],
    error: BaseException,
) -> object:
    """What a call gives in which the plan of a way failed, which enters no contexts and calls
    nothing: that of a call with tensors themselves, where it has met such.

    Raises:
        RuntimeError: as `call`.
        BaseException: what came from outside.
    """
    if not isinstance(error, Exception) or is_from_outside(error):
        raise error
    assert way.plan is not None
    has_begun = way.plan.is_in(error.__traceback__)
    failure = Failure.in_plan(error, way.plan)
    if isinstance(failure.cause, Elsewhere) and not (has_begun and way.executable.traits.changes):
        return _call_on_handles(tiers, given, kwargs, script_error)
    raise script_error(failure, tiers.binding.function) from None


def _call_on_handles(
    tiers: FunctionTiers,
    given: Sequence[object],
    kwargs: Mapping[str, object] | None,
    told: Callable[[Failure, Function], Exception],
) -> object:
    """Call a function with values that are tensors themselves: its operators are eager calls."""
    depth = len(ENTERED.objects)
    try:
        with keeping_handles():
            values = tiers.binding.bind(given, kwargs)
            result = tiers.way_on_handles().run(values)
            return tiers.binding.give_back(result)
    except Failure as failure:
        leave_all(depth, invoke)
        error = failure.put_lines(told(failure, tiers.binding.function))
    except BaseException:  # an interrupt
        leave_all(depth, invoke)
        raise
    raise error from None
