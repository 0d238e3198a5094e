"""The operators of a call that is known by its shape, again: their nodes, or what runs them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...memory.dtype import Array
from ...memory.versions import versions_then
from ...table.direct import direct_form
from ...table.grad_mode import RUNNING
from ..nodes.autograd import Edge, edge_within
from ..recording.noted import Noted
from .shapes import At, CallShape, numbers_in
from .texts import Text

__all__ = ["arrays_of", "nodes_of", "notes_of", "runs_for", "write_runs"]


def arrays_of(shape: CallShape, saved: Sequence[Array]) -> list[Array]:
    """The arrays of all values: those that are saved, and others without memory."""
    kept = dict(zip(shape.saved, saved, strict=False))
    return [kept[n] if n in kept else shape.ghost(n) for n in range(len(shape.values))]


def notes_of(shape: CallShape, arrays: Sequence[Array]) -> list[tuple[Any, ...]]:
    """The notes of the operators through which gradients come back, with these arrays."""
    notes: list[tuple[Any, ...]] = []
    for step in _useful(shape):
        args = tuple(_filled(value, arrays) for value in step.args)
        results = [arrays[n] for n in step.results]
        notes.append(
            (step.bound, args, results[0] if step.many is None else step.many(results), None)
        )
    return notes


def nodes_of(
    shape: CallShape,
    arrays: Sequence[Array],
    edges: Sequence[Edge | None],
    clock: int,
    known: Mapping[int, Edge | None] | None = None,
) -> tuple[list[Edge | None], Noted]:
    """Make the nodes: where what went out came from, and the tensors that know all nodes.

    Given is where the arguments came from, and, by number, where values came from whose nodes are
    there already.  The versions of memory are those at the count `clock` of all writes.
    """
    noted, there = Noted(), known or {}
    for number, edge in (*zip(shape.edges, edges, strict=True), *there.items()):
        handle = noted.handle(arrays[number])
        if edge is not None:
            handle._requires_grad = True
            handle._grad_node, handle._output_number = edge
    before, RUNNING.version_of = RUNNING.version_of, versions_then(clock, {})
    try:
        for step, note in zip(_useful(shape), notes_of(shape, arrays), strict=True):
            if there.keys().isdisjoint(step.results):
                noted.replay(*note)
        return [edge_within(noted.handle(arrays[n])) for n in shape.outward], noted
    finally:
        RUNNING.version_of = before


def _useful(shape: CallShape) -> list[Any]:
    pairs = zip(shape.steps, shape.useful, strict=True)
    return [step for step, useful in pairs if useful]


def _filled(value: object, arrays: Sequence[Array]) -> Any:
    """An argument with arrays in the place of numbers."""
    if type(value) is At:
        return arrays[value.number]
    if type(value) is list:
        return [_filled(each, arrays) for each in value]
    return value


# --------------------------------------------------------------------------- texts


def runs_for(
    shape: CallShape, wanted: Collection[int], given: Collection[int], begin: int = 0
) -> list[int] | None:
    """The steps, none before `begin`, that make values of those that are given, in order; None
    where they need something else."""
    missing, found = set(wanted).difference(given), list[int]()
    for index in range(len(shape.steps) - 1, begin - 1, -1):
        step = shape.steps[index]
        if not missing.isdisjoint(step.results):
            found.append(index)
            missing.difference_update(step.results)
            missing |= set(numbers_in(step.args)).difference(given)
    return None if missing else found[::-1]


def write_runs(text: Text, shape: CallShape, steps: Sequence[int]) -> None:
    """Write what runs steps on arrays: value 3 stands under the name `v3`."""
    for index in steps:
        step = shape.steps[index]
        results = ", ".join(f"v{n}" for n in step.results) + "," * (step.many is not None)
        args = ", ".join(_shown(text, each) for each in step.args)
        text.add(1, f"{results} = {text.name(direct_form(step.bound.entry))}({args})")


def _shown(text: Text, value: object) -> str:
    if type(value) is At:
        return f"v{value.number}"
    if type(value) is list:
        return f"[{', '.join(_shown(text, each) for each in value)}]"
    return text.name(value)
