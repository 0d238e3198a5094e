"""Graphs -> the code of the lite interpreter.

Every value gets a register; a node loads its inputs, does its work on the stack, and stores what it
gave.  Registers are not used twice: mobile code is small, and its reader keeps them in one vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ...ir.graphs.graph import Block, Graph, Node, Value
from ...ir.graphs.kinds import TASKS
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import Type
from .arguments import argument_counts, pushed

__all__ = ["CannotCompile", "MobileWriter", "NEWEST_WRITTEN", "OLDEST_WRITTEN"]

OLDEST_WRITTEN, NEWEST_WRITTEN = 4, 8
"""The versions of bytecode that are written.

5: operators push all arguments.  6: how many they push is written, and defaults at the end are left
out.  7: also those before the arguments that are written to.  8: some operators are instructions.
"""


_NO_CLASSES: Final = (
    "__torch__ types other than custom c++ classes (__torch__.torch.classes)are not supported in "
    "lite interpreter. Workaround: instead of using arbitrary class type (class Foo()), define a "
    "pytorch class (class Foo(torch.nn.Module)). The problematic type is: {}"
)


class CannotCompile(Exception):
    """The lite interpreter cannot do what a graph does; the text says what.

    `torch` is torch's own sentence, where it has one.
    """

    def __init__(self, what: str, torch: str = "") -> None:
        super().__init__(what)
        self.torch = torch


_OF_CLASSES = (
    "Returning a list or dictionary with pytorch class type is not supported in mobile module "
    "(List[{0}] or Dict[int, {0}] for class {0}(torch.nn.Module)). Workaround: instead of using "
    "pytorch class as their element type, use a combination of list, dictionary, and single types."
)


def _check_result(type: Type) -> None:
    """Refuse lists and dicts of objects as results, as torch does."""
    element = type.dict_of[1] if type.dict_of is not None else type.list_of
    if isinstance(element, ClassType):
        what = f"a method returns a list or dict of objects of `{element.name}`"
        raise CannotCompile(what, _OF_CLASSES.format(element.name))


Instruction = tuple[str, int, int]

_VARARG = ("prim::Print", "aten::percentFormat")
_PLAIN = {
    "aten::__is__": "__IS__",
    "aten::__isnot__": "__ISNOT__",
    "aten::__not__": "__NOT__",
}


class MobileWriter:
    """The code of one graph in which calls are inlined, in some version of the bytecode."""

    def __init__(
        self, graph: Graph, type_text: Callable[[Type], str], version: int = NEWEST_WRITTEN
    ) -> None:
        self._version = version
        self._counts = argument_counts(graph, version)
        self.instructions: list[Instruction] = []
        self.nodes: list[Node | None] = []  # which each instruction is made of
        self._at: Node | None = graph.block.param
        self.operators: list[tuple[str, str, int]] = []
        self.constants: list[tuple[object, Type | None]] = []
        self.types: list[str] = []
        self.called: set[str] = set()
        self._type_text = type_text
        self._registers: dict[Value, int] = {}
        inputs = list(graph.inputs)
        for value in inputs:
            self._register(value)
        self.emit("STOREN", 1, len(inputs))
        self._block(graph.block)
        self._at = None
        self._result(graph.block.ret.inputs)

    @property
    def register_size(self) -> int:
        """How many registers the code uses."""
        return max(1, len(self._registers))

    # -- parts

    def emit(self, name: str, x: int = 0, n: int = 0) -> int:
        """Add an instruction; its place."""
        self.instructions.append((name, x, n))
        self.nodes.append(self._at)
        return len(self.instructions) - 1

    def _patch(self, place: int) -> None:
        """Let a jump lead to here."""
        name, _, n = self.instructions[place]
        self.instructions[place] = (name, len(self.instructions) - place, n)

    def _register(self, value: Value) -> int:
        return self._registers.setdefault(value, len(self._registers) + 1)

    def _constant(self, value: object, type: Type | None = None) -> None:
        if value is None or value.__class__ in (bool, int, str):
            for place, (known, _) in enumerate(self.constants):
                if known.__class__ is value.__class__ and known == value:
                    self.emit("LOADC", place)
                    return
        self.constants.append((value, type))
        self.emit("LOADC", len(self.constants) - 1)

    def _type(self, type: Type) -> int:
        text = self._type_text(type)
        if text not in self.types:
            self.types.append(text)
        return self.types.index(text)

    def _load(self, values: Sequence[Value]) -> None:
        for value in values:
            if value.node.is_constant:
                self._constant(value.node.value, value.type)
            elif value.node.kind == "prim::Uninitialized" and value not in self._registers:
                self._promoted("UN_INITIALIZED", "prim::Uninitialized", 0)
            else:
                self.emit("LOAD", self._register(value))

    def _store(self, values: Sequence[Value]) -> None:
        for value in reversed(values):
            self.emit("STORE", self._register(value))

    def _result(self, values: Sequence[Value]) -> None:
        for value in values:
            _check_result(value.type)
        self._load(values)
        if not values:
            self._constant(None)
        elif len(values) > 1:
            self.emit("TUPLE_CONSTRUCT", len(values))
        self.emit("RET")

    # -- nodes

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            if not node.is_constant and node.kind != "prim::Uninitialized":
                self._node(node)

    def _node(self, node: Node) -> None:
        outside, self._at = self._at, node
        self._made(node)
        self._at = outside

    def _made(self, node: Node) -> None:
        maker = _MAKERS.get(node.kind)
        if maker is not None:
            maker(self, node)
            return
        if node.kind in _PLAIN:
            self._load(node.inputs)
            self._promoted(_PLAIN[node.kind], node.kind, len(node.inputs))
            self._store(node.outputs)
            return
        self._operator(node)

    def _promoted(self, instruction: str, name: str, count: int) -> None:
        """An operator that has been an instruction since version 8."""
        if self._version >= 8:
            self.emit(instruction)
        else:
            self._call(name, "", count)

    def _call(self, name: str, overload: str, count: int, loaded: int = -1) -> None:
        """Call an operator; of one that takes any number, `loaded` arguments."""
        operator = (name, overload, count)
        if operator not in self.operators:
            self.operators.append(operator)
        place = self.operators.index(operator)
        if loaded >= 0:
            self.emit("OPN", place, loaded)
        else:
            self.emit("OP", place)

    def _operator(self, node: Node) -> None:
        signature = node.signature
        if signature is None:
            if node.kind in TASKS:
                name = node.kind.partition("::")[2].upper()
                raise CannotCompile(f"{name} is not supported in mobile module.")
            if node.kind == "prim::CreateObject":
                raise CannotCompile(_NO_CLASSES.format(node.output.type.python))
            raise CannotCompile(f"the lite interpreter has no `{node.kind}`")
        name, overload = signature.name, signature.overload
        if name == "aten::format" and self._version >= 8:
            self._load(node.inputs)
            self.emit("FORMAT", len(node.inputs))
        elif name in _VARARG or name == "aten::format":
            self._load(node.inputs)
            self._call(name, overload, -1, len(node.inputs))
        else:
            self._with_defaults(node, signature)
        self._store(node.outputs)

    def _with_defaults(self, node: Node, signature: Signature) -> None:
        count = self._counts.get(signature.full_name, len(node.inputs))
        self._load(pushed(signature, node.inputs, count))
        self._call(signature.name, signature.overload, count)

    def _if(self, node: Node) -> None:
        then, otherwise = node.blocks
        self._load(node.inputs)
        test = self.emit("JF")
        self._branch(then, node)
        over = self.emit("JMP")
        self._patch(test)
        self._branch(otherwise, node)
        self._patch(over)

    def _branch(self, block: Block, node: Node) -> None:
        self._block(block)
        self._load(block.ret.inputs)
        self._store(node.outputs)

    def _loop(self, node: Node) -> None:
        count, condition, *carried = node.inputs
        self._constant(0)
        self._load([count, condition, *carried])
        head = self.emit("LOOP", 0, len(carried) + 2)
        (body,) = node.blocks
        self._store(body.param.outputs)
        self._block(body)
        self._load(body.ret.inputs)
        back = self.emit("JMP")
        self.instructions[back] = ("JMP", head - back, 0)
        self._patch(head)
        self._store(node.outputs)

    def _get(self, node: Node) -> None:
        owner, name = node.inputs[0].type, str(node.attributes["name"])
        assert isinstance(owner, ClassType)
        self._load(node.inputs)
        self.emit("GET_ATTR", owner.slot(name))
        self._store(node.outputs)

    def _set(self, node: Node) -> None:
        owner, name = node.inputs[0].type, str(node.attributes["name"])
        assert isinstance(owner, ClassType)
        self._load(node.inputs)
        self.emit("SET_ATTR", owner.slot(name))

    def _list(self, node: Node) -> None:
        self._load(node.inputs)
        self.emit("LIST_CONSTRUCT", self._type(node.output.type), len(node.inputs))
        self._store(node.outputs)

    def _dict(self, node: Node) -> None:
        self._load(node.inputs)
        self.emit("DICT_CONSTRUCT", self._type(node.output.type), len(node.inputs))
        self._store(node.outputs)

    def _tuple(self, node: Node) -> None:
        self._load(node.inputs)
        type = node.output.type
        if type.tuple_name is not None:
            self.emit("NAMED_TUPLE_CONSTRUCT", self._type(type), len(node.inputs))
        else:
            self.emit("TUPLE_CONSTRUCT", len(node.inputs))
        self._store(node.outputs)

    def _unpack_tuple(self, node: Node) -> None:
        for position, value in enumerate(node.outputs):
            self._load(node.inputs)
            self._constant(position)
            self._promoted("TUPLE_INDEX", "prim::TupleIndex", 2)
            self._store([value])

    def _unpack_list(self, node: Node) -> None:
        self._load(node.inputs)
        self.emit("LIST_UNPACK", len(node.outputs))
        self._store(node.outputs)

    def _index(self, node: Node) -> None:
        self._load(node.inputs)
        self._promoted("TUPLE_INDEX", "prim::TupleIndex", 2)
        self._store(node.outputs)

    def _slice(self, node: Node) -> None:
        start, end = node.attributes["beg"], node.attributes["end"]
        assert isinstance(start, int)
        assert isinstance(end, int)
        self._load(node.inputs)
        self.emit("TUPLE_SLICE", start, end - start)
        self._store(node.outputs)

    def _cast(self, node: Node) -> None:
        self._load(node.inputs)
        self._store(node.outputs)

    def _is_instance(self, node: Node) -> None:
        wanted = node.attributes["types"]
        assert isinstance(wanted, list | tuple)
        texts = [self._type_text(type) for type in wanted]
        start = len(self.types)
        self.types.extend(texts)
        self._load(node.inputs)
        self.emit("ISINSTANCE", start, len(texts))
        self._store(node.outputs)

    def _raise(self, node: Node) -> None:
        self._load(node.inputs)
        self._promoted("RAISE_EXCEPTION", "prim::RaiseException", 2)

    def _warn(self, node: Node) -> None:
        self._load(node.inputs)
        self.emit("WARN")

    def _method(self, node: Node) -> None:
        name = str(node.attributes["name"])
        self.called.add(name)
        self._load(node.inputs)
        place = len(self.constants)
        self.constants.append((name, None))
        self.emit("INTERFACE_CALL", place, len(node.inputs))
        self._store(node.outputs)

    def _to_list(self, node: Node) -> None:
        self._load(node.inputs)
        self._promoted("TO_LIST", "prim::tolist", 3)
        self._store(node.outputs)


_MAKERS: dict[str, Callable[[MobileWriter, Node], None]] = {
    "prim::If": MobileWriter._if,
    "prim::Loop": MobileWriter._loop,
    "prim::GetAttr": MobileWriter._get,
    "prim::SetAttr": MobileWriter._set,
    "prim::ListConstruct": MobileWriter._list,
    "prim::DictConstruct": MobileWriter._dict,
    "prim::TupleConstruct": MobileWriter._tuple,
    "prim::NamedTupleConstruct": MobileWriter._tuple,
    "prim::TupleUnpack": MobileWriter._unpack_tuple,
    "prim::ListUnpack": MobileWriter._unpack_list,
    "prim::TupleIndex": MobileWriter._index,
    "prim::TupleSlice": MobileWriter._slice,
    "prim::unchecked_cast": MobileWriter._cast,
    "prim::isinstance": MobileWriter._is_instance,
    "prim::RaiseException": MobileWriter._raise,
    "prim::CallMethod": MobileWriter._method,
    "prim::tolist": MobileWriter._to_list,
    "aten::warn": MobileWriter._warn,
}
