"""What lowering writes with: nodes, constants, variables, arguments.

While a graph is being lowered, variables are nodes: `prim::Store[name]` writes one and
`prim::Load[name]` reads one.  `ssa` turns them into values.  A frame knows which variables its
block has written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...frontend.sources.source import UNKNOWN, Span
from ...typecheck.definitions.schema import OperatorTable, Signature
from ...typecheck.trees.typed import Binding, Default, FromTuple, Gathered, Given, Rebuilt, Repeated
from ...typecheck.types.types import INT, NONE, ListType, Type
from ..graphs.constants import create_constant
from ..graphs.graph import Block, Graph, Node, Value

__all__ = ["Emitter", "Evaluate", "find_signature", "is_meaningful"]

Evaluate = Callable[[Signature, Sequence[object]], object]
"""Compute an operator over run-time values, in schema order; several results make a tuple.

Whatever it raises means that the operator cannot be computed now.
"""


def find_signature(table: OperatorTable, name: str, overload: str = "") -> Signature:
    """The signature `name.overload` of the table.

    Raises:
        LookupError: the table does not have it.
    """
    for signature in table.overloads(name):
        if signature.overload == overload:
            return signature
    full_name = f"{name}.{overload}" if overload else name
    raise LookupError(f"lowering needs the operator {full_name}, which is not in the table")


def is_meaningful(name: str) -> bool:
    """Whether a variable's name is worth giving to a value: not `_`, `_1` or `$x`."""
    if not name or name[0] == "$":
        return False
    return name[0] != "_" or (not name[1:].isdigit() and len(name) > 1)


@dataclass
class Frame:
    """The variables that a block has written so far, the type of the last value of each."""

    block: Block
    written: dict[str, Type] = field(default_factory=dict)


class Emitter:
    """A graph under construction; `evaluate` computes what is a constant of the program.

    One that `keeps_lines` says where statements begin.
    """

    def __init__(
        self, table: OperatorTable, evaluate: Evaluate, *, keeps_lines: bool = False
    ) -> None:
        self.table = table
        self.evaluate = evaluate
        self.keeps_lines = keeps_lines
        self.graph = Graph()
        self.frames: list[Frame] = []
        self.temporaries: dict[int, Value] = {}
        self.leaving: set[Block] = set()
        self._modules: dict[str, Value] = {}
        self._numbers: dict[tuple[type, object], Value] = {}

    # -- blocks

    @contextmanager
    def in_block(self, block: Block) -> Iterator[Frame]:
        """Emit at the end of `block`, with a frame of its own."""
        frame = Frame(block)
        self.frames.append(frame)
        outside = dict(self._modules)
        try:
            with self.graph.inserting_before(block.ret):
                yield frame
        finally:
            self.frames.pop()
            self._modules = {n: v for n, v in outside.items() if n not in frame.written}

    def is_defined(self, name: str) -> bool:
        """Whether the variable has been written on every way to here."""
        return any(name in frame.written for frame in self.frames)

    def type_of_variable(self, name: str) -> Type:
        """The type of the value that the variable was last given."""
        return next(f.written[name] for f in reversed(self.frames) if name in f.written)

    # -- nodes

    def emit(
        self,
        kind: str,
        inputs: Sequence[Value] = (),
        outputs: Sequence[Type] = (),
        span: Span = UNKNOWN,
    ) -> Node:
        """Put a node at the insertion point."""
        return self.graph.insert(self.graph.create(kind, inputs, outputs, span))

    def operator(
        self,
        signature: Signature,
        inputs: Sequence[Value],
        type: Type,
        span: Span = UNKNOWN,
    ) -> Value:
        """What an operator gives; several results are packed in a tuple of type `type`, as none
        are."""
        node = self.operator_node(signature, inputs, type, span)
        several = len(signature.returns) > 1 and not signature.varret
        if len(node.outputs) == 1 and not several:
            return node.output
        return self.make_tuple(node.outputs, type)

    def operator_node(
        self, signature: Signature, inputs: Sequence[Value], type: Type, span: Span
    ) -> Node:
        """The node of an operator whose results are of type `type` together."""
        results = signature.returns
        if len(results) > 1 and not signature.varret and type.tuple_of is not None:
            outputs: tuple[Type, ...] = type.tuple_of
        else:
            outputs = (type,) if results or signature.varret else ()
        return self.graph.insert(
            self.graph.create(signature.name, inputs, outputs, span, signature)
        )

    def builtin(
        self,
        name: str,
        overload: str,
        inputs: Sequence[Value],
        type: Type,
        span: Span = UNKNOWN,
    ) -> Value:
        """A node of an operator that the language itself needs (`aten::len` of a loop)."""
        return self.operator(find_signature(self.table, name, overload), inputs, type, span)

    def make_tuple(self, elements: Sequence[Value], type: Type) -> Value:
        return self.emit("prim::TupleConstruct", elements, (type,)).output

    def make_list(self, elements: Sequence[Value], element: Type) -> Value:
        return self.emit("prim::ListConstruct", elements, (ListType(element),)).output

    def attribute(self, object: Value, name: str, type: Type) -> Value:
        """Read a slot; the value is named after it."""
        node = self.emit("prim::GetAttr", (object,), (type,))
        node.attributes["name"] = name
        node.output.name = f"_{name}" if name.isdigit() else name
        return node.output

    def branch(self, test: Value, span: Span) -> Node:
        """A `prim::If` with empty blocks."""
        node = self.emit("prim::If", (test,), (), span)
        node.add_block()
        node.add_block()
        return node

    def uninitialized(self, type: Type, span: Span = UNKNOWN) -> Value:
        return self.emit("prim::Uninitialized", (), (type,), span).output

    def drop(self, count: int) -> None:
        """Make values that torch makes here and nothing uses: they take numbers, also where the
        block is copied."""
        if count and not self.keeps_lines:
            self.emit("prim::Dropped", (), (NONE,) * count)

    # -- constants

    def constant(self, value: object, type: Type, span: Span = UNKNOWN) -> Value:
        """A constant at the insertion point."""
        return self.graph.insert(create_constant(self.graph, value, type, span)).output

    def number(self, value: complex, type: Type, span: Span) -> Value:
        """A number written in the program: emitted once, at the very start of the graph."""
        key = (value.__class__, value)
        known = self._numbers.get(key)
        if known is None or (isinstance(value, float) and math.isnan(value)):
            with self.graph.inserting_before(self.graph.block.first):
                known = self.constant(value, type, span)
            self._numbers[key] = known
        return known

    # -- variables

    def store(self, name: str, value: Value, type: Type | None = None) -> None:
        """Assign to a variable; a value without a name, of this block, is named after it.

        `type` is the variable's, if that is wider than the value's.
        """
        frame = self.frames[-1]
        if value.name is None and is_meaningful(name) and self._is_of(value, frame.block):
            value.name = name
        outer = next((f.written[name] for f in self.frames[-2::-1] if name in f.written), None)
        if outer is not None:
            # torch looks at what it overwrites; nothing uses this, but it moves the names on
            self.load(name, outer)
            if value.node.kind == "prim::EmptyListLiteral" and outer.list_of is not None:
                value = self.make_list((), outer.list_of)
        node = self.emit("prim::Store", (value,))
        node.attributes["name"] = name
        frame.written[name] = type or value.type
        self._modules.pop(name, None)
        if value.type.is_live:
            self._modules[name] = value

    @staticmethod
    def _is_of(value: Value, block: Block) -> bool:
        return value.node.owner is block

    def load(self, name: str, type: Type) -> Value:
        """Read a variable; for as long as the read is there, it has the variable's name.

        Where a name stands for a module, torch reads nothing.
        """
        if name in self._modules:
            return self._modules[name]
        node = self.emit("prim::Load", (), (type,))
        node.attributes["name"] = name
        if is_meaningful(name) and not type.is_live:
            node.output.name = name
        return node.output

    # -- arguments

    def arguments(
        self, inputs: Sequence[Value], bindings: Sequence[Binding], span: Span
    ) -> list[Value]:
        """The arguments of a call, from its evaluated inputs, in order."""
        return [self._argument(inputs, binding, span) for binding in bindings]

    def _argument(self, inputs: Sequence[Value], binding: Binding, span: Span) -> Value:
        match binding:
            case Given():
                return self._given(inputs, binding, span)
            case Default(value, type):
                return self.constant(value, type)
            case Gathered(elements, element_type):
                values = [self._given(inputs, e, span) for e in elements]
                return self.make_list(values, element_type)
            case Repeated(element, count, element_type):
                return self.make_list([self._argument(inputs, element, span)] * count, element_type)
            case FromTuple(index, _, element_type):
                return self.make_list(self.unpack(inputs[index]), element_type)
            case Rebuilt(index, parts, type):
                unpacked = self.unpack(inputs[index])
                return self.make_tuple([self._argument(unpacked, p, span) for p in parts], type)

    def _given(self, inputs: Sequence[Value], given: Given, span: Span) -> Value:
        value = inputs[given.index]
        for conversion in given.conversions:
            value = self.operator(conversion, (value,), conversion.returns[0].type, span)
        return value

    def unpack(self, value: Value) -> Sequence[Value]:
        """The elements of a tuple."""
        if value.node.kind == "prim::TupleConstruct":
            return list(value.node.inputs)
        if value.type.tuple_of is None:
            raise TypeError(f"{value.type} is not a tuple type")
        return self.emit("prim::TupleUnpack", (value,), value.type.tuple_of).outputs

    def index(self, value: Value, index: int, type: Type) -> Value:
        """An element of a tuple, its number known to lowering alone."""
        return self.emit("prim::TupleIndex", (value, self.constant(index, INT)), (type,)).output
