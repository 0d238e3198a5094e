"""From exits to structured control flow.

    prim::If(%c)                       %r = prim::If(%c)
      block0():                          block0():
        prim::ReturnStmt(%1)      ->       -> (%1)
        -> ()                            block1():
      block1(): -> ()                      %2 = aten::neg(%x)
    %2 = aten::neg(%x)                     -> (%2)
    prim::ReturnStmt(%2)               return (%r)

What follows something that may have left is put under a branch on a flag that says whether it has.
First loop continuations are taken out, then returns; neighbouring branches, where the second asks
for a constant that the first has set, are then merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...typecheck.relations.relations import join
from ...typecheck.types.types import BOOL, Type
from ..graphs.clone import clone_block
from ..graphs.constants import MISSING, constant_value, create_constant
from ..graphs.graph import Block, Graph, Node, Value

__all__ = ["transform_exits"]


def transform_exits(graph: Graph) -> None:
    """Remove loop continuations and returns."""
    _wrap_contexts(graph.block)
    for kind in ("prim::LoopContinuation", "prim::ReturnStmt"):
        _Transformation(graph, kind).block(graph.block)
    _unwrap_contexts(graph.block)  # before copies are made: what a context holds is read after it
    _merge_branches(graph.block)
    for node in graph.all_nodes:
        if node.kind == "prim::Dropped":
            node.destroy()


@dataclass
class _Exit:
    """Whether a node has left (`flag`), and with which values if so.

    The flag is one of the transformation's `true`, `false` and `raises` where that is known.
    """

    flag: Value
    values: list[Value]


class _Transformation:
    """Takes the exits of one kind out of a graph."""

    def __init__(self, graph: Graph, kind: str) -> None:
        self.graph = graph
        self.kind = kind
        self.target: Block | None = None
        self.uninitialized: dict[int, Value] = {}
        self.types: list[Type] = []
        with graph.inserting_before(graph.block.first):
            self.true = graph.insert(create_constant(graph, True, BOOL)).output
            self.false = graph.insert(create_constant(graph, False, BOOL)).output
        self.raises = self.unset(BOOL)

    def unset(self, type: Type) -> Value:
        """A value of the type that is never looked at; one for every type object, as in torch."""
        if id(type) not in self.uninitialized:
            node = self.graph.create("prim::Uninitialized", outputs=(type,))
            self.uninitialized[id(type)] = node.insert_after(self.graph.block.param).output
            self.types.append(type)  # it must live as long as its id is a key
        return self.uninitialized[id(type)]

    def stays(self) -> _Exit:
        return _Exit(self.false, [])

    # -- blocks

    def block(self, block: Block) -> _Exit:
        outer, self.target = self.target, self.target_at(block)
        exit = self.nodes(block)
        if self.target is block:
            if self.may_leave(exit):
                self.choose_outputs(block, exit)
            elif exit.flag is self.true:
                block.clear_outputs()
                for value in exit.values:
                    block.add_output(value)
            exit = self.stays()
        self.target = outer
        return exit

    def target_at(self, block: Block) -> Block | None:
        """The block that exits inside `block` lead to the end of."""
        if block.node is None:
            starts = self.kind == "prim::ReturnStmt"
        else:
            starts = self.kind == "prim::LoopContinuation" and block.node.kind == "prim::Loop"
        return block if starts else self.target

    def may_leave(self, exit: _Exit) -> bool:
        return exit.flag not in (self.true, self.false, self.raises)

    def nodes(self, block: Block) -> _Exit:
        exit = self.stays()
        node = block.first
        while node is not block.ret:
            following = node.next
            exit = self.node(node, exit)
            if exit.flag in (self.true, self.raises):
                self.delete_from(following, block)
                break
            if self.may_leave(exit):
                if following is not block.ret:
                    exit = self.guard(block, exit, following)
                break
            node = following
        return exit

    def node(self, node: Node, before: _Exit) -> _Exit:
        if node.kind == self.kind:
            exit = _Exit(self.true, list(node.inputs))
            node.destroy()
            return exit
        if node.kind == "prim::RaiseException":
            return _Exit(self.raises, [])
        if node.kind == "prim::If":
            return self.branch(node)
        if node.kind == "prim::Loop":
            return self.loop(node)
        if node.kind == "prim::With":
            return self.block(node.blocks[0])
        return before

    def choose_outputs(self, block: Block, exit: _Exit) -> None:
        """At the end of the target: the exit's values if it was taken, else the block's own."""
        choice = self.new_branch(exit.flag).insert_before(block.ret)
        self.add_outputs(choice, exit.values, block.outputs)
        block.clear_outputs()
        for value in choice.outputs:
            block.add_output(value)

    def delete_from(self, node: Node, block: Block) -> None:
        """Delete what is never reached; the block's outputs may still name its values."""
        doomed = []
        while node is not block.ret:
            doomed.append(node)
            node = node.next
        for node in reversed(doomed):
            for output in node.outputs:
                if output.uses:
                    output.replace_uses(self.unset(output.type))
            node.destroy()

    def guard(self, block: Block, exit: _Exit, first: Node) -> _Exit:
        """Put the nodes from `first` on under a branch: run them unless the exit was taken."""
        branch = self.new_branch(exit.flag).insert_before(first)
        left, rest = branch.blocks
        while first is not block.ret:
            following = first.next
            first.move_before(rest.ret)
            first = following
        for output in block.outputs:
            left.add_output(self.unset(output.type))
            rest.add_output(output)
            branch.add_output(output.type)
        block.clear_outputs()
        for output in branch.outputs:
            block.add_output(output)
        left.append(self.graph.create(self.kind, exit.values, ()))
        return self.branch(branch)

    # -- branches

    def new_branch(self, condition: Value) -> Node:
        node = self.graph.create("prim::If", (condition,), ())
        node.add_block()
        node.add_block()
        return node

    def add_outputs(self, node: Node, one: Sequence[Value], other: Sequence[Value]) -> list[Value]:
        added = []
        for a, b in zip(list(one), list(other), strict=True):
            type = join(a.type, b.type, or_union=True)
            if type is None:
                raise TypeError(f"a value is {a.type} or {b.type} after a branch")
            node.blocks[0].add_output(a)
            node.blocks[1].add_output(b)
            added.append(node.add_output(type))
        return added

    def branch(self, node: Node) -> _Exit:
        one, other = (self.block(block) for block in node.blocks)
        flag = self.combine(one.flag, other.flag)
        if flag is self.raises:
            return _Exit(self.raises, [])
        if flag is self.false:
            return self.stays()
        if one.flag in (self.false, self.raises):
            one.values = [self.unset(value.type) for value in other.values]
        elif other.flag in (self.false, self.raises):
            other.values = [self.unset(value.type) for value in one.values]
        if flag is None:
            (flag,) = self.add_outputs(node, [one.flag], [other.flag])
        return _Exit(flag, self.add_outputs(node, one.values, other.values))

    def combine(self, one: Value, other: Value) -> Value | None:
        """What is known of a branch from what is known of its sides; None: either may happen."""
        if one is self.raises:
            return other if other in (self.true, self.false, self.raises) else None
        if other is self.raises:
            return one if one in (self.true, self.false) else None
        return one if one is other and one in (self.true, self.false) else None

    # -- loops

    def loop(self, node: Node) -> _Exit:
        body = node.blocks[0]
        exit = self.block(body)
        if exit.flag in (self.false, self.raises):
            return self.stays()
        self.stop_when_left(body, exit)
        flag = self.carry(node, self.false, exit.flag, is_flag=True)
        return _Exit(flag, [self.carry(node, self.unset(v.type), v) for v in exit.values])

    def stop_when_left(self, body: Block, exit: _Exit) -> None:
        choice = self.new_branch(exit.flag).insert_before(body.ret)
        choice.blocks[0].add_output(self.false)
        choice.blocks[1].add_output(body.outputs[0])
        body.ret.set_input(0, choice.add_output(BOOL))

    def carry(self, node: Node, start: Value, after: Value, *, is_flag: bool = False) -> Value:
        """One more carried value of a loop, which its body does not read.

        torch makes the body's input before the loop's output only of a flag: numbers tell.
        """
        body = node.blocks[0]
        node.add_input(start)
        if is_flag:
            body.add_input(after.type)
        output = node.add_output(after.type)
        if not is_flag:
            body.add_input(after.type)
        body.add_output(after)
        return output


# ---------------------------------------------------------------------------- merging of branches


def _merge_branches(block: Block, done: Node | None = None) -> None:
    """Merge what can be; up to `done`, and inside of it, that has happened."""
    node = block.first if done is None else done
    while node is not block.ret:
        if node is not done:
            for inner in node.blocks:
                _merge_branches(inner)
        while _merge_next(node):
            pass
        node = node.next


def _merge_next(node: Node) -> bool:
    """Merge the following branch into this one, if it asks for a constant set here."""
    second = node.next
    if node.kind != "prim::If" or second.kind != "prim::If" or second.input.node is not node:
        return False
    index = node.outputs.index(second.input)
    known = [constant_value(block.outputs[index]) for block in node.blocks]
    if MISSING in known or known[0] == known[1]:
        return False
    ends = [block.ret.previous for block in node.blocks]
    for block, value in zip(node.blocks, known, strict=True):
        _append_copy(node, block, second.blocks[0 if value else 1])
    for output in second.outputs:
        new = node.add_output(output.type)
        new.copy_name(output)
        output.replace_uses(new)
    second.destroy()
    for block, last in zip(node.blocks, ends, strict=True):
        _merge_branches(block, None if last is block.param else last)
    return True


def _append_copy(node: Node, block: Block, source: Block) -> None:
    outputs = list(block.outputs)

    def lookup(value: Value) -> Value:
        return outputs[node.outputs.index(value)] if value.node is node else value

    clone_block(source, block, lookup)


# ---------------------------------------------------------------------------------- with statements


def _wrap_contexts(block: Block) -> None:
    """Put what runs between `prim::Enter` and `prim::Exit` in a node, so that exits leave it alone.

    The second block, with the `prim::Exit`, is reached however the first is left.
    """
    entered: list[Node] = []
    for node in block.nodes:
        for inner in node.blocks:
            _wrap_contexts(inner)
        if node.kind == "prim::Enter":
            entered.append(node)
        elif node.kind == "prim::Exit":
            enter = entered.pop()
            context = block.graph.create("prim::With", (enter.input,), ()).insert_after(enter)
            body, end = context.add_block(), context.add_block()
            while context.next is not node:
                context.next.move_before(body.ret)
            node.move_before(end.ret)
            _give_out(context, body)


def _give_out(context: Node, body: Block) -> None:
    """Have what is made in the body and used behind it be results of the context: what follows an
    exit within the body is put under a branch."""
    for node in list(body.nodes):
        for value in node.outputs:
            uses = [use for use in value.uses if not _is_inside(use.user, body)]
            if uses:
                result = context.add_output(value.type)
                context.graph.skip_numbers(-1)  # it is gone before anybody sees its number
                for use in uses:
                    use.user.set_input(use.number, result)
                body.add_output(value)


def _is_inside(node: Node, block: Block) -> bool:
    """Whether a node stands in a block, or anywhere within one of its nodes."""
    while node.owner is not None and node.owner is not block:
        if node.owner.node is None:
            return False
        node = node.owner.node
    return node.owner is block


def _unwrap_contexts(block: Block) -> None:
    for node in block.nodes:
        for inner in node.blocks:
            _unwrap_contexts(inner)
        if node.kind == "prim::With":
            for result, value in zip(node.outputs, node.blocks[0].outputs, strict=True):
                result.replace_uses(value)
            for inner in node.blocks:
                inner.clear_outputs()
                for each in inner.nodes:
                    each.move_before(node)
            node.destroy()
