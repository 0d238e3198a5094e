"""From variables to values.

    prim::Store[name="a"](%1)
    prim::If(%c)                                %a = prim::If(%c)
      block0():                                   block0():
        prim::Store[name="a"](%2)        ->         -> (%2)
        -> ()                                     block1():
      block1(): -> ()                               -> (%1)
    %3 = prim::Load[name="a"]()                 prim::Print(%a)
    prim::Print(%3)

1. Branches and loops get outputs, loads and stores for the variables they assign, in order of
   name.  2. `break` and `continue` become `prim::LoopContinuation(go on, carried...)`.  3. The
   condition block of each loop is copied before the loop and moved to the end of its body.
4. Loads are replaced by the values last stored.
"""

from __future__ import annotations

from ...typecheck.relations.relations import join
from ...typecheck.types.types import BOOL, Type
from ..graphs.clone import clone_block, clone_node
from ..graphs.constants import create_constant
from ..graphs.graph import Block, Graph, Node, Value
from .emitter import is_meaningful

__all__ = ["convert_to_ssa", "resolve_variables"]


def convert_to_ssa(graph: Graph) -> None:
    """Replace variables by values, and breaks and continues by loop continuations."""
    _Variables().block(graph.block)
    _Continuations(graph).block(graph.block, None)
    _inline_conditions(graph.block)
    _Resolution().block(graph.block)


def resolve_variables(graph: Graph) -> None:
    """Replace variables by values in a graph without breaks and continues."""
    _Variables().block(graph.block)
    _Resolution().block(graph.block)


# ------------------------------------------------------------------ outputs for assigned variables


class _Variables:
    """Adds inputs, outputs, loads and stores to branches and loops."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, Type]] = []

    def block(self, block: Block) -> dict[str, Type]:
        """Do a block; gives the variables it writes and the types of their last values."""
        written: dict[str, Type] = {}
        self.scopes.append(written)
        node = block.first
        while node is not block.ret:
            if node.kind == "prim::If":
                self.branch(node)
            elif node.kind == "prim::Loop":
                self.loop(node)
            elif node.kind == "prim::Scope":
                self.block(node.blocks[0])
            elif node.kind == "prim::Store":
                written[_name(node)] = node.input.type
            node = node.next
        return self.scopes.pop()

    def find(self, name: str) -> Type | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def branch(self, node: Node) -> None:
        one, other = (self.block(block) for block in node.blocks)
        for name in sorted({*one, *other}):
            types = [written.get(name) or self.find(name) for written in (one, other)]
            if types[0] is None or types[1] is None:
                continue
            type = join(types[0], types[1], or_union=True)
            if type is None:
                raise TypeError(f"{name} is {types[0]} or {types[1]} after a branch")
            _add_block_output(node.blocks[0], types[0], name)
            _add_block_output(node.blocks[1], types[1], name)
            _add_node_output(node, type, name)

    def loop(self, node: Node) -> None:
        body = node.blocks[0]
        written = self.block(body)
        for name in sorted(written):
            before = self.find(name)
            if before is None:
                continue
            type = join(before, written[name], or_union=True)
            if type is None:
                raise TypeError(f"{name} is {before} or {written[name]} after a loop")
            load = _load(node.graph, name, before).insert_before(node)
            node.add_input(load.output)
            value = body.add_input(type, name)
            _store(node.graph, name, value).insert_after(body.param)
            _add_block_output(body, written[name], name)
            _add_node_output(node, type, name)


def _name(node: Node) -> str:
    return str(node.attributes["name"])


def _load(graph: Graph, name: str, type: Type) -> Node:
    node = graph.create("prim::Load", (), (type,))
    node.attributes["name"] = name
    return node


def _store(graph: Graph, name: str, value: Value) -> Node:
    node = graph.create("prim::Store", (value,), ())
    node.attributes["name"] = name
    return node


def _add_block_output(block: Block, type: Type, name: str) -> None:
    block.add_output(block.append(_load(block.graph, name, type)).output)


def _add_node_output(node: Node, type: Type, name: str) -> None:
    value = node.add_output(type, name if is_meaningful(name) else None)
    _store(node.graph, name, value).insert_after(node)


# --------------------------------------------------------------------------- break and continue


class _Continuations:
    """Replaces `break` and `continue` by what they hand to the next round or out of the loop."""

    def __init__(self, graph: Graph) -> None:
        false = create_constant(graph, False, BOOL)
        self.false = false.insert_before(graph.block.first).output

    def block(self, block: Block, loop: Node | None) -> None:
        for node in block.nodes:
            if node.kind == "prim::Loop":
                self.block(node.blocks[0], node)
            elif node.kind in ("prim::If", "prim::Scope"):
                for inner in node.blocks:
                    self.block(inner, loop)
            elif node.kind in ("prim::BreakStmt", "prim::ContinueStmt"):
                if loop is None:
                    raise ValueError(f"{node.kind} at {node.span} is in no loop")
                self.replace(node, loop)

    def replace(self, node: Node, loop: Node) -> None:
        graph = node.graph
        goes_on = self.false
        if node.kind == "prim::ContinueStmt":
            goes_on = _copy_condition(loop, node)
        exit = graph.create("prim::LoopContinuation", (goes_on,), ())
        for output in loop.blocks[0].outputs:
            load = clone_node(output.node, graph, lambda value: value).insert_before(node)
            exit.add_input(load.output)
        exit.insert_after(node)
        node.destroy()


def _copy_condition(loop: Node, before: Node) -> Value:
    """A copy of the loop's condition block, put before a node; gives the condition."""
    holder = Node(before.graph, "prim::Scope")
    block = holder.add_block()
    clone_block(loop.blocks[1], block, lambda value: value)
    condition = block.outputs[0]
    _move_nodes(block, before)
    block.clear_outputs()
    return condition


def _move_nodes(block: Block, before: Node) -> None:
    for node in block.nodes:
        node.move_before(before)


def _inline_conditions(block: Block) -> None:
    for node in block.nodes:
        for inner in node.blocks:
            _inline_conditions(inner)
        if node.kind == "prim::Loop" and len(node.blocks) == 2:  # one of an inlined graph has one
            node.insert_input(1, _copy_condition(node, node))
            body, condition = node.blocks
            _move_nodes(condition, body.ret)
            body.ret.insert_input(0, condition.outputs[0])
            condition._destroy()
            del node.blocks[1]


# --------------------------------------------------------------------------------------- values


class _Resolution:
    """Replaces loads by the values last stored, and takes scopes apart."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, Value]] = []

    def block(self, block: Block) -> None:
        self.scopes.append({})
        for node in block.nodes:
            if node.kind == "prim::Store":
                self.scopes[-1][_name(node)] = node.input
                node.destroy()
            elif node.kind == "prim::Load":
                node.output.replace_uses(self.find(_name(node)))
                node.destroy()
            elif node.kind == "prim::Scope":
                self.block(node.blocks[0])
                _move_nodes(node.blocks[0], node)
                node.destroy()
            else:
                for inner in node.blocks:
                    self.block(inner)
        self.scopes.pop()

    def find(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise LookupError(f"variable {name} is read before it is written")
