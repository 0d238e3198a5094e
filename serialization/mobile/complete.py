"""What a decoded graph needs besides types: casts, names of attributes, copies of lists.

%2 : Tensor = aten::add(%1, %1, %one)     ->    %3 : Tensor = prim::unchecked_cast(%1)
                   (%1 : Tensor?)               %2 : Tensor = aten::add(%3, %3, %one)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ...ir.graphs.constants import constant_value
from ...ir.graphs.graph import Graph, Node, Use, Value
from ...ops.table.table import TABLE
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Signature
from ...typecheck.relations.relations import is_subtype
from ...typecheck.types.types import ANY, BOOL, INT, UNKNOWN, ListType, TupleType, Type
from ..loading.builtin_methods import is_packed_method
from .inference import bound_types, class_of, graph_in, method_of, with_any

__all__ = ["Incomplete", "complete"]


class Incomplete(Exception):
    """What is wrong with a node of a decoded graph."""

    def __init__(self, why: str, node: Node) -> None:
        super().__init__(why)
        self.node = node


def complete(
    function: Function, results: Mapping[Function, Type], counts: Mapping[str, set[int]]
) -> None:
    """Make a valid graph of a decoded one whose types were found.

    `results` are the types that functions give back, `counts` the numbers of arguments of all
    methods of a name.

    Raises:
        Incomplete: a node reads an attribute or calls a method that does not exist.
    """
    _Completion(graph_in(function), results, counts).run(results[function])


class _Completion:
    def __init__(
        self,
        graph: Graph,
        results: Mapping[Function, Type],
        counts: Mapping[str, set[int]],
    ) -> None:
        self.graph = graph
        self.results = results
        self.counts = counts

    def run(self, result: Type) -> None:
        for node in self.graph.all_nodes:
            for output in node.outputs:
                self.settle(output)
        for node in self.graph.all_nodes:
            if node.signature is not None:
                self.operator(node, node.signature)
            elif node.kind in _ACTIONS:
                _ACTIONS[node.kind](self, node)
        self.cast(self.graph.block.ret, 0, result)

    @staticmethod
    def settle(value: Value) -> None:
        """A value that nothing tells the type of is never looked at, or is anything."""
        if value.type is UNKNOWN:
            value.type = next((t for t in map(_result_type, value.uses) if t is not UNKNOWN), ANY)

    def cast(self, node: Node, number: int, wanted: Type) -> None:
        """Tell the type that a node takes an input for, if less is known."""
        value = node.inputs[number]
        if value.type is wanted or is_subtype(value.type, wanted):
            return
        made = self.graph.create("prim::unchecked_cast", (value,), (wanted,), node.span)
        node.set_input(number, made.insert_before(node).output)

    # -- nodes

    def operator(self, node: Node, signature: Signature) -> None:
        if signature.full_name == "aten::__getitem__.Dict_str":
            signature = node.signature = _for_key(signature, node.inputs[0].type)
        bound = bound_types(signature, node.inputs)
        for number, argument in enumerate(signature.arguments[: len(node.inputs)]):
            self.cast(node, number, with_any(argument.type, bound))

    def constant(self, node: Node) -> None:
        """Lists and dicts that somebody could keep or change are copied where they are used."""
        if not node.output.type.is_collection:
            return
        signature = _copy_of(node.output.type)
        for use in list(node.output.uses):
            if _only_reads(use):
                continue
            type = node.output.type
            made = self.graph.create(signature.name, (node.output,), (type,), use.user.span)
            made.signature = signature
            use.user.set_input(use.number, made.insert_before(use.user).output)

    def branch(self, node: Node) -> None:
        self.cast(node, 0, BOOL)

    def loop(self, node: Node) -> None:
        self.cast(node, 0, INT)
        self.cast(node, 1, BOOL)
        self.cast(node.blocks[0].ret, 0, BOOL)

    def attribute(self, node: Node) -> None:
        cls, slot = class_of(node.inputs[0].type), node.attributes["name"]
        if cls is None:
            raise Incomplete("it is not known of which class the object is", node)
        names = list(cls.attributes)
        if not isinstance(slot, int) or slot >= len(names):
            raise Incomplete(f"a `{cls.qualified_name}` has no attribute {slot}", node)
        self.cast(node, 0, cls)
        node.attributes["name"] = names[slot]

    def set(self, node: Node) -> None:
        self.attribute(node)
        cls = class_of(node.inputs[0].type)
        assert cls is not None
        self.cast(node, 1, cls.attributes[str(node.attributes["name"])].type)

    def call(self, node: Node) -> None:
        name, function = str(node.attributes["name"]), method_of(node)
        if node.inputs[0].type.is_class and function not in self.results:
            raise Incomplete(f"there is no method `{name}` to call", node)
        counts = self.counts.get(name, {0}) if function is None else {_count(function)}
        if name not in self.counts and function is None and is_packed_method(name):
            counts = {1}
        if counts != {len(node.inputs)}:
            raise Incomplete(f"`{name}` does not take {len(node.inputs)} arguments", node)
        if function is not None:
            for number, value in enumerate(graph_in(function).inputs):
                self.cast(node, number, value.type)
            node.output.type = self.results[function]

    def list(self, node: Node) -> None:
        type = node.output.type
        for number in range(len(node.inputs)):
            self.cast(node, number, type.list_of or ANY)

    def dict(self, node: Node) -> None:
        type = node.output.type
        parts = type.dict_of or (ANY, ANY)
        for number in range(len(node.inputs)):
            self.cast(node, number, parts[number % 2])

    def tuple(self, node: Node) -> None:
        type = node.output.type
        if type.tuple_of is not None and len(type.tuple_of) == len(node.inputs):
            for number, element in enumerate(type.tuple_of):
                self.cast(node, number, element)

    def unpack(self, node: Node) -> None:
        """The elements of a tuple, whose number its type must say."""
        known = node.input.type.tuple_of
        if known is None:
            self.cast(node, 0, TupleType(tuple(output.type for output in node.outputs)))
        elif len(known) != len(node.outputs):
            raise Incomplete(f"a tuple of {len(known)} values is taken apart wrongly", node)

    def unpack_list(self, node: Node) -> None:
        if node.input.type.list_of is None:
            self.cast(node, 0, ListType(node.outputs[0].type if node.outputs else ANY))

    def index(self, node: Node) -> None:
        known, place = node.inputs[0].type.tuple_of, constant_value(node.inputs[1])
        if known is None:
            node.signature = _signature("prim::TupleIndex")
            self.operator(node, node.signature)
        elif isinstance(place, int) and not -len(known) <= place < len(known):
            raise Incomplete(f"a tuple of {len(known)} values has none at {place}", node)


def _signature(full_name: str) -> Signature:
    entry = TABLE.operator(full_name)
    assert entry is not None, full_name
    return entry.signature


def _for_key(signature: Signature, type: Type) -> Signature:
    """The overload of reading a dict for the type of its keys."""
    key = ANY if type.dict_of is None else type.dict_of[0]
    entry = TABLE.operator(f"aten::__getitem__.Dict_{key}")
    return signature if entry is None else entry.signature


def _copy_of(type: Type) -> Signature:
    """The operator that copies a list or dict."""
    if type.dict_of is None:
        return _signature("aten::copy.t")
    entry = TABLE.operator(f"aten::copy.Dict_{type.dict_of[0]}")
    return _signature("aten::copy.Dict_str") if entry is None else entry.signature


def _only_reads(use: Use) -> bool:
    """Whether an operator neither keeps nor changes an argument."""
    signature = use.user.signature
    if signature is None or use.number >= len(signature.arguments):
        return False
    argument = signature.arguments[use.number]
    return argument.alias is None and not argument.type.is_variable


def _result_type(use: Use) -> Type:
    """The type of what a block's result becomes."""
    block = use.user.owner
    if block is None or use.user is not block.ret or block.node is None:
        return UNKNOWN
    outputs: Sequence[Value] = block.node.outputs
    number = use.number - (block.node.kind == "prim::Loop")
    return outputs[number].type if 0 <= number < len(outputs) else UNKNOWN


def _count(function: Function) -> int:
    return len(graph_in(function).inputs)


_ACTIONS: Final[Mapping[str, Callable[[_Completion, Node], None]]] = {
    "prim::Constant": _Completion.constant,
    "prim::If": _Completion.branch,
    "prim::Loop": _Completion.loop,
    "prim::GetAttr": _Completion.attribute,
    "prim::SetAttr": _Completion.set,
    "prim::CallMethod": _Completion.call,
    "prim::ListConstruct": _Completion.list,
    "prim::DictConstruct": _Completion.dict,
    "prim::TupleConstruct": _Completion.tuple,
    "prim::TupleUnpack": _Completion.unpack,
    "prim::ListUnpack": _Completion.unpack_list,
    "prim::TupleIndex": _Completion.index,
}
