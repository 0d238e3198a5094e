"""Which tensors that a graph is given it writes: who saved them for gradients is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...ir.graph import Graph, Value
from ...ops.memory.versions import written
from ...typecheck.types import TENSOR
from ..code.code import Code

__all__ = ["count_writes_of", "written_inputs"]


def written_inputs(graph: Graph, code: Code) -> tuple[int, ...]:
    """The places of a graph's inputs that are tensors which it may write, by its code."""
    if not any(entry.is_in_place for entry in code.operators):
        return ()
    found = set[Value]()
    for node, entry in code.called_by.items():
        if entry.is_in_place:
            found.update(_wholes(code, node.inputs[0]))
    inputs = enumerate(graph.inputs)
    return tuple(place for place, value in inputs if value in found and value.type == TENSOR)


def _wholes(code: Code, value: Value) -> set[Value]:
    """The tensors that a value may be a part of, before branches and loops."""
    found, left = set[Value](), [value]
    while left:
        whole = code.whole_of(left.pop())
        if whole not in found:
            found.add(whole)
            left += _carried(whole)
    return found


def _carried(value: Value) -> Iterator[Value]:
    """What a value is by the ways of a branch, or by the rounds of a loop."""
    node = value.node
    place = node.outputs.index(value)
    if node.kind == "prim::If":
        yield from (block.outputs[place] for block in node.blocks)
    elif node.kind == "prim::Loop":
        yield node.inputs[2 + place]
        yield node.blocks[0].outputs[1 + place]
    elif node.kind == "prim::Param":
        owner = None if node.owner is None else node.owner.node
        if owner is not None and owner.kind == "prim::Loop" and place > 0:
            yield owner.inputs[1 + place]
            yield owner.blocks[0].outputs[place]


def count_writes_of(values: Sequence[Any], places: Sequence[int]) -> None:
    """Note that the tensors at some places are about to be written.

    Raises:
        RuntimeError: one was made in `inference_mode`, and this is outside.
    """
    for place in places:
        if values[place] is not None:  # which is told where it is used
            written(values[place])
