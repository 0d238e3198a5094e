"""Graphs, blocks, nodes and values as `torch._C` has them: `graph.nodes()`, `node.kind()`.

Handles hold what the compiler works on (`ir.graphs.graph`) and change it in place.  Two handles of
one thing are equal.  A handle keeps its whole graph alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar

from ..frontend.diagnostics.torch_text import highlight
from ..frontend.syntax.deep_stack import deeply
from ..interpreter.values.inference import infer_type
from ..interpreter.values.values import to_machine
from ..ir.aliases.alias_db import AliasDb as InnerAliasDb
from ..ir.functions.inline import call_path
from ..ir.graphs.clone import clone_graph, clone_node, insert_graph
from ..ir.graphs.constants import constant_value, create_constant
from ..ir.graphs.graph import Block as InnerBlock
from ..ir.graphs.graph import Graph as InnerGraph
from ..ir.graphs.graph import Node as InnerNode
from ..ir.graphs.graph import Value as InnerValue
from ..ir.graphs.kinds import is_random
from ..ir.graphs.tensor_types import type_of_array
from ..ir.graphs.verify import verify
from ..ir.text.parser import signature_of
from ..ir.text.printer import print_graph, print_node
from ..ops.table.table import TABLE
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.class_types import FunctionType
from ..typecheck.definitions.functions import PythonFunction
from ..typecheck.definitions.schema_text import parse_schema
from ..typecheck.definitions.signature_text import torch_signature
from ..typecheck.types.types import TENSOR, TupleType
from .alias_handle import AliasDb
from .node_attributes import AttributesByKind
from .values import Handle, Use, Value

__all__ = ["AliasDb", "Block", "Graph", "Node", "Use", "Value", "inner_graph"]


class _Searching:
    """Finding nodes by kind."""

    __slots__ = ()

    def _searched(self) -> Iterator[InnerNode]:
        raise NotImplementedError

    def _found(self, kind: str, recurse: bool) -> Iterator[Node]:
        if "::" not in kind:
            raise RuntimeError(
                f"all symbols must have a namespace, <namespace>::<string>, but found: {kind}"
            )
        for node in self._searched():
            inner = (n for b in node.blocks for n in b.all_nodes) if recurse else ()
            yield from (Node(n) for n in (node, *inner) if n.kind == kind)

    def findNode(self, kind: str, recurse: bool = True) -> Node | None:
        """The first node of a kind; in inner blocks too if `recurse`."""
        return next(self._found(kind, recurse), None)

    def findAllNodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """All nodes of a kind."""
        return list(self._found(kind, recurse))


class Node(Handle[InnerNode], _Searching, AttributesByKind, of=InnerNode):
    """A node of a graph."""

    __slots__ = ()

    def __repr__(self) -> str:
        return print_node(self._inner)

    def _searched(self) -> Iterator[InnerNode]:
        for block in self._inner.blocks:
            yield from block.nodes

    def kind(self) -> str:
        """`aten::add`."""
        return self._inner.kind

    def schema(self) -> str:
        """The operator's schema as text, or `(no schema)`."""
        signature = self._inner.signature
        return "(no schema)" if signature is None else torch_signature(signature)

    def matches(self, schema: str) -> bool:
        """Whether it is the operator that a schema describes."""
        wanted, own = parse_schema(schema), self._inner.signature
        if own is None or own.name != wanted.name:
            return False
        return [(a.name, a.type, a.keyword_only) for a in own.arguments] == [
            (a.name, a.type, a.keyword_only) for a in wanted.arguments
        ]

    def sourceRange(self) -> str:
        """The lines of source it was made from, with its place marked."""
        span = self._inner.span
        return "" if span.filename is None else highlight(span)

    def scopeName(self) -> str:
        """The modules in whose call a node was traced; empty for a scripted one."""
        return self._inner.scope

    def getModuleHierarchy(self) -> str:
        """The module in which an inlined node runs, seen from the root."""
        return call_path(self._inner.call_stack)

    def g(self, name: str) -> Graph:
        """The graph that is an attribute."""
        value = self._attribute(name)
        if not isinstance(value, InnerGraph):
            raise RuntimeError(f"required keyword attribute '{name}' has the wrong type")
        return Graph(value)

    def g_(self, name: str, graph: Graph) -> Node:
        """Set a graph as attribute; gives the node."""
        self._inner.attributes[name] = graph._inner
        return self

    # -- inputs and outputs

    def inputs(self) -> Iterator[Value]:
        """The inputs, in order."""
        return iter([Value(value) for value in self._inner.inputs])

    def outputs(self) -> Iterator[Value]:
        """The outputs, in order."""
        return iter([Value(value) for value in self._inner.outputs])

    def inputsAt(self, index: int) -> Value:
        """One input."""
        return Value(self._inner.inputs[index])

    def outputsAt(self, index: int) -> Value:
        """One output."""
        return Value(self._inner.outputs[index])

    def inputsSize(self) -> int:
        """How many inputs there are."""
        return len(self._inner.inputs)

    def outputsSize(self) -> int:
        """How many outputs there are."""
        return len(self._inner.outputs)

    def hasMultipleOutputs(self) -> bool:
        """Whether there is more than one output."""
        return len(self._inner.outputs) > 1

    def input(self) -> Value:
        """The only input.

        Raises:
            RuntimeError: there are none or several.
        """
        return self._only(self._inner.inputs, "input")

    def output(self) -> Value:
        """The only output.

        Raises:
            RuntimeError: there are none or several.
        """
        return self._only(self._inner.outputs, "output")

    def _only(self, values: Sequence[InnerValue], what: str) -> Value:
        if len(values) != 1:
            raise RuntimeError(
                f"Tried to access a single {what} on node '{self.kind()}' which has "
                f"{len(values)} outputs. You may consider using node.{what}s() instead."
            )
        return Value(values[0])

    def namedInput(self, name: str) -> Value:
        """The input that is an argument of the operator.

        Raises:
            RuntimeError: it has no argument of that name.
        """
        signature = self._inner.signature
        for index, argument in enumerate(signature.arguments if signature is not None else ()):
            if argument.name == name:
                return self.inputsAt(index)
        raise RuntimeError(f"Couldn't find an argument called {name}")

    def addInput(self, value: Value) -> Value:
        """Add an input at the end."""
        self._inner.add_input(value._inner)
        return value

    def replaceInput(self, index: int, value: Value) -> Value:
        """Exchange an input; gives the former one."""
        old = Value(self._inner.inputs[index])
        self._inner.set_input(index, value._inner)
        return old

    def replaceInputWith(self, old: Value, new: Value) -> None:
        """Exchange every input that is one value."""
        for index, value in enumerate(self._inner.inputs):
            if value is old._inner:
                self._inner.set_input(index, new._inner)

    def removeInput(self, index: int) -> None:
        """Take one input away."""
        self._inner.remove_input(index)

    def removeAllInputs(self) -> None:
        """Take all inputs away."""
        self._inner.clear_inputs()

    def addOutput(self) -> Value:
        """Add an output, a tensor."""
        return Value(self._inner.add_output(TENSOR))

    def eraseOutput(self, index: int) -> None:
        """Take an output away that nobody uses."""
        _without_uses(self._inner.outputs[index])
        self._inner.remove_output(index)

    def hasUses(self) -> bool:
        """Whether anybody uses an output."""
        return any(value.uses for value in self._inner.outputs)

    def replaceAllUsesWith(self, other: Node) -> None:
        """Let all that use its outputs use those of the other."""
        for mine, others in zip(self._inner.outputs, other._inner.outputs, strict=True):
            mine.replace_uses(others)

    # -- blocks and place

    def blocks(self) -> Iterator[Block]:
        """The blocks, in order."""
        return iter([Block(block) for block in self._inner.blocks])

    def addBlock(self) -> Block:
        """Add an empty block."""
        return Block(self._inner.add_block())

    def owningBlock(self) -> Block | None:
        """The block it is in."""
        return None if self._inner.owner is None else Block(self._inner.owner)

    def owningGraph(self) -> Graph:
        """The graph it belongs to."""
        return Graph(self._inner.graph)

    def next(self) -> Node:
        """The node after it; the block's end after the last."""
        return Node(self._inner.next)

    def prev(self) -> Node:
        """The node before it."""
        return Node(self._inner.previous)

    def isBefore(self, other: Node) -> bool:
        """Whether it comes before the other."""
        return self._inner is not other._inner and self._inner.is_before(other._inner)

    def isAfter(self, other: Node) -> bool:
        """Whether it comes after the other."""
        return other.isBefore(self)

    def insertBefore(self, other: Node) -> Node:
        """Put it, which is in no block yet, before the other."""
        self._inner.insert_before(other._inner)
        return self

    def insertAfter(self, other: Node) -> Node:
        """Put it, which is in no block yet, after the other."""
        self._inner.insert_after(other._inner)
        return self

    def moveBefore(self, other: Node) -> None:
        """Move it before the other."""
        self._inner.move_before(other._inner)

    def moveAfter(self, other: Node) -> None:
        """Move it after the other."""
        self._inner.move_after(other._inner)

    def copyMetadata(self, other: Node) -> None:
        """Take the place in the source, and the calls it came through, from another node."""
        self._inner.span = other._inner.span
        self._inner.call_stack = other._inner.call_stack

    def destroy(self) -> None:
        """Take it out of the graph for good.

        Raises:
            RuntimeError: an output is in use.
        """
        for value in self._inner.outputs:
            _without_uses(value)
        self._inner.destroy()

    # -- questions

    def mustBeNone(self) -> bool:
        """Whether it is the constant None."""
        return self._inner.is_constant and constant_value(self._inner.output) is None

    def isNondeterministic(self) -> bool:
        """Whether it draws random numbers."""
        return is_random(self._inner)

    def pyname(self) -> str:
        """The name of the Python function that the node calls."""
        return self._function.name

    def pyobj(self) -> object:
        """The Python function that the node calls."""
        return self._function.object or self._function.run

    def scalar_args(self) -> list[object]:
        """What the Python function is given beside the node's inputs."""
        return list(self._function.scalars)

    @property
    def _function(self) -> PythonFunction:
        function = self._attribute("function")
        if not isinstance(function, PythonFunction):
            raise RuntimeError(f"{self.kind()} calls no function of Python")
        return function


def _without_uses(value: InnerValue) -> None:
    if value.uses:
        raise RuntimeError(
            f"%{value.debug_name} is still used by {next(iter(value.uses)).user.kind}"
        )


class Block(Handle[InnerBlock], _Searching, of=InnerBlock):
    """A block: nodes in order, inputs and outputs."""

    __slots__ = ()

    def _searched(self) -> Iterator[InnerNode]:
        return self._inner.nodes

    def nodes(self) -> Iterator[Node]:
        """The nodes, in order; the one being looked at may be destroyed."""
        return map(Node, self._inner.nodes)

    def inputs(self) -> Iterator[Value]:
        """The inputs."""
        return iter([Value(value) for value in self._inner.inputs])

    def outputs(self) -> Iterator[Value]:
        """The outputs."""
        return iter([Value(value) for value in self._inner.outputs])

    def paramNode(self) -> Node:
        """The node whose outputs are the inputs."""
        return Node(self._inner.param)

    def returnNode(self) -> Node:
        """The node whose inputs are the outputs."""
        return Node(self._inner.ret)

    def owningNode(self) -> Node | None:
        """The node that the block belongs to; None for a graph's own block."""
        return None if self._inner.node is None else Node(self._inner.node)

    def addInputToBlock(self) -> Value:
        """Add an input, a tensor."""
        return Value(self._inner.add_input())

    def registerOutput(self, value: Value) -> int:
        """Add an output; gives its place."""
        self._inner.add_output(value._inner)
        return len(self._inner.outputs) - 1

    def addNode(self, kind: str, inputs: Sequence[Value]) -> Node:
        """Put a new node with one output at the end."""
        node = self._inner.graph.create(kind, [value._inner for value in inputs])
        return Node(_with_signature(self._inner.append(node)))


class Graph(Handle[InnerGraph], _Searching, of=InnerGraph):
    """A function's body."""

    __slots__ = ()
    global_print_source_ranges: ClassVar[bool] = True

    def __init__(self, inner: InnerGraph | None = None) -> None:
        super().__init__(InnerGraph() if inner is None else inner)

    def __repr__(self) -> str:
        return print_graph(self._inner, comments=Graph.global_print_source_ranges)

    def _repr_html_(self) -> str:
        """What notebooks show: a small graph as a picture, a large one as text."""
        notebook = import_module("..pictures.notebook", __package__)
        text: str = notebook.graph_html(self._inner, repr(self))
        return text

    def _searched(self) -> Iterator[InnerNode]:
        return self._inner.nodes

    @staticmethod
    def set_global_print_source_ranges(enabled: bool) -> None:
        """Whether texts of graphs say where nodes came from."""
        Graph.global_print_source_ranges = enabled

    def copy(self) -> Graph:
        """A copy."""
        return Graph(clone_graph(self._inner))

    def lint(self) -> None:
        """Check that it is well formed.

        Raises:
            InvalidGraph: it is not.
        """
        verify(self._inner)

    def pretty_print(self) -> str:
        """The graph as source code."""
        return self._inner.pretty_print()

    def alias_db(self, isFrozen: bool = False, descend_function_calls: bool = False) -> AliasDb:
        """Which values may share memory, and what is changed."""
        inner = self._inner
        return AliasDb(deeply(lambda: InnerAliasDb(inner, descend=descend_function_calls)))

    def dump_alias_db(self) -> None:
        """Print what is known of sharing and changes."""
        self.alias_db().dump()

    # -- inputs and outputs

    def inputs(self) -> Iterator[Value]:
        """The inputs."""
        return self.block().inputs()

    def outputs(self) -> Iterator[Value]:
        """The outputs."""
        return self.block().outputs()

    def addInput(self, name: str = "") -> Value:
        """Add an input, a tensor."""
        return Value(self._inner.add_input(TENSOR, name or None))

    def eraseInput(self, index: int) -> None:
        """Take an input away that nobody uses."""
        _without_uses(self._inner.inputs[index])
        self._inner.block.remove_input(index)

    def registerOutput(self, value: Value) -> int:
        """Add an output; gives its place."""
        return self.block().registerOutput(value)

    def eraseOutput(self, index: int) -> None:
        """Take an output away."""
        self._inner.block.remove_output(index)

    def permuteInputs(self, order: Sequence[int]) -> None:
        """Give the inputs another order: the new one's `i`th is the former `order[i]`th."""
        outputs = self._inner.block.param.outputs
        outputs[:] = [outputs[i] for i in order]

    def makeMultiOutputIntoTuple(self) -> None:
        """Let several outputs become one tuple."""
        values = list(self._inner.outputs)
        if len(values) == 1:
            return
        types = TupleType(tuple(value.type for value in values))
        node = self._inner.create("prim::TupleConstruct", values, (types,))
        self._inner.block.append(node)
        self._inner.block.clear_outputs()
        self._inner.block.add_output(node.output)

    # -- nodes

    def block(self) -> Block:
        """Its block."""
        return Block(self._inner.block)

    def nodes(self) -> Iterator[Node]:
        """The nodes, in order; the one being looked at may be destroyed."""
        return map(Node, self._inner.nodes)

    def param_node(self) -> Node:
        """The node whose outputs are the inputs."""
        return Node(self._inner.block.param)

    def return_node(self) -> Node:
        """The node whose inputs are the outputs."""
        return Node(self._inner.block.ret)

    def create(self, kind: str, *rest: Any) -> Node:
        """A new node, in no block yet: `create(kind, [inputs], [number of outputs])`."""
        count = next((item for item in rest if isinstance(item, int)), 1)
        inputs = next((item for item in rest if not isinstance(item, int)), ())
        if None in inputs:
            raise ValueError("cannot pass None in inputs")
        node = self._inner.create(kind, [value._inner for value in inputs], (TENSOR,) * count)
        return Node(_with_signature(node))

    def createClone(self, node: Node, map_value: Callable[[Value], Value]) -> Node:
        """A copy of a node, in no block yet; its inputs are what the function gives for those."""
        return Node(
            clone_node(node._inner, self._inner, lambda value: map_value(Value(value))._inner)
        )

    def insertNode(self, node: Node) -> Node:
        """Put a node at the place where insertions go: the end, unless another was chosen."""
        return Node(self._inner.insert(node._inner))

    def appendNode(self, node: Node) -> Node:
        """Put a node at the end."""
        return Node(self._inner.block.append(node._inner))

    def prependNode(self, node: Node) -> Node:
        """Put a node at the beginning."""
        return Node(node._inner.insert_before(self._inner.block.first))

    def insertConstant(self, value: object) -> Value:
        """Put a constant at the place where insertions go."""
        if isinstance(value, Tensor):
            type = type_of_array(value._array, bool(value.requires_grad))
            node = create_constant(self._inner, value._array, type)
        else:
            inferred = infer_type(value)
            node = create_constant(self._inner, to_machine(value, inferred), inferred)
        return Value(self._inner.insert(node).output)

    def insert(self, kind: str, inputs: Sequence[object]) -> Value:
        """Put an operator there; inputs that are no values become constants."""
        values = [v if isinstance(v, Value) else self.insertConstant(v) for v in inputs]
        node = self._inner.create(kind, [value._inner for value in values])
        signature = _with_signature(node).signature
        if signature is not None and signature.returns:
            node.output.type = signature.returns[0].type
        return Value(self._inner.insert(node).output)

    def insertGraph(self, other: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Put a copy of another graph's nodes there; gives its outputs."""
        values = [value._inner for value in inputs]
        return [Value(v) for v in insert_graph(self._inner, other._inner, values)]

    def insertPoint(self) -> Node:
        """The node before which insertions go."""
        return Node(self._inner.insertion)

    def setInsertPoint(self, place: Node | Block) -> None:
        """Let insertions go before a node, or at the end of a block."""
        inner = place._inner
        self._inner.insertion = inner.ret if isinstance(inner, InnerBlock) else inner

    @contextmanager
    def insert_point_guard(self, place: Node | Block) -> Iterator[None]:
        """The same, for the length of a `with` block."""
        before = self._inner.insertion
        self.setInsertPoint(place)
        try:
            yield
        finally:
            self._inner.insertion = before

    def str(self, print_source_ranges: bool = True) -> str:
        """The text."""
        return print_graph(self._inner, comments=print_source_ranges)


def _with_signature(node: InnerNode) -> InnerNode:
    """The node, as the operator that its kind and inputs make it."""
    function = any(isinstance(value.type, FunctionType) for value in node.inputs)
    if node.signature is None and not node.kind.startswith("prim::") and not function:
        node.signature = signature_of(node, TABLE)
    return node


def inner_graph(graph: Graph | InnerGraph) -> InnerGraph:
    """What a handle stands for."""
    return graph._inner if isinstance(graph, Graph) else graph
