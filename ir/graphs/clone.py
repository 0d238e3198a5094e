"""Copies of nodes, blocks and graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...frontend.syntax.deep_stack import goes_deep
from .graph import Block, CallSite, Graph, Node, Value

__all__ = ["clone_block", "clone_graph", "clone_node", "insert_graph", "take_graph"]

Lookup = Callable[[Value], Value]


def clone_node(node: Node, graph: Graph, lookup: Lookup) -> Node:
    """A copy of a node, blocks and all, in no block yet; `lookup` gives the inputs to use."""
    if graph.guard is None:
        graph.guard = node.graph.guard
    copy = Node(graph, node.kind, node.span, node.signature, node.call_stack)
    for output in node.outputs:
        copy.add_output(output.type).copy_name(output)
    copy.scope = node.scope
    copy.attributes = dict(node.attributes)
    for value in node.inputs:
        copy.add_input(lookup(value))
    for block in node.blocks:
        clone_block(block, copy.add_block(), lookup)
    return copy


def clone_block(source: Block, target: Block, lookup: Lookup) -> None:
    """Append copies of a block's inputs, nodes and outputs to another block."""
    known: dict[Value, Value] = {}

    def find(value: Value) -> Value:
        return known[value] if value in known else lookup(value)

    for value in source.inputs:
        copy = target.add_input(value.type)
        copy.copy_name(value)
        known[value] = copy
    for node in source.nodes:
        new = target.append(clone_node(node, target.graph, find))
        for old, copy in zip(node.outputs, new.outputs, strict=True):
            known[old] = copy
            if copy.name != old.name:  # some value inside has taken it
                copy.copy_name(old)
    for value in source.outputs:
        target.add_output(find(value))


@goes_deep
def clone_graph(graph: Graph) -> Graph:
    """A copy of a graph."""
    copy = Graph()
    copy.guard = graph.guard

    def lookup(value: Value) -> Value:
        raise ValueError(f"%{value.debug_name} is not a value of the graph")

    clone_block(graph.block, copy.block, lookup)
    return copy


def insert_graph(
    graph: Graph, callee: Graph, inputs: Sequence[Value], calls: tuple[CallSite, ...] = ()
) -> list[Value]:
    """Insert a copy of the callee's nodes at the insertion point; gives its outputs.

    The nodes' call stacks begin with `calls`.
    """
    known = dict(zip(callee.inputs, inputs, strict=True))
    for node in callee.nodes:
        new = graph.insert(clone_node(node, graph, known.__getitem__))
        known.update(zip(node.outputs, new.outputs, strict=True))
        for old, copy in zip(node.outputs, new.outputs, strict=True):
            copy.copy_name(old)
        if calls:
            _add_calls(new, calls)
    return [known[value] for value in callee.outputs]


def take_graph(
    graph: Graph, callee: Graph, inputs: Sequence[Value], calls: tuple[CallSite, ...] = ()
) -> list[Value]:
    """The same as `insert_graph`, but the nodes themselves move over: nobody may use `callee`
    afterwards.  Names, numbers and the order of uses become those of copies."""
    known = dict(zip(callee.inputs, inputs, strict=True))
    results = [known.get(value, value) for value in callee.outputs]
    callee.block.clear_outputs()
    for node in [*callee.nodes]:
        node.leave()
        _adopt(node, graph, known)
        graph.insert(node)
        if calls:
            _add_calls(node, calls)
    return results


def _adopt(node: Node, graph: Graph, known: Mapping[Value, Value]) -> None:
    if graph.guard is None:
        graph.guard = node.graph.guard
    node.graph = graph
    for value in node.outputs:
        value.settle()
    _use_known(node, known)
    for block in node.blocks:
        block.graph = block.param.graph = block.ret.graph = graph
        for value in block.inputs:
            value.settle()
        for inner in block.nodes:
            _adopt(inner, graph, known)
        _use_known(block.ret, known)


def _use_known(node: Node, known: Mapping[Value, Value]) -> None:
    for number, value in enumerate(node.inputs):
        node.set_input(number, known.get(value, value))


def _add_calls(node: Node, calls: tuple[CallSite, ...]) -> None:
    node.call_stack = (*calls, *node.call_stack)
    for block in node.blocks:
        for inner in block.nodes:
            _add_calls(inner, calls)
