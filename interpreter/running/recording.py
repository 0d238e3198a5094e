"""Calls that are recorded: what comes out knows how it was made."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from ...ops.table.grad_mode import RUNNING
from ...ops.tensors.tensor import Tensor
from ..values.histories import arrays_in
from ..values.objects import ScriptObject
from .executable import Executable
from .reached import Reached
from .tiers import Tiers

if TYPE_CHECKING:
    from ...ops.gradients.calls.nodes import Calls
    from ...ops.gradients.calls.record import Record

__all__ = ["begun", "finished"]


def begun(reached: Reached, tiers: Tiers) -> Record:
    """A record of what this thread runs from now on, for a call that reaches some tensors."""
    if tiers.known_calls is None:
        tiers.known_calls = _calls_class()()
    record = _record_class()(tiers.known_calls)
    record.know(reached.tensors)
    RUNNING.record = record
    return record


@cache
def _record_class() -> type[Record]:
    """The class of records, whose module is loaded when it is first needed."""
    found: type[Record] = import_module("...ops.gradients.calls.record", __package__).Record
    return found


@cache
def _calls_class() -> type[Calls]:
    """The class of what is known of calls."""
    found: type[Calls] = import_module("...ops.gradients.calls.nodes", __package__).Calls
    return found


def finished(record: Record, executable: Executable, reached: Reached, result: object) -> object:
    """The result of a recorded run, whose tensors ask the record for their history."""
    record.finish()
    traits = executable.traits
    if traits.makes_objects:  # which others may hold now
        reached = Reached((*reached.holders, result))
    if traits.sets_slots:
        for holder in reached.holders:
            _wait_for_history(record, holder)
    if traits.changes:
        for holder in reached.with_containers:
            tensors = map(record.tensor, arrays_in(holder))
            holder.histories = {id(t._array): t for t in tensors if t._requires_grad} or None
    return record.outward(result)


def _wait_for_history(record: Record, holder: ScriptObject) -> None:
    """Have the tensors that a run put into attributes ask its record for their history."""
    for number, slot in enumerate(holder.slots):
        if isinstance(slot, Tensor):
            known = record.known.get(id(slot._array))
            if known is None:
                record.wait(slot)
            else:  # the same tensor: a parameter, or one whose history is made already
                holder.slots[number] = known
