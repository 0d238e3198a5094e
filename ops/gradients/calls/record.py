"""Recording what scripted code does, for gradients.

The machine computes with bare arrays.  While it runs for tensors that require gradients, every
operator over tensors notes its arguments and result here.  Nodes are made of the notes only when
somebody asks for a gradient: the tensors that come out know this record until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache
from typing import Any, Final

import numpy as np

from ....typecheck.definitions.functions import Bounding
from ...eager.open_operators import OpenOperator
from ...kernels import TRIALS
from ...memory.dtype import Array
from ...memory.versions import owner_of, versions_then, write_count, written
from ...python_values.futures import TASK_RESULTS
from ...python_values.named_tuples import NamedValues, make_named
from ...table.direct import direct_form, has_direct_form
from ...table.grad_mode import RUNNING, is_recording
from ...table.out_forms import no_gradients, outs_in
from ...table.table import TABLE, Operator
from ...tensors.tensor import Tensor
from ..nodes import autograd
from ..nodes.autograd import is_wanted
from ..nodes.bound import Bound, bound_row_in_script
from ..nodes.late_rows import LateBound
from ..nodes.packing import PACKING
from ..nodes.view_rules import check_in_place
from ..recording.noted import Noted, Step
from ..recording.tape import backward, gradients_of
from ..table.rows import Rewriting
from .idle import without_idle
from .nodes import Calls
from .shapes import LONGEST

__all__ = ["Record", "recorder"]


_MOST_WAITING: Final = 16
"""Calls in a row, each given what the one before gave, that wait until somebody asks for a history:
nodes of one record are made once those before it are, and all it was given lives until then."""


class Record(Noted):
    """What one call of scripted code did; `calls` know what earlier ones of that code did."""

    def __init__(self, calls: Calls | None = None) -> None:
        super().__init__()
        self.steps: list[Step | LateStep] = []
        self.writes: list[int] = []
        self.bounds: dict[Bounding, None] = {}
        """The bounds of code that is not trusted which ran."""
        self._pending: list[Tensor] = []
        self._calls = calls
        self._guarded: set[int] = set()
        """The owners of the memory of views that may not be written."""
        self._leaves: set[int] = set()
        """The owners of the memory of leaves that came in."""
        self._waiting = 0
        """How many records in a row wait before this one."""

    # ------------------------------------------------------------------ while it runs

    @staticmethod
    def recorder(entry: Operator) -> Callable[..., object]:
        """The forward of an operator, which also tells the record that runs."""
        return recorder(entry)

    @staticmethod
    def noted_alone(entry: Operator) -> Bound | None:
        """What a step calls an operator by that needs nothing but a note; None for any other."""
        return _noted_alone(entry)

    @staticmethod
    def noted_late(entry: Operator, put: Callable[[object], None]) -> LateBound:
        """The same of one of which that is known, without its row, of which `put` is told once
        somebody asks for a gradient."""
        return LateBound(entry, put)

    def know(self, values: Iterable[object]) -> None:
        """Take note of tensors that come in."""
        for value in values:
            if isinstance(value, Tensor):
                self.known[id(value._array)] = value
                wanted = value._requires_grad
                if wanted is True:
                    if value._grad_node is None:
                        self._leaves.add(id(owner_of(value._array)))
                elif wanted and isinstance(wanted, Record):
                    self._follow(wanted)
            elif isinstance(value, (list, tuple)):
                self.know(value)
            elif isinstance(value, dict):
                self.know(value.values())

    def _follow(self, earlier: Record) -> None:
        """Take note of a record that a tensor waits for which comes in."""
        if earlier._waiting < _MOST_WAITING:
            self._waiting = max(self._waiting, earlier._waiting + 1)
        else:
            earlier.resolve()

    def guard(self, array: Array) -> None:
        """Have writes into the memory of an array, which is a view, checked before they happen."""
        self._guarded.add(id(owner_of(array)))

    def handle_of(self, array: Array) -> Tensor:
        """The tensor of an array, with its history so far."""
        self.resolve()
        return self.handle(array)

    def is_noted(self, array: Array) -> bool:
        """Whether notes hold memory of an array."""
        owner = owner_of(array)
        return any(
            isinstance(each, np.ndarray) and owner_of(each) is owner
            for _, args, result, _ in self.steps
            for each in (*args, *(result if type(result) in (list, tuple) else (result,)))
        )

    def check_write(self, array: Array) -> None:
        """Refuse to write into a leaf that requires gradients, or into a view of one."""
        if not is_recording() or array.dtype.kind in "biu":  # whole numbers have no history
            return
        owner = id(owner_of(array))
        if owner in self._guarded or owner in self._leaves:
            target: Tensor | None = self.handle_of(array)
        else:
            target = self.known.get(id(array))
        if target is not None and target._requires_grad:
            check_in_place(target, True)

    def backward(
        self,
        arrays: Sequence[Array],
        grads: Sequence[Array | None] | None,
        retain_graph: bool | None,
        create_graph: bool,
    ) -> None:
        """Add gradients to the `grad` of leaves."""
        starts = [None] * len(arrays) if grads is None else grads
        given = [None if g is None else self.handle_of(g) for g in starts]
        backward([self.handle_of(a) for a in arrays], given, retain_graph, create_graph, None)

    def gradients(
        self,
        outputs: Sequence[Array],
        inputs: Sequence[Array],
        grads: Sequence[Array | None] | None,
        retain_graph: bool | None,
        create_graph: bool,
        allow_unused: bool,
    ) -> list[Array | None]:
        """The gradients of some arrays for others."""
        starts = [None] * len(outputs) if grads is None else grads
        found = gradients_of(
            [self.handle_of(a) for a in outputs],
            [self.handle_of(a) for a in inputs],
            [None if g is None else self.handle_of(g) for g in starts],
            keep=retain_graph,
            create=create_graph,
            allow_unused=allow_unused,
        )
        self.know(found)
        return [None if tensor is None else tensor._array for tensor in found]

    # ------------------------------------------------------------------ when it is done

    def finish(self) -> None:
        """Note the end; what came in and was written gets its history at once, and so does all
        where what nodes keep goes through hooks, which are those of now."""
        self.clock = write_count()
        if PACKING.used:
            self._make_nodes()
        elif self.writes:
            owners = {id(owner_of(handle._array)) for handle in self.known.values()}
            if any(owner in owners for owner in self.writes):
                self.resolve()

    def outward(self, value: object) -> object:
        """A machine value with tensors in place of arrays."""
        if isinstance(value, np.ndarray):
            return self.tensor(value)
        if isinstance(value, list):
            return [self.outward(each) for each in value]
        if isinstance(value, tuple):
            parts = tuple(self.outward(each) for each in value)
            return make_named(value.type, parts) if isinstance(value, NamedValues) else parts
        if isinstance(value, dict):
            return {self.outward(key): self.outward(each) for key, each in value.items()}
        return value.with_values(self.outward) if isinstance(value, TASK_RESULTS) else value

    def tensor(self, array: Array) -> Tensor:
        """The tensor of an array that goes out: its history is made when it is asked for."""
        found = self.known.get(id(array))
        if found is None:
            found = self.known[id(array)] = Tensor._of(array)
            self.wait(found)
        return found

    def wait(self, handle: Tensor) -> None:
        """Have a tensor ask this record for its history."""
        self.known[id(handle._array)] = handle
        if self.steps and handle._array.dtype.kind not in "biu":
            handle._requires_grad = self
            self._pending.append(handle)

    def resolve(self) -> None:
        """Make the nodes of the notes; another thread that asks meanwhile waits.

        Nothing that a run which is over has kept goes through the hooks of a later time.
        """
        if not (self.clock and PACKING.used):
            self._make_nodes()
            return
        hooks = PACKING.hooks
        PACKING.put([])
        try:
            self._make_nodes()
        finally:
            PACKING.put(hooks)

    def _make_nodes(self) -> None:
        with autograd.RESOLVING:
            if not self.steps and not self._pending:
                return  # done, or being done further out
            steps = list(map(_settled, self.steps))
            self.steps.clear()  # the list stays: plans add to it
            pending, self._pending = self._pending, []
            if len(steps) > LONGEST:
                steps = without_idle(self, steps, pending)
            self._later = {}
            for bound, args, _, _ in steps:
                if bound.in_place:
                    owner = id(owner_of(args[0]))
                    self._later[owner] = self._later.get(owner, 0) + 1
            before, bounds, turn = RUNNING.version_of, RUNNING.bounds, autograd.TURN[0]
            RUNNING.version_of = versions_then(self.clock, self._later)
            RUNNING.bounds = (*bounds, *self.bounds)
            autograd.TURN[0] = turn | 1
            try:
                calls, self._calls = self._calls, None
                if calls is None or not self.clock or not calls.join(self, steps, pending):
                    for step in steps:
                        self.replay(*step)
            finally:
                RUNNING.version_of, RUNNING.bounds = before, bounds
                for handle in pending:  # until now they tell other threads to wait
                    handle._notes_are_done(self)
                autograd.TURN[0] = turn + 2


LateStep = tuple[LateBound, tuple[object, ...], Any, None]


def _settled(step: Step | LateStep) -> Step:
    bound, args, result, old = step
    if isinstance(bound, LateBound):
        return bound.settled(), args, result, old
    return bound, args, result, old


def recorder(entry: Operator) -> Callable[..., object]:
    """The forward of an operator, which also tells the record that runs."""
    if isinstance(entry, OpenOperator):
        return _open_recorder(entry)
    return _made_recorder(entry)


def _make_recorder(entry: Operator) -> Callable[..., object]:
    if entry.is_out_form:
        return _out_recorder(entry)
    bound = _noted(entry)
    if bound is None:
        return entry.forward
    if bound.in_place:
        run = _in_place_recorder(bound)
    elif bound.is_view and not _has_lists(entry):
        run = _view_recorder(bound)
    else:
        run = _noting_recorder(bound)
    if bound.row is not None and bound.row.rewritten is not None:
        return _rewriting_recorder(run, bound.row.rewritten)
    return run


_made_recorder: Final[Callable[[Operator], Callable[..., object]]] = cache(_make_recorder)


def _open_recorder(entry: OpenOperator) -> Callable[..., object]:
    """What users registered is looked up at each call, and run on tensors with their history."""
    noting = _make_recorder(entry)

    def run(*args: object) -> object:
        record = RUNNING.record
        on_tensors = None if record is None or not is_recording() else entry.on_tensors
        if on_tensors is None:
            return noting(*args)
        record.resolve()
        handles = [_outward(record, a) for a in entry.handles(args)]
        RUNNING.record = None
        try:
            made = on_tensors(handles)
        finally:
            RUNNING.record = record
        record.know((made,))
        return entry.lowered(made)

    return run


def _outward(record: Record, value: object) -> object:
    """A tensor just made of an array as the one that the record knows."""
    if isinstance(value, Tensor):
        return record.tensor(value._array)
    return [_outward(record, each) for each in value] if isinstance(value, list) else value


def _noting_recorder(bound: Bound) -> Callable[..., object]:
    entry, forward = bound.entry, bound.entry.forward
    has_lists = _has_lists(entry)

    def run(*args: object) -> object:
        result = forward(*args)
        record = RUNNING.record
        if record is not None and is_recording():
            if has_lists:
                noted = tuple(list(a) if type(a) is list else a for a in args)
                kept = list(result) if type(result) is list else result
                record.steps.append((bound, noted, kept, None))
            else:
                record.steps.append((bound, args, result, None))
        return result

    return run


def _view_recorder(bound: Bound) -> Callable[..., object]:
    """Views are noted even while no gradients are wanted: they know what they are views of."""
    forward, unwatched = bound.entry.forward, copy(bound)
    unwatched.watched = False

    def run(*args: object) -> object:
        result = forward(*args)
        record = RUNNING.record
        if record is not None:
            watched = is_recording()
            if bound.is_multiple_view or not watched:
                record.guard(args[0])
            kept = list(result) if type(result) is list else result
            record.steps.append((bound if watched else unwatched, args, kept, None))
        return result

    return run


def _noted(entry: Operator) -> Bound | None:
    """What steps call an operator by; None for one that leaves nothing to note."""
    if "Tensor" not in entry.schema or (entry.of_leaves and entry.is_in_place):
        return None
    bound = bound_row_in_script(entry)
    if bound.in_place:
        return bound
    if bound.row is None:
        return bound if _gives_tensors(entry) else None
    # memory that is made is mostly made to be written
    return None if bound.row.is_constant and not entry.makes_memory else bound


def _noted_alone(entry: Operator) -> Bound | None:
    if isinstance(entry, OpenOperator) or entry.is_out_form:
        return None
    bound = _noted(entry)
    if bound is None or bound.in_place or bound.is_multiple_view or _has_lists(entry):
        return None
    return bound if bound.row is None or bound.row.rewritten is None else None


def _has_lists(entry: Operator) -> bool:
    return "Tensor[]" in entry.schema or "?[]" in entry.schema


def _gives_tensors(entry: Operator) -> bool:
    return "Tensor" in entry.schema[entry.schema.rindex("->") :]


def _rewriting_recorder(
    itself: Callable[..., object], rewriting: Rewriting
) -> Callable[..., object]:
    """Others run in the operator's place, each recorded for itself, where there are any."""

    def step(name: str, *args: object) -> object:
        entry = TABLE.operator(name)
        assert entry is not None
        return recorder(entry)(*args)

    def run(*args: object) -> object:
        record = RUNNING.record
        if record is None or not is_recording():
            return itself(*args)
        made = rewriting(step, *args)
        return itself(*args) if made is None else made

    return run


def _out_recorder(entry: Operator) -> Callable[..., object]:
    """What writes into outs is noted nowhere, so that all before it must have its history first."""
    forward = entry.forward
    name = entry.name.partition("::")[2]

    def run(*args: object) -> object:
        record = RUNNING.record
        if record is None:
            return forward(*args)
        record.resolve()
        arrays = [each for each in args if isinstance(each, np.ndarray)]
        if is_recording() and any(is_wanted(record.handle(each)) for each in arrays):
            raise no_gradients(name)
        result = forward(*args)
        for out in outs_in(result, args):
            written(out)
        return result

    return run


def _learned(entry: Operator) -> Callable[..., object]:
    """The forward of an operator that writes, of whose calls native code learns once they come
    often."""
    if not has_direct_form(entry):
        return entry.forward
    left, known = TRIALS, entry.forward

    def run(*args: object) -> object:
        nonlocal left, known
        if left:
            left -= 1
            if not left:
                known = direct_form(entry)
        return known(*args)

    return run


def _in_place_recorder(bound: Bound) -> Callable[..., object]:
    forward = _learned(bound.entry)
    copies = any(0 in kept for kept in bound.keeps.values())
    becomes = bound.entry.written == "replaced"

    def run(*args: Any) -> object:
        record = RUNNING.record
        target = args[0]
        if record is None:
            return forward(*args)
        record.check_write(target)
        if not is_recording() and record.is_noted(target):
            record.resolve()  # nobody would note that what nodes keep is written
        old = None
        if becomes or copies:
            old = target[...] if becomes else target.copy("K") if is_recording() else None
        result = forward(*args)
        written(target)
        if target.dtype.kind not in "biu":  # what has no history
            record.writes.append(id(owner_of(target)))
        if is_recording():
            record.steps.append((bound, args, result, old))
        return result

    return run
