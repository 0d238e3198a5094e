"""The tiers of a code: the machine first, then a plan, then native code; for each mode its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cache, partial
from math import inf
from time import thread_time
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakSet

from ...frontend.foundations.chosen import Chosen
from ...frontend.foundations.garbage import uncollected
from ...frontend.foundations.locks import DEFINING
from ...frontend.syntax.deep_stack import deeply
from ...ir.functions.define import graph_of, graph_with_lines
from ...ir.graphs.graph import Node
from ...ir.passes.autocast import enters_autocast
from ...ops.kernels import PLAN_VARIABLE, waits_for_plans
from ...ops.table.autocast import OFF, autocast_state
from ...ops.table.grad_mode import RUNNING
from ...typecheck.definitions.functions import Function
from ...typecheck.trees.typed import TypedFunction
from ...typecheck.types.types import TENSOR
from ..bounds.guard import CALLS, Guard, LimitExceeded
from ..code.calls import Calls
from ..code.code import Step
from ..code.machine import Invoke, Machine, MachineFailure
from ..failures.errors import Failure, is_from_outside
from ..native.islands import ISLANDS
from ..native.program import FAILED
from ..plans.compiling import NATIVE_VARIABLE
from ..plans.lines import LinePlan, make_line_plan
from ..plans.plan import Cuts, Plan, PlanText, Written, make_draft, make_plan, plan_of_text
from ..values.arguments import Binding
from ..values.handles import KEEPING, listener
from .evaluating import CONTEXT
from .executable import Executable, executable_of
from .kept_code import FAULTS, keep_code, kept_code
from .source_files import file_of
from .traits import Traits

if TYPE_CHECKING:
    from ...ops.gradients.calls.nodes import Calls as KnownCalls

__all__ = ["SHORT", "FunctionTiers", "Tiers", "Way", "debug", "exchange", "is_debugging", "watch"]


class Watcher(Protocol):
    """What is made of the plan that there is."""

    def drop_plan(self) -> None:
        """There is another one."""


DEBUG_VARIABLE = "RUSHLIGHT_DEBUG"
"""The environment variable that, set to `1`, has programs run line by line from the start."""

MOST_CUT = 20
"""Steps that stretches of a code leave out, as more than kernels, before those go as a whole."""

SHORT = 400
"""Code of at most this many instructions is short: its plan is made in a few milliseconds."""


PLANNING: Final = 20e-6
"""Seconds that an operand of the code costs as a part of a plan."""

LONGEST_DRAFT: Final = 20_000
"""Operands of a code of which there is no draft."""

MAKING_READY: Final = 0.02
"""Seconds of a first run that are no measure of those behind it."""


class Way:
    """How a code runs in one mode, and when it steps up.

    Code that loops and is short gets its plan before its first run.  Any other code is run by the
    machine until that has taken as long as the plan takes to make, so that what is called a few
    times is not slowed down by it.  A plan that cannot be made is not asked for again.
    Native code takes over from the plan by itself.
    Whoever runs it counts before what it `writes`.
    """

    steps_up = True

    def __init__(self, executable: Executable, calls: Calls, invoke: Invoke) -> None:
        self.executable = executable
        counts_by_itself = calls.handles or calls.recording is not None
        self.writes = () if counts_by_itself else executable.writes
        self.plan: Plan | None = None
        native = executable.native if self.steps_up else None
        if native is not None and native.takes_tensors and calls.recording is not None:
            native = None
        self._native = native
        if native is not None:
            native.followers.add(self)
        self._calls = calls
        self._invoke = invoke
        self._machine: Machine | None = None
        self._cuts = Cuts(self._cut, self._cut_large)
        self.watchers: WeakSet[Watcher] = WeakSet()
        """Who is told by `drop_plan` that there is another plan."""
        traits = executable.traits
        self._is_new, self._loops = True, traits.loops and traits.length <= SHORT
        self._before_plan = 0.0 if self._loops else _before_plan(traits)
        """Seconds that the machine, or a draft, runs it until it is worth a plan."""
        self._draft: Plan | None = None
        self._is_off = os.environ.get(PLAN_VARIABLE, "").lower() == "off"
        if self._is_off:
            self._before_plan = inf
        else:
            self._take_kept()

    def run(self, values: Sequence[object]) -> object:
        """The result on machine values.

        Raises:
            Failure: the program failed.
        """
        plan = self.plan
        if plan is None:
            if self._native is not None:
                result = self._native.call_first(values)
                if result is not FAILED:
                    return result
            plan = self._step_up()
            if plan is None:
                draft = self._draft  # which another thread may let go of
                return self._on_machine(values) if draft is None else self._in_draft(draft, values)
        try:
            if self._native is not None:
                return self._native.call(plan, values)
            return plan.run(*values)
        except Exception as cause:
            if is_from_outside(cause):
                raise
            raise Failure.in_plan(cause, plan) from None

    def run_straight(self, values: Sequence[object]) -> object:
        """The result on values as a caller in Python has them, as it gets it; `FAILED` where they
        have to be bound first."""
        return FAILED if self._native is None else self._native.call_straight(values)

    def run_by(self, run: Callable[[Sequence[object]], object], values: Sequence[object]) -> object:
        """What another way of running it gives, within its bounds if it has any."""
        return run(values)

    @property
    def tier(self) -> str:
        """What runs it now: `machine`, `plan` or `native`."""
        if self._native is not None and self._native.is_ready:
            return "native"
        return "machine" if self.plan is None and self._draft is None else "plan"

    @property
    def records(self) -> bool:
        """Whether operators are noted for gradients, so that none are joined."""
        return self._calls.recording is not None

    @property
    def why_not_native(self) -> str:
        """Why it does not run natively, as far as that is known; empty if it may yet."""
        if self._native is None and self.executable.native is not None:
            return "its operators are called one by one"
        return self.executable.refusal

    @property
    def why_no_plan(self) -> str:
        """Why it has no plan; empty if it may yet."""
        if self.plan is not None:
            return ""
        if not self.steps_up:
            return "its values are tensors themselves"
        if self._before_plan != inf:
            return ""
        if self._is_off:
            return "plans are switched off"
        return "it is too long, or nests too deeply"

    def _step_up(self) -> Plan | None:
        """The plan, if it is time for it."""
        if self._before_plan > 0 or (self._is_new and not self._loops):
            return None
        with DEFINING:
            if self.plan is None and self._before_plan <= 0:
                self.plan = self._made_plan()
                self._before_plan = inf if self.plan is None else 0
                self._machine = self._draft = None
                self._tell_watchers()
        return self.plan

    def _take_kept(self) -> None:
        """Take the plan that was kept of the code, if there is one."""
        kept = self.executable.kept if self.steps_up and self._calls.guard is None else None
        if kept is None or kept.facts is None or self._calls.handles:
            return
        with suppress(*FAULTS):
            text = kept.plan(self.records)
            if text is not None:
                again = cache(partial(self._written_again, text))
                made = plan_of_text(text, kept.facts, self._invoke, self._calls, again)
                self.plan, self._draft = (made, None) if text.is_whole else (None, made)

    @uncollected
    def _written_again(self, text: PlanText) -> Written:
        """What a kept plan was written from; no steps where that is something else."""
        code = self.executable.code
        make = make_plan if text.is_whole else make_draft
        made = make(code, self._invoke, self._calls)
        if made is None or made.itself is None or made.itself.compiled != text.compiled:
            return Written(code, "", [])
        return made.written()

    def plan_to_keep(self) -> PlanText | None:
        """A plan for the first calls in other processes, and for those here; None if there is none
        that can be kept."""
        if self._before_plan == inf or self.executable.traits.operand_count > LONGEST_DRAFT:
            return None
        if self._loops:
            plan = self._step_up()
            return None if plan is None else plan.itself
        if self.records:  # nothing is joined, so that a draft would be no less work
            plan = self._made_plan()
            if plan is not None and plan.itself is not None:
                self.plan = plan
                return plan.itself
        self._draft = make_draft(self.executable.code, self._invoke, self._calls)
        return None if self._draft is None else self._draft.itself

    def _in_draft(self, draft: Plan, values: Sequence[object]) -> object:
        since = thread_time()
        try:
            return draft.run(*values)
        except Exception as cause:
            if is_from_outside(cause):
                raise
            raise Failure.in_plan(cause, draft) from None
        finally:
            self._spend(thread_time() - since)

    def _made_plan(self) -> Plan | None:
        native = self._native
        is_hoped_for = native is not None and not native.takes_tensors and not native.refusal
        islands = None if is_hoped_for else ISLANDS
        code, cuts = self.executable.code, self._cuts
        search = self.executable.search
        return make_plan(code, self._invoke, self._calls, islands, cuts, search)

    def go_without_native(self) -> None:
        """Make the plan anew, with islands, since there is no native code of the whole."""
        with DEFINING:
            if self.plan is not None and self._native and not self._native.takes_tensors:
                self._make_anew(replace(self._cuts, former=self.plan))

    def _cut(self, steps: Collection[Step]) -> None:
        """Make the plan anew, with stretches that leave some more steps out."""
        with DEFINING:
            if self.plan is not None and len(self._cuts.steps) < MOST_CUT:
                cut = self._cuts.steps.union(steps)
                self._make_anew(replace(self._cuts, steps=cut, former=self.plan))

    def _cut_large(self, steps: Collection[Step]) -> None:
        """Make the plan anew, with islands that leave some steps over large tensors out."""
        with DEFINING:
            if self.plan is not None and not self._cuts.large.issuperset(steps):
                cut = self._cuts.large.union(steps)
                self._make_anew(replace(self._cuts, large=cut, former=self.plan))

    def _make_anew(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self.plan = self._made_plan() or self.plan
        self._tell_watchers()

    def _tell_watchers(self) -> None:
        for each in list(self.watchers):
            each.drop_plan()

    def _on_machine(self, values: Sequence[object]) -> object:
        since = thread_time()
        machine = self._machine
        if machine is None:
            machine = self._machine = deeply(self._new_machine)
        try:
            return machine.run(values)
        except MachineFailure as failed:
            if is_from_outside(failed.cause):
                raise failed.cause from None
            raise Failure.in_machine(failed, self.executable.code) from None
        finally:
            self._spend(thread_time() - since)

    def _spend(self, seconds: float) -> None:
        """The machine ran for so long; the first time it has made ready much that stays."""
        if self._is_new:
            self._is_new = False
            seconds = max(0.0, seconds - MAKING_READY)
        self._before_plan -= seconds

    @uncollected
    def _new_machine(self) -> Machine:
        return Machine(self.executable.code, self._invoke, self._calls)


def _before_plan(traits: Traits) -> float:
    is_wanted = os.environ.get(NATIVE_VARIABLE, "").lower() == "now" or not waits_for_plans()
    return 0.0 if is_wanted else traits.operand_count * PLANNING


class _Bounded(Way):
    """A way that runs within the bounds of its guard."""

    def run_straight(self, values: Sequence[object]) -> object:
        """Values of such code are always bound."""
        return FAILED

    def run(self, values: Sequence[object]) -> object:
        """The result on machine values.

        Raises:
            Failure: the program failed.
            LimitExceeded: calls lie too deep in each other, or the program says too much of why it
                failed: such a text is copied often before it is told.
        """
        return self.run_by(super().run, values)

    def run_by(self, run: Callable[[Sequence[object]], object], values: Sequence[object]) -> object:
        """What another way of running it gives, within its bounds; raises as `run`."""
        guard = self._calls.guard
        assert guard is not None
        if RUNNING.record is not None:
            RUNNING.record.bounds[guard] = None
        with guard.entered(CALLS):
            try:
                return run(values)
            except Failure as failed:
                told = sum(len(part) for part in failed.cause.args if isinstance(part, str))
                if told <= guard.bounds.output:
                    raise
            raise LimitExceeded(f"its error has more than {guard.bounds.output} characters")


class _Watched(Way):
    """Runs on the machine alone, where each operator over tensors is a call of its own."""

    steps_up = False

    def run(self, values: Sequence[object]) -> object:
        return self._on_machine(values)


class _BoundedOnHandles(_Bounded, _Watched):
    """The same, within the bounds of its guard."""


class _InLines(Way):
    """Runs a line plan; calls from Python are told to come with tensors themselves."""

    steps_up = False

    def __init__(self, usual: Way, plan: LinePlan) -> None:
        executable = copy(usual.executable)
        executable.traits = executable.traits._replace(asks_elsewhere=True)
        super().__init__(executable, usual._calls, usual._invoke)
        self.writes = ()
        self._lines = plan

    def run(self, values: Sequence[object]) -> object:
        """The result on machine values that are tensors themselves.

        Raises:
            Failure: the program failed.
        """
        try:
            return self._lines.run(*values)
        except MachineFailure as failed:
            if is_from_outside(failed.cause):
                raise failed.cause from None
            failure = Failure.in_machine(failed, self._lines.code)
            raise failure.in_lines(failed, self._lines.run.__code__) from None


class Tiers:
    """How a code runs: a way for each mode, made when it is first needed.

    A mode is whether operators are recorded, and the autocast around the call; the guard belongs to
    the code.  `compile` gives the code for the present autocast; ways are of the class `kind`.
    """

    def __init__(
        self,
        compile: Callable[[], Executable],
        guard: object | None,
        invoke: Invoke,
        kind: type[Way] = Way,
    ) -> None:
        self._compile = compile
        self._guard = guard if isinstance(guard, Guard) else None
        self._invoke = invoke
        self._kind = kind
        self.known_calls: KnownCalls | None = None
        """What gradients know of the calls that were recorded."""
        self._ways: dict[object, Way] = {}

    def way(self, records: bool = False) -> Way:
        """The way for the present autocast, recorded or not.

        Raises:
            UnsupportedKind: the machine has no instruction for a node of the graph.
            RuntimeError: what autocast shall do is not known beforehand.
        """
        state = autocast_state()
        mode = records if state is OFF or not state else (records, state)
        try:
            return self._ways[mode]
        except KeyError:
            return self._made(mode)

    def watched_way(self, records: bool = False) -> Way:
        """The way while a profiler listens; code under a guard runs as always."""
        usual = self.usual_way(records)
        if self._guard is not None:
            return usual
        mode = ("watched", usual)
        found = self._ways.get(mode)
        if found is None:
            made = _Watched(usual.executable, usual._calls, self._invoke)
            found = self._ways.setdefault(mode, made)
        return found

    usual_way = way

    def debugged_way(self, records: bool = False) -> Way:
        """The way while somebody debugs: line by line, where that can be."""
        return self._in_lines() or self.usual_way(records)

    @property
    def made_way(self) -> Way | None:
        """The way without gradients, if there is one already."""
        return self._ways.get(False)

    def debugged_way_on_handles(self) -> Way:
        """The same, where values are tensors themselves."""
        return self._in_lines() or self.usual_way_on_handles()

    def _in_lines(self) -> Way | None:
        """The way line by line, where the code has lines."""
        return None

    def way_on_handles(self) -> Way:
        """The way where values are tensors themselves: the machine, with eager calls."""
        heard = listener() is not None
        mode = "handles", heard, autocast_state() or None
        found = self._ways.get(mode)
        if found is None:
            executable = self._heard() if heard else self.usual_way().executable
            calls = Calls(None, self._guard, handles=True)
            kind = _BoundedOnHandles if self._guard is not None else _Watched
            found = self._ways.setdefault(mode, kind(executable, calls, self._invoke))
        return found

    usual_way_on_handles = way_on_handles

    def _heard(self) -> Executable:
        """The code whose calls of methods somebody hears."""
        return self.usual_way().executable

    def _made(self, mode: object) -> Way:
        with DEFINING:
            found = self._ways.get(mode)
            if found is None:
                found = self._ways[mode] = self._make(mode)
        return found

    @uncollected
    def _make(self, mode: object) -> Way:
        records, state = mode if isinstance(mode, tuple) else (mode, None)
        other = self._ways.get((not records, state) if state else not records)
        executable = self._compiled() if other is None else other.executable
        recording = type(RUNNING.record) if records else None
        return self._kind(executable, Calls(recording, self._guard), self._invoke)

    def _compiled(self) -> Executable:
        if self._guard is None:
            return deeply(self._compile)
        with self._guard.entered():
            return deeply(self._compile)


class FunctionTiers(Tiers):
    """How a function runs, and how Python calls it."""

    def __init__(self, function: Function, invoke: Invoke) -> None:
        kept, guard = kept_code(function), function.guard
        signature = None if kept is None else kept.signature
        if signature is None:
            guard, signature = graph_of(function).guard or guard, function.signature
        kind = Way if guard is None else _Bounded
        super().__init__(lambda: executable_of(function, guard, ready=kept), guard, invoke, kind)
        self.binding = Binding(function, signature)
        self._function = function

    def _make(self, mode: object) -> Way:
        way = super()._make(mode)
        kept = way.executable.kept if type(mode) is bool and type(way) is Way else None
        if kept is not None and kept.facts is not None and mode not in kept.plans:
            kept.put_plan(bool(mode), way.plan_to_keep())
            keep_code(kept)
        return way

    def _heard(self) -> Executable:
        with DEFINING:
            return executable_of(self._function, self._guard, inlined=False)

    def _in_lines(self) -> Way | None:
        """The way line by line; not of code under a guard, that comes without its source, or under
        an autocast, nor while a mode hears of calls."""
        self._function.ensure_defined()
        typed = self._function.typed
        if self._guard is not None or not isinstance(typed, TypedFunction):
            return None
        state = autocast_state()
        if (state is not OFF and state) or (KEEPING and listener() is not None):
            return None
        if "lines" not in self._ways:
            with DEFINING:
                plan = self._line_plan(typed)
                usual = self.usual_way()
                self._ways.setdefault("lines", _InLines(usual, plan) if plan else usual)
        found = self._ways["lines"]
        return found if isinstance(found, _InLines) else None

    def _line_plan(self, typed: TypedFunction) -> LinePlan | None:
        tree = self._function.tree
        graph = graph_with_lines(typed, CONTEXT)
        if (
            tree is None
            or enters_autocast(graph)
            or any(map(_is_keyed_by_tensors, graph.all_nodes))
        ):
            return None
        first, calls = tree.name_span, Calls(None, None, handles=True)
        file = file_of(first.source)
        name = getattr(self._function.python, "__qualname__", self._function.qualified_name)
        return make_line_plan(graph, name, first, file, self._invoke, calls)


def _is_keyed_by_tensors(node: Node) -> bool:
    """Whether a node has to do with a dict in which arrays are looked up, not their handles."""
    types = (value.type.inner.dict_of for value in (*node.inputs, *node.outputs))
    return any(of is not None and of[0] == TENSOR for of in types)


WaysOf = tuple[Callable[..., Way], Callable[..., Way]]
"""What stands for `Tiers.way` and for `Tiers.way_on_handles`."""

_USUAL: WaysOf = Tiers.usual_way, Tiers.usual_way_on_handles
_DEBUGGED: WaysOf = Tiers.debugged_way, Tiers.debugged_way_on_handles
_WATCHED: WaysOf = Tiers.watched_way, Tiers.usual_way_on_handles
_INSTEAD: Final[dict[str, Chosen[WaysOf | None]]] = {
    who: Chosen(None) for who in ("debuggers", "timers", "profilers")
}


def watch(on: bool) -> None:
    """Have scripted code call its operators one by one from now on, or run as always again."""
    exchange("profilers", _WATCHED if on else None)


def debug(on: bool) -> None:
    """Have scripted code run line by line from now on, or run as always again."""
    exchange("debuggers", _DEBUGGED if on else None)


def is_debugging() -> bool:
    """Whether code runs line by line, so that it can be stopped."""
    return _INSTEAD["debuggers"].now is not None


def exchange(who: str, ways: WaysOf | None) -> None:
    """Have code run in other ways for somebody, or no longer; the first of those who ask has it.

    The methods themselves are exchanged, so that nothing is asked while nobody does.
    """
    _INSTEAD[who].choose(ways)
    way, on_handles = next((each.now for each in _INSTEAD.values() if each.now), _USUAL)
    Tiers.way, Tiers.way_on_handles = way, on_handles  # type: ignore[method-assign]


if os.environ.get(DEBUG_VARIABLE, "").lower() not in ("", "0", "off"):
    debug(True)
