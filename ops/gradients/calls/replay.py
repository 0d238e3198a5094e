"""The operators of a call that is known by its shape, again: their nodes, or what runs them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import compress

import numpy as np

from ...memory.dtype import Array
from ...memory.versions import versions_then
from ...table.direct import direct_form
from ...table.grad_mode import RUNNING
from ...tensors.differentiable import BEHIND
from ...tensors.tensor import Tensor
from ..nodes.autograd import Edge, edge_within
from ..recording.noted import Noted, Step
from .shapes import At, CallShape, Did, numbers_in
from .texts import Text

__all__ = ["arrays_of", "nodes_of", "notes_of", "runs_for", "write_runs"]


def arrays_of(shape: CallShape, saved: Sequence[Array]) -> list[Array]:
    """The arrays of all values: those that are saved, and others without memory."""
    kept = dict(zip(shape.saved, saved, strict=False))
    return [kept[n] if n in kept else shape.ghost(n) for n in range(len(shape.values))]


def notes_of(shape: CallShape, arrays: Sequence[Array]) -> list[Step]:
    """The notes of the operators through which gradients come back, with these arrays."""
    return [_note_of(step, arrays) for step in compress(shape.steps, shape.useful)]


def _note_of(step: Did, arrays: Sequence[Array]) -> Step:
    args = tuple(_filled(value, arrays) for value in step.args)
    results = [arrays[n] for n in step.results]
    return step.bound, args, results[0] if step.many is None else step.many(results), None


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
        for index, step in enumerate(shape.steps):
            if not shape.useful[index] or index + 1 in shape.puts:
                continue
            if index in shape.puts:
                _write_again(shape, index, arrays, noted)
            elif there.keys().isdisjoint(step.results):
                noted.replay(*_note_of(step, arrays))
        return [edge_within(noted.handle(arrays[n])) for n in shape.outward], noted
    finally:
        RUNNING.version_of = before


def _write_again(shape: CallShape, index: int, arrays: Sequence[Array], noted: Noted) -> None:
    """Make the nodes of what writes a view, in memory of the same form."""
    put, step, write = shape.puts[index], shape.steps[index], shape.steps[index - 1]
    value = shape.values[step.results[0]]
    whole = np.empty(value.shape, value.dtype)
    part = whole[put.key]
    before, view = noted.handle(whole), noted.handle(part)
    _take_history(before, noted.handle(arrays[step.args[0].number]))
    if before._requires_grad:
        view._view_of, view._view_version, view._requires_grad = before, BEHIND, True
    else:
        view._seen_as(before, True)
    args = (part, *(_filled(each, arrays) for each in write.args[1:]))
    old = arrays[put.view] if index - 1 in shape.copies else None
    noted.make_node(shape.noted[index - 1], args, part, old)
    _take_history(noted.handle(arrays[step.results[0]]), before)
    _take_history(noted.handle(arrays[write.results[0]]), view)


def _take_history(handle: Tensor, other: Tensor) -> None:
    """Have a tensor come from where another one does."""
    edge = edge_within(other)
    if edge is not None:
        handle._requires_grad = True
        handle._grad_node, handle._output_number = edge


def _filled(value: object, arrays: Sequence[Array]) -> object:
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
