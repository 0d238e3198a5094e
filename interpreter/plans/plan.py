"""Plans: a code compiled to a Python function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import thread_time
from types import CodeType, FunctionType, TracebackType
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...frontend.foundations.garbage import uncollected
from ...frontend.syntax.deep_stack import goes_deep
from ...ops.memory.allocation import is_counting, uncounted
from ...ops.table.grad_mode import RUNNING
from ...ops.table.inline import NAMES
from ...ops.table.record import Operator
from ...typecheck.types.types import Type
from ..code.calls import PLAIN, Calls
from ..code.code import Code, Step
from ..code.instructions import row
from ..code.machine import Invoke
from ..code.reuse import reuse
from ..values.actions import ACTIONS
from .direct_calls import DirectCalls
from .fusing import Group
from .lifting import FAULTS
from .networks import Function, Telling
from .plan_source import write_plan
from .replaying import Replay
from .source import FoundIsland, Island, PlanSource
from .stretch import Stretch
from .stretches import Search

__all__ = ["Cuts", "Islands", "NativePart", "Plan", "PlanText", "Tables"]
__all__ += ["make_draft", "make_plan", "plan_of_text"]

LONGEST_GUARDED = 20_000
"""Operands of all instructions; to compile more would take a good part of a guarded call's time."""


class Tables(Protocol):
    """What a plan's text names by number: a code has them, and what is kept of one."""

    @property
    def constants(self) -> Sequence[object]: ...
    @property
    def operators(self) -> Sequence[Operator]: ...
    @property
    def types(self) -> Sequence[Type]: ...
    @property
    def names(self) -> Sequence[str]: ...


class PlanText(NamedTuple):
    """A plan's compiled text, of one that calls nothing but what tables tell and forms of operators
    name.

    `numbers`, `direct` and `noted` are as in `PlanSource` and `write_plan`; the operators `plain`
    are called as they are, recorded or not; one that `is_whole` has all that could be done for its
    code.
    """

    compiled: CodeType
    numbers: tuple[int, ...]
    direct: tuple[int, ...]
    noted: tuple[int, ...]
    plain: tuple[int, ...]
    is_whole: bool


class Written(NamedTuple):
    """A code and the text of its plan; `steps[i]` is what line `i + 1` was written from."""

    code: Code
    text: str
    steps: list[Step | None]


@dataclass(frozen=True, eq=False)
class Plan:
    """A compiled plan: call `run` with the arguments.

    `written` tells its source; `itself` is what can be kept of it, if it can; `replays` are its
    stretches, `islands` its islands, `kept` both by where they lie.  It stands for `former`, which
    may yet be running.
    """

    run: Callable[..., object]
    compiled: CodeType
    written: Callable[[], Written]
    itself: PlanText | None = None
    replays: Sequence[Replay] = ()
    islands: Sequence[NativePart] = ()
    kept: Mapping[tuple[int, int], object] = field(default_factory=dict)
    former: Plan | None = None

    @property
    def code(self) -> Code:
        """What it was made of."""
        return self.written().code

    @property
    def text(self) -> str:
        """Its source."""
        return self.written().text

    def is_in(self, traceback: TracebackType | None) -> bool:
        """Whether an exception came out of the plan."""
        if self.former is not None and self.former.is_in(traceback):
            return True
        while traceback is not None:
            if traceback.tb_frame.f_code is self.compiled:
                return True
            traceback = traceback.tb_next
        return False

    def failed_step(self, traceback: TracebackType | None) -> tuple[Step, dict[str, object]] | None:
        """The step that raised and the registers by name; None if the plan was not running."""
        if self.former is not None and self.former.is_in(traceback):
            return self.former.failed_step(traceback)
        while traceback is not None:
            if traceback.tb_frame.f_code is self.compiled:
                line: int | None = traceback.tb_lineno  # None between two lines
                steps = self.written().steps
                step = None if line is None or line > len(steps) else steps[line - 1]
                return None if step is None else (step, dict(traceback.tb_frame.f_locals))
            traceback = traceback.tb_next
        return None


class Islands(Protocol):
    """What finds the islands of codes, and has them run natively."""

    def find(
        self,
        code: Code,
        taken: Mapping[int, Mapping[int, int]],
        *,
        records: bool = False,
        left_out: Collection[Step] = (),
    ) -> dict[int, dict[int, FoundIsland]]:
        """Those of a code, of each region by its identity, without the steps that are left out: see
        `write_plan`.  Who `records` operators hears of none in islands."""

    def at_work(self, island: Island, cool: Callable[[], object], known: object) -> NativePart:
        """One at work, that which is `known` if it is one; `cool` is called when it never will be
        native."""


class NativePart(Protocol):
    """An island at work: it gives a tuple of its results, or None where the plan has to do it.

    `why_not` says why it is not native; empty if it is, or may yet become so.  `small` are its
    steps that make tensors of few numbers.
    """

    code: Code

    @property
    def small(self) -> list[Step]: ...

    @property
    def is_native(self) -> bool: ...

    @property
    def why_not(self) -> str: ...

    def __call__(self, *values: object) -> object: ...

    def spent(self, since: float) -> None:
        """The plan did it, from a time of `thread_time` up to now."""


@dataclass(eq=False)
class Cuts:
    """The steps that stretches of a code leave out, as more than kernels; `tell` hears of more.
    Islands leave out `large` ones, whose tensors have many numbers, of which `tell_large` hears.
    `former` is the plan so far."""

    tell: Callable[[Collection[Step]], object]
    tell_large: Callable[[Collection[Step]], object] = lambda steps: None
    steps: frozenset[Step] = frozenset()
    large: frozenset[Step] = frozenset()
    former: Plan | None = None


def _put_island(
    space: dict[str, object],
    name: str,
    island: Island,
    islands: Islands,
    known: object,
    cuts: Cuts | None,
) -> NativePart:
    """Give a plan's text what it calls for an island, which may be `known` from a plan before."""

    def cool() -> None:
        space[f"warm{name}"] = False
        if cuts is not None and part.small:
            cuts.tell_large(part.small)  # others may be made without these

    part = islands.at_work(island, cool, known)
    space.update({name: part, f"warm{name}": True, f"spent{name}": part.spent})
    space["clock"] = thread_time
    return part


_CALLS_OTHERS = frozenset({"method", "function"})


def _keeps_grad_mode(code: Code) -> bool:
    """Whether gradients are recorded from the start of a run to its end."""
    if any(entry.name == "aten::set_grad_enabled" for entry in code.operators):
        return False
    return all(row(instruction).name not in _CALLS_OTHERS for instruction in code.instructions)


@uncollected
@goes_deep
def make_plan(
    code: Code,
    invoke: Invoke,
    calls: Calls = PLAIN,
    islands: Islands | None = None,
    cuts: Cuts | None = None,
    search: Search | None = None,
) -> Plan | None:
    """The plan of a code whose operators are called in this way; None if it nests too deeply, or
    if it is under a guard that would have to look at memory oftener, or is too long for one.

    Recorded operators over tensors are noted in a call, or by a line of their own.  `islands` finds
    what native code may do, and does it; `cuts` tells what stretches leave out, and hears of more.
    `search` is the one for stretches that leave nothing out, if there was any.
    """
    guard = calls.guard
    if guard is not None and (not is_counting() or code.operand_count > LONGEST_GUARDED):
        return None
    notes = _notes(code, calls)
    calls_all = guard is not None or calls.recording is not None
    find = None
    if islands is not None and guard is None:
        large = () if cuts is None else cuts.large
        find = partial(islands.find, records=calls.recording is not None, left_out=large)
    source = write_plan(
        code,
        calls_all=calls_all,
        noted=frozenset(notes),
        counts=guard is not None,
        find_islands=find,
        left_out=() if cuts is None else cuts.steps,
        search=search,
    )
    if source is None:
        return None
    with uncounted():
        return _compiled(code, source, invoke, calls, notes, islands, cuts)


def _notes(code: Code, calls: Calls) -> dict[int, object]:
    """What operators are called by that need nothing but a note, where notes are taken."""
    if calls.recording is None or calls.guard is not None or not _keeps_grad_mode(code):
        return {}
    found = ((i, calls.recording.noted_alone(entry)) for i, entry in enumerate(code.operators))
    return {i: name for i, name in found if name is not None}


def _compiled(
    code: Code,
    source: PlanSource,
    invoke: Invoke,
    calls: Calls,
    notes: dict[int, object],
    islands: Islands | None,
    cuts: Cuts | None,
) -> Plan:
    space = _space(code, source.named, source.numbers, invoke, calls, notes)
    former = None if cuts is None else cuts.former
    before = {} if former is None else former.kept
    parts: dict[str, NativePart] = {}
    if islands is not None:
        for name, island in source.islands.items():
            known = before.get(source.spans[name])
            parts[name] = _put_island(space, name, island, islands, known, cuts)
    replays: dict[str, Replay] = {}
    for name, each in source.stretches.items():
        known = before.get(source.spans[name])
        replay = known if isinstance(known, Replay) and known.stretch.is_like(each) else None
        replay = replay or Replay(each, invoke, partial(_plan_of_stretch, each, invoke))
        replay.cut = (lambda steps: None) if cuts is None else cuts.tell
        replays[name] = replay
    if source.has_direct_forms:
        operators = {i: code.operators[i] for i in sorted(source.direct)}
        DirectCalls(space, operators, source.whole, source.groups, replays, source.direct)
    text = source.text
    compiled = _compiled_text(text)
    run = _defined(compiled, space)
    kept = {source.spans[name]: each for name, each in (*replays.items(), *parts.items())}
    written, itself = Written(code, text, source.steps), None
    if not (source.spans or source.groups or source.chains or former):
        itself = _itself(compiled, source, notes, code, calls, is_whole=True)
    found = list(replays.values()), list(parts.values())
    return Plan(run, run.__code__, lambda: written, itself, *found, kept, former)


def _compiled_text(text: str) -> CodeType:
    """The text is all our own: see `plan_source`."""
    return compile(text, "<plan>", "exec")


def _defined(compiled: CodeType, space: dict[str, object]) -> FunctionType:
    exec(compiled, space)
    found = space["plan"]
    if not isinstance(found, FunctionType):
        raise TypeError("no function")
    return found


def _itself(
    compiled: CodeType,
    source: PlanSource,
    notes: Iterable[int],
    code: Code,
    calls: Calls,
    *,
    is_whole: bool,
) -> PlanText | None:
    """What can be kept of a plan without parts that are more than lines."""
    if not _named_by(code.operators).keys() >= source.named.keys():
        return None
    numbers = tuple(sorted(source.numbers)), tuple(sorted(source.direct)), tuple(notes)
    called = enumerate(code.operators)
    plain = tuple([i for i, entry in called if calls.forward(entry) is entry.forward])
    return PlanText(compiled, *numbers, plain, is_whole)


def _named_by(operators: Iterable[Operator]) -> dict[str, object]:
    """What the forms of operators name."""
    named = dict[str, object]()
    for entry in operators:
        for form in entry.inline:
            named.update(form.names)
            if form.over is not None:
                named[form.over.__name__] = form.over
    return named


@uncollected
@goes_deep
def make_draft(code: Code, invoke: Invoke, calls: Calls = PLAIN) -> Plan | None:
    """A plan that takes every step by itself, and can be kept; None where there is none."""
    notes = _notes(code, calls)
    source = write_plan(
        code, calls_all=calls.recording is not None, noted=frozenset(notes), is_draft=True
    )
    if source is None:
        return None
    compiled = _compiled_text(source.text)
    itself = _itself(compiled, source, notes, code, calls, is_whole=False)
    if itself is None:
        return None
    written = Written(code, source.text, source.steps)
    return plan_of_text(itself, code, invoke, calls, lambda: written)


def plan_of_text(
    itself: PlanText,
    tables: Tables,
    invoke: Invoke,
    calls: Calls,
    written: Callable[[], Written],
) -> Plan:
    """The plan of a text that was kept, which `written` tells when something fails.

    Raises:
        LookupError, TypeError, NameError: it is none of such a code that is called so.
    """
    operators, recording = tables.operators, calls.recording
    space, notes = dict[str, object](), dict[int, object]()
    for number in itself.noted:
        if recording is None:
            raise LookupError("notes are taken that nobody wants")
        put = partial(space.__setitem__, f"b{number}")
        notes[number] = recording.noted_late(operators[number], put)
    plain = itself.plain
    space |= _space(tables, _named_by(operators), itself.numbers, invoke, calls, notes, plain)
    if itself.direct:
        direct = {i: operators[i] for i in itself.direct}
        DirectCalls(space, direct, {}, {}, {}, dict.fromkeys(direct, ("",)))
    run = _defined(itself.compiled, space)
    return Plan(run, run.__code__, written, itself)


def _plan_of_stretch(stretch: Stretch, invoke: Invoke, calls: Telling) -> Function:
    """A plan of a stretch that calls operators, and what they are joined to, by way of `calls`."""
    source = write_plan(stretch.code, calls_all=True, stretch=stretch)
    assert source is not None  # the code around it nests deeper
    space = _space(stretch.code, source.named, source.numbers, invoke, calls, {})
    for chain in source.chains:
        chain.forward = calls.forward
    for each in source.named.values():
        if isinstance(each, Group):
            each.forward = calls.forward
    space.update((n, calls.around(each)) for n, each in source.named.items() if callable(each))
    space.update((f"warm{each}", False) for each in (*source.whole, *source.groups))
    return _defined(_compiled_text(source.text), space)


def _space(
    code: Tables,
    named: Mapping[str, object],
    numbers: Collection[int],
    invoke: Invoke,
    calls: Calls,
    notes: dict[int, object],
    plain: Collection[int] = (),
) -> dict[str, object]:
    """What the names of a plan's text mean; `plain` operators are called as they are."""
    space: dict[str, Any] = {"__builtins__": {}, **ACTIONS, **NAMES, **named}
    space.update(invoke=invoke, reuse=reuse, running=RUNNING, faults=FAULTS)
    if calls.guard is not None:
        space["count"] = calls.guard.count
    space.update((f"b{i}", name) for i, name in notes.items())
    for i, entry in enumerate(code.operators):
        space[f"o{i}"] = entry.forward if i in notes or i in plain else calls.forward(entry)
        space[f"p{i}"] = entry.on_arrays
    space.update((f"t{i}", entry) for i, entry in enumerate(code.types))
    space.update((f"n{i}", entry) for i, entry in enumerate(code.names))
    space.update((f"c{i}", entry) for i, entry in enumerate(code.constants))
    if numbers:
        with np.errstate(over="ignore"):
            for i in numbers:
                space[f"k{i}"] = np.asarray(code.constants[i]).astype(np.float32)
    return space
