"""The graph: SSA values, nodes in ordered blocks, structured control flow.

A `Graph` has one top `Block`; a `prim::If` node has two blocks, a `prim::Loop` one.  A block has
inputs (parameters), nodes in order, and outputs (returns).  Values of outer blocks are visible in
inner ones.  Uses are kept by the structure itself: only this file touches them.

Kinds are strings (`aten::add`, `prim::If`); the set is open, `kinds` lists the known `prim::` ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Final, NamedTuple

from ...frontend.foundations.port import Port
from ...frontend.foundations.value_class import value_class
from ...frontend.limits.clock import ARMED, checkpoint
from ...frontend.sources.source import UNKNOWN, Span
from ...typecheck.definitions.functions import Bounding
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import TENSOR, Type

__all__ = ["PRINTER", "SOURCE_PRINTER", "Block", "CallSite", "Graph", "Node", "Use", "Value"]


@value_class(frozen=True, slots=True)
class CallSite:
    """A call that was inlined: the calling function's name and the place of the call in it.

    `module` is the path of the callee's module below the root ("encoder.proj"), if it is a method.
    `callee` is the name of what is called.
    """

    function: str
    span: Span
    module: str = ""
    callee: str = ""
    is_method: bool = False


class Use(NamedTuple):
    """`user.inputs[number]` is the value."""

    user: Node
    number: int


_used: Final[Callable[[tuple[Node, int]], Use]] = partial(tuple.__new__, Use)
"""A use, made without a function of Python's: nothing is made as often."""


class Value:
    """A result of a node or a parameter of a block.

    `id` numbers the values of a graph in order of creation; `name` is a debug name, unique in the
    graph, or None.  `uses` are the keys of a dict, in order.  Equality is identity.
    """

    __slots__ = ("_name", "id", "node", "type", "uses")

    def __init__(self, node: Node, id: int, type: Type) -> None:
        self.node = node
        self.id = id
        self.type = type
        self.uses: dict[Use, None] = {}
        self._name: str | None = None

    @property
    def name(self) -> str | None:
        return self._name

    @name.setter
    def name(self, wanted: str | None) -> None:
        self.node.graph._rename(self, wanted)

    @property
    def debug_name(self) -> str:
        """The name, or the number of a value without one."""
        return self._name if self._name is not None else str(self.id)

    @property
    def base_name(self) -> str | None:
        """The name without its numeric suffix (`x` for `x.3`)."""
        return None if self._name is None else split_suffix(self._name)[0]

    def replace_uses(self, other: Value) -> None:
        """Let every user of this value use `other` instead."""
        for use in self.uses:
            use.user._inputs[use.number] = other
        used, self.uses = self.uses, {}
        other.uses |= used

    def replace_uses_after(self, node: Node, other: Value) -> None:
        """The same, for users that come after `node` only."""
        for use in list(self.uses):
            if node.is_before(use.user):
                use.user.set_input(use.number, other)

    def copy_name(self, other: Value) -> None:
        """Take the name of `other`, made unique, if it has one."""
        if other.name is not None:
            self.name = other.name

    def renumber(self) -> None:
        """Take the number that a value made now would have; the name stays."""
        self.id = self.node.graph._next_id()

    def settle(self) -> None:
        """Take a number and the name, made unique, in the graph that the node came to."""
        self.renumber()
        name, self._name = self._name, None
        self.name = name

    def __repr__(self) -> str:
        return f"%{self.debug_name} : {self.type}"


class Node:
    """An operation: a kind, inputs, outputs, attributes, blocks.

    `signature` is the operator's for `aten::` kinds and other operators, None for control flow and
    construction.  `call_stack` lists the inlined calls the node came through, outermost first.
    `scope` names the modules in whose call a tracer recorded it.
    `attributes` values are ints, floats, strings, tensors, types, Functions or lists of these.
    """

    __slots__ = (
        "_inputs",
        "attributes",
        "blocks",
        "call_stack",
        "graph",
        "kind",
        "next",
        "outputs",
        "owner",
        "position",
        "previous",
        "scope",
        "signature",
        "span",
    )

    def __init__(
        self,
        graph: Graph,
        kind: str,
        span: Span = UNKNOWN,
        signature: Signature | None = None,
        call_stack: tuple[CallSite, ...] = (),
    ) -> None:
        self.graph = graph
        self.kind = kind
        self.span = span
        self.signature = signature
        self.call_stack = call_stack
        self.scope = ""
        self.attributes: dict[str, object] = {}
        self._inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.blocks: list[Block] = []
        self.owner: Block | None = None
        self.next: Node = self
        self.previous: Node = self
        self.position = 0

    # -- inputs and outputs

    @property
    def inputs(self) -> Sequence[Value]:
        """The inputs; change them by `add_input`, `set_input` and `remove_input`."""
        return self._inputs

    @property
    def input(self) -> Value:
        """The only input."""
        (value,) = self._inputs
        return value

    @property
    def output(self) -> Value:
        """The only output."""
        (value,) = self.outputs
        return value

    def add_input(self, value: Value) -> None:
        value.uses[_used((self, len(self._inputs)))] = None
        self._inputs.append(value)

    def insert_input(self, index: int, value: Value) -> None:
        rest = self._inputs[index:]
        for _ in rest:
            self.remove_input(len(self._inputs) - 1)
        for v in (value, *rest):
            self.add_input(v)

    def set_input(self, index: int, value: Value) -> None:
        old = self._inputs[index]
        del old.uses[_used((self, index))]
        self._inputs[index] = value
        value.uses[_used((self, index))] = None

    def remove_input(self, index: int) -> None:
        for i in range(index, len(self._inputs)):
            del self._inputs[i].uses[_used((self, i))]
        del self._inputs[index]
        for i in range(index, len(self._inputs)):
            self._inputs[i].uses[_used((self, i))] = None

    def clear_inputs(self) -> None:
        while self._inputs:
            self.remove_input(len(self._inputs) - 1)

    def add_output(self, type: Type = TENSOR, name: str | None = None) -> Value:
        value = Value(self, self.graph._next_id(), type)
        self.outputs.append(value)
        if name is not None:
            value.name = name
        return value

    def insert_output(self, index: int, type: Type = TENSOR) -> Value:
        value = self.add_output(type)
        self.outputs.insert(index, self.outputs.pop())
        return value

    def remove_output(self, index: int) -> None:
        """Remove an output without uses."""
        value = self.outputs[index]
        if value.uses:
            raise ValueError(f"%{value.debug_name} still has uses")
        value.name = None
        del self.outputs[index]

    # -- blocks

    def add_block(self) -> Block:
        block = Block(self.graph, self)
        self.blocks.append(block)
        return block

    # -- place

    def insert_before(self, other: Node) -> Node:
        """Put this node, which is in no block, right before `other`."""
        return self.insert_after(other.previous)

    def insert_after(self, other: Node) -> Node:
        if self.owner is not None:
            raise ValueError(f"{self.kind} is in a block already")
        self.owner = other.owner
        self.previous, self.next = other, other.next
        other.next.previous = self
        other.next = self
        self._number()
        return self

    def move_before(self, other: Node) -> None:
        self.leave()
        self.insert_before(other)

    def move_after(self, other: Node) -> None:
        self.leave()
        self.insert_after(other)

    def leave(self) -> None:
        """Be in no block any more."""
        self.previous.next, self.next.previous = self.next, self.previous
        self.owner = None

    def _number(self) -> None:
        """Give the node a position between its neighbours, renumbering if none is left."""
        before, after = self.previous, self.next
        low = before.position
        if after.kind == "prim::Return":
            self.position = low + 1024
            after.position = self.position + 1024
        elif before.kind == "prim::Param":
            self.position = after.position - 1024
            before.position = self.position - 1024
        elif after.position - low > 1:
            self.position = (low + after.position) // 2
        elif self.owner is not None:
            self.owner._renumber()

    def is_before(self, other: Node) -> bool:
        """Whether this node stands before `other`; a node comes before those in its own blocks."""
        mine, theirs = self._path(), other._path()
        for (block_a, a), (block_b, b) in zip(mine, theirs, strict=False):
            if block_a is not block_b and block_a is not None and block_b is not None:
                blocks = [] if block_a.node is None else block_a.node.blocks
                return blocks.index(block_a) < blocks.index(block_b)
            if a is not b:
                return a.position < b.position
        return len(mine) < len(theirs)

    def _path(self) -> list[tuple[Block | None, Node]]:
        path: list[tuple[Block | None, Node]] = []
        node: Node | None = self
        while node is not None:
            path.append((node.owner, node))
            node = node.owner.node if node.owner is not None else None
        return path[::-1]

    def destroy(self) -> None:
        """Take the node out of its block for good; its outputs must have no uses."""
        for block in reversed(self.blocks):
            block._destroy()
        self.blocks = []
        while self.outputs:
            self.remove_output(len(self.outputs) - 1)
        self.clear_inputs()
        if self.owner is not None:
            self.leave()

    # -- kinds at a glance

    @property
    def is_constant(self) -> bool:
        return self.kind == "prim::Constant"

    @property
    def value(self) -> object:
        """The value of a `prim::Constant` (None for a constant of type NoneType)."""
        return self.attributes.get("value")

    def __repr__(self) -> str:
        outputs = ", ".join(map(repr, self.outputs))
        inputs = ", ".join(f"%{v.debug_name}" for v in self._inputs)
        return f"{outputs} = {self.kind}({inputs})" if outputs else f"{self.kind}({inputs})"


class Block:
    """Nodes in order, between a `param` node (whose outputs are the block's inputs) and a `ret`
    node (whose inputs are its outputs); those two are sentinels and are not iterated over."""

    __slots__ = ("graph", "node", "param", "ret")

    def __init__(self, graph: Graph, node: Node | None) -> None:
        self.graph = graph
        self.node = node
        self.param = Node(graph, "prim::Param")
        self.ret = Node(graph, "prim::Return")
        self.param.owner = self.ret.owner = self
        self.param.next = self.param.previous = self.ret
        self.ret.next = self.ret.previous = self.param
        self.ret.position = 1024

    @property
    def inputs(self) -> list[Value]:
        return self.param.outputs

    @property
    def outputs(self) -> Sequence[Value]:
        return self.ret.inputs

    def add_input(self, type: Type = TENSOR, name: str | None = None) -> Value:
        return self.param.add_output(type, name)

    def add_output(self, value: Value) -> None:
        self.ret.add_input(value)

    @property
    def first(self) -> Node:
        """The first node, or `ret` if there is none."""
        return self.param.next

    def append(self, node: Node) -> Node:
        """Put a node at the end."""
        return node.insert_before(self.ret)

    @property
    def nodes(self) -> Iterator[Node]:
        """The nodes, in order.  The one being visited may be removed, and nodes may be inserted
        after the next one, while iterating."""
        node = self.param.next
        while node is not self.ret:
            if ARMED:
                checkpoint()
            following = node.next
            yield node
            node = following

    @property
    def nodes_reversed(self) -> Iterator[Node]:
        node = self.ret.previous
        while node is not self.param:
            following = node.previous
            yield node
            node = following

    @property
    def all_nodes(self) -> Iterator[Node]:
        """The nodes of this block and of the blocks in them, outer before inner."""
        waiting: list[tuple[Node, Node]] = []  # where to go on, and where that block ends
        node, end = self.param.next, self.ret
        while True:
            if node is end:
                if not waiting:
                    return
                node, end = waiting.pop()
                continue
            if ARMED:
                checkpoint()
            following = node.next
            yield node
            if node.blocks:
                waiting.append((following, end))
                waiting.extend((b.param.next, b.ret) for b in reversed(node.blocks[1:]))
                node, end = node.blocks[0].param.next, node.blocks[0].ret
            else:
                node = following

    def _renumber(self) -> None:
        node, position = self.param, 0
        while True:
            node.position = position
            position += 1024
            node = node.next
            if node is self.param:
                return

    def _destroy(self) -> None:
        self.ret.clear_inputs()
        for node in self.nodes_reversed:
            node.destroy()
        while self.param.outputs:
            self.param.remove_output(len(self.param.outputs) - 1)

    def clear_outputs(self) -> None:
        self.ret.clear_inputs()

    def remove_output(self, index: int) -> None:
        self.ret.remove_input(index)

    def remove_input(self, index: int) -> None:
        self.param.remove_output(index)


PRINTER: Final[Port[Callable[[Graph], str]]] = Port()
"""What makes the text of a graph: see `printer`."""

SOURCE_PRINTER: Final[Port[Callable[[Graph], str]]] = Port()
"""What makes source code of a graph: `serialization`, a floor above."""


class Graph:
    """A function's body.

    `guard` bounds what it may use up, if it comes from code that is not trusted.  The guard belongs
    to the nodes: a graph that copies of them are put into has it too.
    `insertion` is the node before which `insert` puts new nodes (at first the end of the block).
    """

    def __init__(self) -> None:
        self._last_id = -1
        self._names: dict[str, Value] = {}
        self._suffixes: dict[str, int] = {}
        self.guard: Bounding | None = None
        self.block = Block(self, None)
        self.insertion: Node = self.block.ret

    def entered(self) -> AbstractContextManager[None]:
        """What is computed for the graph inside is bounded by its guard."""
        return nullcontext() if self.guard is None else self.guard.entered()

    @property
    def levels(self) -> int:
        """How deep blocks lie in each other."""
        deepest, waiting = 0, [(self.block, 1)]
        while waiting:
            block, level = waiting.pop()
            deepest = max(deepest, level)
            for node in block.nodes:
                waiting.extend((each, level + 1) for each in node.blocks)
        return deepest

    @property
    def inputs(self) -> list[Value]:
        return self.block.inputs

    @property
    def outputs(self) -> Sequence[Value]:
        return self.block.outputs

    @property
    def nodes(self) -> Iterator[Node]:
        return self.block.nodes

    @property
    def all_nodes(self) -> Iterator[Node]:
        return self.block.all_nodes

    @property
    def with_tasks(self) -> Iterator[Graph]:
        """This graph and those of the tasks that are forked in it."""
        yield self
        for node in self.all_nodes:
            task = node.attributes.get("Subgraph")
            if isinstance(task, Graph) and node.kind != "prim::PythonOp":
                yield from task.with_tasks

    def add_input(self, type: Type = TENSOR, name: str | None = None) -> Value:
        return self.block.add_input(type, name)

    def create(
        self,
        kind: str,
        inputs: Sequence[Value] = (),
        outputs: Sequence[Type] = (TENSOR,),
        span: Span = UNKNOWN,
        signature: Signature | None = None,
    ) -> Node:
        """A new node, in no block yet."""
        node = Node(self, kind, span, signature)
        for value in inputs:
            node.add_input(value)
        for type in outputs:
            node.add_output(type)
        return node

    def insert(self, node: Node) -> Node:
        """Put a node at the insertion point."""
        return node.insert_before(self.insertion)

    @contextmanager
    def inserting_before(self, node: Node) -> Iterator[None]:
        """Let `insert` put nodes before `node` for a while."""
        outer, self.insertion = self.insertion, node
        try:
            yield
        finally:
            self.insertion = outer

    @property
    def all_blocks(self) -> list[Block]:
        """Its block, and all that lie in nodes."""
        return [self.block, *(block for node in self.all_nodes for block in node.blocks)]

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def skip_numbers(self, count: int) -> None:
        """Leave out numbers, of values that torch makes and drops again."""
        self._last_id += count

    def number_as_task(self) -> None:
        """Number a task's values as torch does: what it is given at its first use, and last."""
        self._last_id = 0
        met: set[Value] = set(self.inputs)
        for node in self.nodes:
            first = met.intersection(node.inputs)
            met -= first
            self.skip_numbers(len(first))
            for value in node.outputs:
                value.settle()
        for value in self.inputs:
            value.settle()

    def _rename(self, value: Value, wanted: str | None) -> None:
        """Give `value` the name; its former owner takes the next free suffix, as in torch."""
        if value._name is not None:
            del self._names[value._name]
            value._name = None
        if wanted is None:
            return
        owner = self._names.get(wanted)
        if owner is not None:
            base, number = split_suffix(wanted)
            number = 1 if number is None else number
            if base in self._suffixes:
                number = max(number, self._suffixes[base] + 1)
            while f"{base}.{number}" in self._names:
                number += 1
            self._suffixes[base] = number + 1
            replacement = f"{base}.{number}"
            owner._name = replacement
            self._names[replacement] = owner
        value._name = wanted
        self._names[wanted] = value

    def __str__(self) -> str:
        return self._text(PRINTER)

    def pretty_print(self) -> str:
        """The graph as source code: `def graph(x: Tensor) -> Tensor: ...`."""
        return self._text(SOURCE_PRINTER)

    def _text(self, printer: Port[Callable[[Graph], str]]) -> str:
        return repr(self) if printer.installed is None else printer.installed(self)


def split_suffix(name: str) -> tuple[str, int | None]:
    """`x.3` -> (`x`, 3); `x` -> (`x`, None)."""
    base, dot, digits = name.rpartition(".")
    if dot and digits.isdigit() and base:
        return base, int(digits)
    return name, None
