"""Several guarded traces of one function made into one graph that branches where they part.

%c : bool = aten::Bool(%x)              %c : bool = aten::Bool(%x)
 = prim::If(%c)                         %r : Tensor = prim::If(%c)
  block0():                       ->      block0():
    -> ()                                   %y : Tensor = aten::neg(%x)
  block1():                                 -> (%y)
     = prim::RaiseException(...)          block1():
    -> ()                                   %z : Tensor = aten::abs(%x)
%y : Tensor = aten::neg(%x)                 -> (%z)
return (%y)                             return (%r)

Up to the first decision that they take differently, traces are the same operators; which constants
and attributes they read there may differ, so these are copied to where they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...typecheck.types.tensor_facts import without_facts
from ...typecheck.types.types import Type
from ..graphs.clone import clone_node
from ..graphs.constants import same_constant
from ..graphs.graph import Block, Graph, Node, Value
from .trace_guards import MARK

__all__ = ["guard_texts", "merge_traces"]

_FREE = frozenset(("prim::Constant", "prim::GetAttr"))
"""What may be read anywhere."""


class _Guard(NamedTuple):
    """A decision: the node of the condition, and the branch with a guard's way out."""

    condition: Node
    branch: Node

    @property
    def raising(self) -> int:
        """The block that raises."""
        return 0 if next(self.branch.blocks[0].nodes, None) is not None else 1

    def is_decided_like(self, other: _Guard) -> bool:
        """Whether both decisions were the same."""
        return self.raising == other.raising and self.is_about_same(other)

    def is_about_same(self, other: _Guard) -> bool:
        """Whether both conditions are."""
        one, two = self.condition, other.condition
        if one.kind != two.kind or len(one.inputs) != len(two.inputs):
            return False
        pairs = zip(one.inputs, two.inputs, strict=True)
        return all(_is_same_constant(a.node, b.node) for a, b in pairs)


class _Path:
    """A trace as steps, each with the decision behind it; the last one has none."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.known: dict[Value, Value] = {}
        self.guards: list[_Guard] = []
        self.steps: list[list[Node]] = [[]]
        for node in graph.nodes:
            if _is_guard(node):
                condition = node.inputs[0].node
                self.steps[-1].remove(condition)
                self.guards.append(_Guard(condition, node))
                self.steps.append([])
            else:
                self.steps[-1].append(node)

    def find(self, value: Value, block: Block) -> Value:
        """What stands for a value in the new graph; what is free is copied to the block's end."""
        if value not in self.known:
            self.copy(value.node, block)
        return self.known[value]

    def copy(self, node: Node, block: Block) -> None:
        """Append a copy of a node."""
        made = clone_node(node, block.graph, lambda value: self.find(value, block))
        block.append(made)
        for old, new in zip(node.outputs, made.outputs, strict=True):
            self.known[old] = new

    def counted(self, step: int) -> list[Node]:
        """The nodes of a step that all traces of it have."""
        return [node for node in self.steps[step] if node.kind not in _FREE]


def _is_guard(node: Node) -> bool:
    if node.kind != "prim::If" or node.outputs:
        return False
    texts = [_text_of(block) for block in node.blocks]
    return any(text is not None and text.startswith(MARK) for text in texts)


def _text_of(block: Block) -> str | None:
    last = block.ret.previous
    if last is None or last.kind != "prim::RaiseException":
        return None
    return str(last.inputs[0].node.attributes.get("value"))


def _is_same_constant(one: Node, other: Node) -> bool:
    """Whether two nodes are the same constant, or neither is one."""
    if "prim::Constant" not in (one.kind, other.kind):
        return True
    a, b = one.attributes.get("value"), other.attributes.get("value")
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if a != a and b != b:
        return type(a) is type(b)  # both are nan
    return one.kind == other.kind and same_constant(one, other)


def guard_texts(graph: Graph) -> frozenset[str]:
    """The messages of all guards of a graph."""
    found = (_text_of(node.owner) for node in graph.all_nodes if _raises(node) and node.owner)
    return frozenset(text for text in found if text is not None and text.startswith(MARK))


def _raises(node: Node) -> bool:
    return node.kind == "prim::RaiseException"


def merge_traces(graphs: Sequence[Graph]) -> Graph:
    """One graph of guarded traces, none of which is changed; inputs are named as in the first.

    Raises:
        RuntimeError: two traces part where nothing was decided, or return different types.
    """
    merged = Graph()
    paths = [_Path(graph) for graph in graphs]
    several = len(graphs) > 1
    for place, value in enumerate(graphs[0].inputs):
        made = merged.add_input(without_facts(value.type) if several else value.type)
        made.copy_name(value)
        for path in paths:
            path.known[path.graph.inputs[place]] = made
    merged.block.add_output(_build(merged.block, paths, 0))
    if several:
        for node in merged.all_nodes:
            for value in node.outputs:
                value.type = without_facts(value.type)
    return merged


def _build(block: Block, paths: list[_Path], step: int) -> Value:
    """Append what traces do that agree so far, from a step on; gives the result."""
    lead = paths[0]
    while True:
        for node in lead.steps[step]:
            lead.copy(node, block)
        for other in paths[1:]:
            _follow(lead, other, step)
        if step == len(lead.guards):
            return lead.find(lead.graph.outputs[0], block)
        groups = _grouped(paths, step)
        if len(groups) > 1:
            return _branch(block, groups, step)
        for node in lead.guards[step]:
            lead.copy(node, block)
        step += 1


def _follow(lead: _Path, other: _Path, step: int) -> None:
    """Let the values of a trace's step be those of the one that was copied.

    Raises:
        RuntimeError: it does not do the same.
    """
    ours, theirs = lead.counted(step), other.counted(step)
    for one, two in zip(ours, theirs, strict=False):
        if not _is_alike(lead, one, other, two):
            raise _parted(two)
        for a, b in zip(one.outputs, two.outputs, strict=True):
            other.known[b] = lead.known[a]
    if len(ours) != len(theirs):
        shorter = min(len(ours), len(theirs))
        raise _parted((ours if len(ours) > shorter else theirs)[shorter])
    if (step < len(lead.guards)) != (step < len(other.guards)):
        raise _parted(None)


def _is_alike(lead: _Path, one: Node, other: _Path, two: Node) -> bool:
    if one.kind != two.kind or len(one.outputs) != len(two.outputs):
        return False
    if len(one.inputs) != len(two.inputs):
        return False
    for a, b in zip(one.inputs, two.inputs, strict=True):
        if b.node.kind in _FREE:
            same = a.node.kind == b.node.kind and _is_same_constant(a.node, b.node)
            if not same or a.node.attributes.get("name") != b.node.attributes.get("name"):
                return False
        elif other.known.get(b) is not lead.known.get(a):
            return False
    return True


def _parted(node: Node | None) -> RuntimeError:
    place = "at its end" if node is None else f"at {node.kind}, {node.span.text.strip()}"
    return RuntimeError(
        f"{MARK}the function does something else {place}, though all it has read off tensors is "
        "the same: it depends on something that is no input"
    )


def _grouped(paths: list[_Path], step: int) -> list[list[_Path]]:
    """The traces by what they decide behind a step, in order of their first."""
    groups: list[list[_Path]] = []
    for path in paths:
        for group in groups:
            if group[0].guards[step].is_decided_like(path.guards[step]):
                group.append(path)
                break
        else:
            groups.append([path])
    return groups


def _branch(block: Block, groups: list[list[_Path]], step: int) -> Value:
    """Append a branch for each decision; what nobody has decided raises."""
    group, rest = groups[0], groups[1:]
    lead = group[0]
    condition, branch = lead.guards[step]
    lead.copy(condition, block)
    if not rest:
        lead.copy(branch, block)
        return _build(block, group, step + 1)
    made = block.graph.create("prim::If", [lead.known[condition.output]], (), branch.span)
    block.append(made)
    for each in (0, 1):
        inner = made.add_block()
        if each != lead.guards[step].raising:
            result = _build(inner, group, step + 1)
        elif len(rest) == 1 and _is_complement(lead.guards[step], rest[0][0].guards[step]):
            result = _build(inner, rest[0], step + 1)
        else:
            result = _branch(inner, rest, step)
        inner.add_output(result)
    made.add_output(_common_type(made))
    return made.output


def _is_complement(one: _Guard, other: _Guard) -> bool:
    return one.raising != other.raising and one.is_about_same(other)


def _common_type(branch: Node) -> Type:
    one, other = (without_facts(block.outputs[0].type) for block in branch.blocks)
    if one != other:
        raise RuntimeError(
            f"{MARK}the branch at {branch.span.text.strip()} returns {other}, but the other one "
            f"returns {one}; a graph needs one type"
        )
    return one
