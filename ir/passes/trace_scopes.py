"""The blocks of a traced graph made into methods of the modules that were called.

%w = prim::TracedAttr[scope="__module.fc.weight"]()
prim::TracedModuleForward[scope="__module.fc"]()
  block0():
    %y = aten::linear(%x, %w)
->
%fc : Linear = prim::GetAttr[name="fc"](%self)
%y : Tensor = prim::CallMethod[name="forward"](%fc, %x)

Bodies of forks, and of functions in Python, become graphs whose inputs are what they use from
outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.tensor_facts import without_facts
from ...typecheck.types.types import NONE, TupleType
from ..graphs.clone import clone_block
from ..graphs.graph import Block, Graph, Node, Value

__all__ = ["fix_scopes"]

AddMethod = Callable[[ClassType, Graph], str]
"""Makes a method of a graph; gives its name."""

_CALL = "prim::TracedModuleForward"


def fix_scopes(graph: Graph, add_method: AddMethod | None = None) -> list[Graph]:
    """Turn blocks of calls into methods, attributes into `prim::GetAttr`; the graph of a function
    has neither, and no `add_method`.

    Gives the graphs of the methods that were added.
    """
    if add_method is not None:
        _Attributes(graph).run()
    _Dominance().run(graph.block)
    _return_tuples(graph.block)
    made: list[Graph] = []
    if add_method is not None:
        graphs: dict[Node, Graph] = {}
        _lift(graph.block, graphs)
        _make_calls(graph, graphs, add_method, made)
    for each in (graph, *made):
        _lift_bodies(each.block)
    return made


def _is_body(node: Node) -> bool:
    """Whether it is a fork, or a call of Python, whose body is a block still."""
    return node.kind in ("prim::fork", "prim::PythonOp") and bool(node.blocks)


def _calls(block: Block) -> Iterator[Node]:
    """The calls in a block and in the bodies in it."""
    for node in list(block.nodes):
        if node.kind == _CALL:
            yield node
        elif _is_body(node):
            yield from _calls(node.blocks[0])


def _ancestor(one: Block | None, other: Block | None) -> Block | None:
    """The innermost block around both."""
    around: set[Block | None] = set()
    while one is not None:
        around.add(one)
        one = one.node.owner if one.node is not None else None
    while other not in around and other is not None:
        other = other.node.owner if other.node is not None else None
    return other


@dataclass
class _Place:
    """A block of a module's: which of the attributes it uses are known in it, and as what."""

    block: Block
    prefix: str
    self_value: Value
    known: dict[Value, Value] = field(default_factory=dict)
    missing: list[Value] = field(default_factory=list)


class _Attributes:
    """References to attributes of modules made local: read from `self`, or given as an input."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.by_name: dict[str, Value] = {}

    def run(self) -> None:
        for node in self.graph.nodes:
            if node.kind == "prim::TracedAttr":
                self.by_name[str(node.attributes["scope"])] = node.output
        self._add_self(self.graph.block)
        self._block(self.graph.block, "__module", self.graph.inputs[0])
        for node in list(self.graph.nodes):
            if node.kind == "prim::TracedAttr" and not node.output.uses:
                node.destroy()

    def _add_self(self, block: Block) -> None:
        for node in _calls(block):
            value = self.by_name[str(node.attributes["scope"])]
            node.add_input(value)
            inner = node.blocks[0].add_input(value.type)
            inner.name = "self"
            self._add_self(node.blocks[0])

    def _block(self, block: Block, prefix: str, self_value: Value) -> list[Value]:
        """Make a block's references local; gives what is not below its module."""
        place = _Place(block, prefix, self_value)
        self._nodes(block, place)
        return place.missing

    def _nodes(self, block: Block, place: _Place) -> None:
        for node in block.nodes:
            if node.kind == _CALL:
                inner = node.blocks[0]
                path = str(node.attributes["scope"])
                for value in self._block(inner, path, inner.inputs[0]):
                    node.add_input(value)
            elif node.kind == "prim::fork" and _is_body(node):  # others came here by inlining
                for value in self._block(node.blocks[0], place.prefix, place.self_value):
                    node.add_input(value)
            self._inputs(node, place)
            if node.kind == "prim::PythonOp" and _is_body(node):  # which gets values, no modules
                self._nodes(node.blocks[0], place)
        self._inputs(block.ret, place)

    def _inputs(self, node: Node, place: _Place) -> None:
        for number, value in enumerate(node.inputs):
            if value not in place.known and value.node.kind == "prim::TracedAttr":
                place.known[value] = self._local(value, place)
            if value in place.known:
                node.set_input(number, place.known[value])

    def _local(self, value: Value, place: _Place) -> Value:
        path = str(value.node.attributes["scope"])
        if path == place.prefix or path.startswith(place.prefix + "."):
            names = path[len(place.prefix) + 1 :].split(".") if path != place.prefix else []
            return self._read(place.block.first, place.self_value, names)
        place.missing.append(value)
        return place.block.add_input(value.type)

    def _read(self, before: Node, value: Value, names: list[str]) -> Value:
        for name in names:
            type = value.type.slot_type(name)
            assert type is not None
            node = self.graph.create("prim::GetAttr", [value], [type])
            node.attributes["name"] = name
            node.insert_before(before)
            value = node.output
            value.name = name if name.isidentifier() else f"_{name}"
        return value


class _Dominance:
    """Values that are used outside the block that makes them become its outputs."""

    def __init__(self) -> None:
        self.moved: dict[Value, Value] = {}

    def run(self, block: Block) -> None:
        for node in block.nodes:
            self._node(node, block)
        self._node(block.ret, block)

    def _node(self, node: Node, block: Block) -> None:
        for place in range(len(node.inputs)):
            value = node.inputs[place]
            if value in self.moved:
                value = self._furthest(value)
                node.set_input(place, value)
            if value.node.owner is not block:
                self._bring(node, place, value)
        if node.kind == _CALL or _is_body(node):
            self.run(node.blocks[0])

    def _furthest(self, value: Value) -> Value:
        """What a value has become by now, which may have been brought outwards several times."""
        while self.moved.get(value, value) is not value:
            value = self.moved[value]
        return value

    def _bring(self, node: Node, place: int, value: Value) -> None:
        common = _ancestor(node.owner, value.node.owner)
        at, moved = value.node.owner, value
        while at is not common:
            assert at is not None
            assert at.node is not None
            at.add_output(moved)
            moved = at.node.add_output(moved.type)
            at = at.node.owner
        self.moved[value] = moved
        node.set_input(place, moved)


def _return_tuples(block: Block) -> None:
    for node in _calls(block):
        inner = node.blocks[0]
        _return_tuples(inner)
        graph = block.graph
        if len(inner.outputs) > 1:
            type = TupleType(tuple(v.type for v in inner.outputs))
            made = graph.create("prim::TupleConstruct", list(inner.outputs), [type])
            inner.append(made)
            inner.clear_outputs()
            inner.add_output(made.output)
            whole = node.add_output(type)
            parts = graph.create("prim::TupleUnpack", [whole], list(type.elements))
            parts.insert_after(node)
            for place in reversed(range(len(parts.outputs))):
                node.outputs[place].replace_uses(parts.outputs[place])
                node.remove_output(place)
        elif not inner.outputs:
            none = inner.append(graph.create("prim::Constant", (), [NONE]))
            inner.add_output(none.output)
            node.add_output(NONE)


@dataclass
class _Lifted:
    graph: Graph
    node: Node
    known: dict[Value, Value] = field(default_factory=dict)

    def find(self, value: Value) -> Value:
        if value not in self.known:
            self.add(value)
            self.node.add_input(value)
        return self.known[value]

    def add(self, value: Value) -> None:
        """A new input of the graph that stands for the value."""
        self.known[value] = copy = self.graph.add_input(value.type)
        copy.copy_name(value)


def _lift(block: Block, graphs: dict[Node, Graph]) -> None:
    """Make graphs of the blocks of calls; what they use from outside becomes inputs."""
    for node in _calls(block):
        inner = node.blocks[0]
        _lift(inner, graphs)
        calls = list(_calls(inner))
        graph = graphs[node] = _lifted(node)
        for old, new in zip(calls, _calls(graph.block), strict=True):
            graphs[new] = graphs.pop(old)


def _lifted(node: Node) -> Graph:
    """The block of a node as a graph; what it uses from outside become inputs of both."""
    graph = Graph()
    inner = node.blocks[0]
    lifted = _Lifted(graph, node)
    find = lifted.find
    if _is_body(node):
        for value in node.inputs[: len(node.inputs) - len(inner.inputs)]:
            lifted.add(value)
        for value in _from_outside(inner, set()):
            find(value)
    clone_block(inner, graph.block, find)
    inner._destroy()
    node.blocks.clear()
    return graph


def _from_outside(block: Block, made: set[Value]) -> Iterator[Value]:
    """The values that a block uses and does not make itself."""
    made.update(block.inputs)
    for node in (*block.nodes, block.ret):
        yield from (value for value in node.inputs if value not in made)
        for inner in node.blocks:
            yield from _from_outside(inner, made)
        made.update(node.outputs)


def _lift_bodies(block: Block) -> None:
    for node in list(block.nodes):
        if not _is_body(node):
            continue
        if node.kind == "prim::PythonOp":
            _lift_bodies(node.blocks[0])
            node.attributes["Subgraph"] = _lifted(node)
            continue
        task = block.graph.create("prim::fork", (), [node.output.type], node.span)
        task.insert_before(node)
        _lift_bodies(node.blocks[0])
        task.attributes["Subgraph"] = _lifted(node)
        for value in node.inputs:
            task.add_input(value)
        node.output.replace_uses(task.output)
        node.destroy()


def _make_calls(
    graph: Graph, graphs: dict[Node, Graph], add_method: AddMethod, made: list[Graph]
) -> None:
    for node in _calls(graph.block):
        inner = graphs[node]
        _make_calls(inner, graphs, add_method, made)
        cls = node.inputs[0].type
        assert isinstance(cls, ClassType)
        name = add_method(cls, inner)
        made.append(inner)
        old = node.output
        call = graph.create(
            "prim::CallMethod", list(node.inputs), [without_facts(old.type)], node.span
        )
        call.attributes["name"] = name
        call.insert_before(node)
        old.replace_uses(call.output)
        node.destroy()
