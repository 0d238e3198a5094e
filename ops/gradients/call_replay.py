"""The nodes of single operators of a call that is known by its shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..memory.dtype import Array
from ..memory.versions import versions_then
from ..table.grad_mode import RUNNING
from .autograd import Edge, edge_within
from .call_shapes import At, CallShape
from .noted import Noted

__all__ = ["arrays_of", "filled", "nodes_of", "notes_of"]


def arrays_of(shape: CallShape, saved: Sequence[Array]) -> list[Array]:
    """The arrays of all values: those that are saved, and others without memory."""
    kept = dict(zip(shape.saved, saved, strict=False))
    return [kept[n] if n in kept else shape.ghost(n) for n in range(len(shape.values))]


def notes_of(shape: CallShape, arrays: Sequence[Array]) -> list[tuple[Any, ...]]:
    """The notes of the operators through which gradients come back, with these arrays."""
    notes: list[tuple[Any, ...]] = []
    for step, useful in zip(shape.steps, shape.useful, strict=True):
        if useful:
            args = tuple(filled(value, arrays) for value in step.args)
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


def filled(value: Any, arrays: Sequence[Array]) -> Any:
    """An argument with arrays in the place of numbers."""
    if type(value) is At:
        return arrays[value.number]
    if type(value) is list:
        return [filled(each, arrays) for each in value]
    return value
