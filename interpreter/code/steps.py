"""What a node that is neither a constant nor control flow becomes: one or a few instructions."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial
from typing import Protocol

from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...ir.graphs.graph import Graph, Node
from ...ir.graphs.kinds import TASKS
from ...ops.eager.namespace import einsum
from ...ops.table.record import Told
from ...ops.table.table import Operator, Table
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import ClassType, FunctionType
from ...typecheck.definitions.functions import Function, PythonFunction
from ...typecheck.types.types import INT, NONE, STRING, TENSOR, Type
from ..bounds.guard import active_guard
from ..values.tasks import Task
from .instructions import Instruction, opcode
from .shared_views import shared

__all__ = ["ENTER", "EXIT", "MEMBER", "UnsupportedKind", "make_step"]

ENTER, EXIT, MEMBER = "with __enter__", "with __exit__", "the member"
"""What stands for a method's name where more is to be done than to call it; see `run.invoke`."""

Operands = tuple[int, ...]


class UnsupportedKind(NotImplementedError):
    """A node of a kind that the machine cannot run; the text names the kind and its place."""

    def __init__(self, node: Node, why: str = "") -> None:
        self.node = node
        place = f" ({node.span})" if node.span is not NOWHERE else ""
        super().__init__(f"cannot run `{node.kind}`{place}{': ' + why if why else ''}")


class Tables(Protocol):
    """The tables of the code that is being assembled."""

    table: Table
    sharing: Container[Node]
    """Nodes whose results have to share memory (`ir/aliases/shown_views.py`)."""

    def constant(self, value: object, type: Type) -> int: ...
    def operator(self, entry: Operator) -> int: ...
    def type(self, entry: Type) -> int: ...
    def name_number(self, entry: str) -> int: ...
    def warning(self, node: Node) -> Operands: ...


Maker = Callable[[Tables, Node, Operands, Operands], Instruction]

_OF_NONE = frozenset({"is", "is_not"})
"""Instructions that do what their operators do if an operand is None."""


def make_step(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> list[Instruction]:
    """The instructions of a node; `outputs` is empty if the result of an operator is not used.

    Raises:
        UnsupportedKind: there are none for it.
    """
    maker = _MAKERS.get(node.kind)
    if maker is not None:
        return [maker(tables, node, outputs, inputs)]
    if node.kind == "prim::unchecked_cast":
        same = outputs == inputs
        return [] if same else [(opcode("move"), outputs[0], inputs[0])]
    return [_call_operator(tables, node, outputs, inputs)]


def _call_operator(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    if node.signature is None:
        raise UnsupportedKind(node)
    full_name = node.signature.full_name
    entry = tables.table.operator(full_name)
    if entry is None:
        raise UnsupportedKind(node, f"there is no operator `{full_name}` here")
    if (
        full_name == "aten::einsum.sublist" and outputs
    ):  # of any number of tensors: recorded as Python's call
        function = PythonFunction("einsum", partial(_bounded, entry, einsum), node.signature)
        return (opcode("function"), outputs[0], tables.type(FunctionType(function)), inputs)  # type: ignore[arg-type]
    simple = entry.instruction
    if simple in _OF_NONE and all(value.type != NONE for value in node.inputs):
        simple = ""
    if simple and bool(outputs) == (simple != "append"):
        return (opcode(simple), *outputs, *inputs)
    if entry.told:
        inputs += _TOLD[entry.told](tables, node)
    number = tables.operator(shared(entry) if node in tables.sharing else entry)
    if len(outputs) != 1:
        return (opcode("call_many"), outputs, number, inputs)
    if 1 <= len(inputs) <= 3:
        return (opcode(f"call{len(inputs)}"), outputs[0], number, *inputs)
    return (opcode("call"), outputs[0], number, inputs)


def _bounded(entry: Operator, run: Callable[..., object], *values: object) -> object:
    """An operator that is called in Python: what it is to do is looked at as that of all others."""
    guard = active_guard()
    if guard is None:
        return run(*values)
    arrays = [value._array if isinstance(value, Tensor) else value for value in values]
    return guard.forward(entry, lambda *_: run(*values))(*arrays)


def _element_type(tables: Tables, node: Node) -> Operands:
    """The type of the elements of the lists, which empty lists do not tell."""
    type = node.inputs[0].type
    while type.list_of is not None:
        type = type.list_of
    return (tables.constant(type.annotation_str, STRING),)


def _place(tables: Tables, node: Node) -> Operands:
    """The file and the line that a warning names, what has warned in the call, and its number."""
    span = node.span.original or node.span
    place = tables.constant(span.filename or "<string>", STRING), tables.constant(span.line, INT)
    return *place, *tables.warning(node)


_TOLD: dict[Told, Callable[[Tables, Node], Operands]] = {"elements": _element_type, "place": _place}


def _construct(name: str) -> Maker:
    def make(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
        return (opcode(name), outputs[0], inputs)

    return make


def _tuple(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    type = node.output.type
    if type.tuple_name is not None:
        return (opcode("named"), outputs[0], tables.type(type), inputs)
    return (opcode("tuple"), outputs[0], inputs)


def _dict(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    type = node.output.type
    of_tensors = type.dict_of is not None and type.dict_of[0] == TENSOR
    return (opcode("tensor_dict" if of_tensors else "dict"), outputs[0], inputs)


def _pass_on(name: str) -> Maker:
    """An instruction whose operands are the outputs and inputs in their order."""

    def make(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
        return (opcode(name), *outputs, *inputs)

    return make


def _unpack(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    return (opcode("unpack"), outputs, inputs[0])


def _unpack_list(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    return (opcode("unpack_list"), outputs, inputs[0], len(outputs))


def _index(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    position, elements = node.inputs[1].node, node.inputs[0].type.tuple_of
    known = position.is_constant and isinstance(position.value, int)
    if not known or elements is None:
        entry = tables.table.operator("prim::TupleIndex")
        assert entry is not None
        return (opcode("call2"), outputs[0], tables.operator(entry), *inputs)
    assert isinstance(position.value, int)
    return (opcode("item"), outputs[0], inputs[0], position.value % len(elements))


def _slice(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    start, end = node.attributes["beg"], node.attributes["end"]
    return (opcode("slice"), outputs[0], inputs[0], start, end)


def _slot(node: Node) -> tuple[int, bool]:
    """The slot that a `prim::GetAttr` or `prim::SetAttr` means, and whether it holds a tensor."""
    owner, name = node.inputs[0].type, node.attributes["name"]
    if not isinstance(owner, ClassType) or name not in owner.attributes:
        raise UnsupportedKind(node, f"`{owner.python}` has no attribute `{name}`")
    return owner.slot(str(name)), owner.attributes[str(name)].type == TENSOR


def _get(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    slot, is_tensor = _slot(node)
    return (opcode("get_tensor" if is_tensor else "get_slot"), outputs[0], inputs[0], slot)


def _set(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    slot, is_tensor = _slot(node)
    return (opcode("set_tensor" if is_tensor else "set_slot"), inputs[0], slot, inputs[1])


def _create(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    return (opcode("create"), outputs[0], tables.type(node.output.type))


def _method(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    name = tables.name_number(str(node.attributes["name"]))
    return (opcode("method"), outputs[0], name, inputs)


def _function(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    called = node.inputs[0].type
    if not isinstance(called, FunctionType) or not isinstance(called.function, Function):
        raise UnsupportedKind(node, "only a constant function can be called")
    return (opcode("function"), outputs[0], tables.type(called), inputs[1:])


def _python(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    called = node.attributes["function"]
    if not isinstance(called, PythonFunction):
        raise UnsupportedKind(node, "only a function of Python can be called")
    type = FunctionType(called)  # type: ignore[arg-type]
    return (opcode("function"), outputs[0], tables.type(type), inputs)


def _task(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    graph = node.attributes["Subgraph"]
    assert isinstance(graph, Graph)
    task = Task(graph, awaited=node.kind == "prim::awaitable")
    type = FunctionType(task)  # type: ignore[arg-type]
    return (opcode("function"), outputs[0], tables.type(type), inputs)


def _context(name: str) -> Maker:
    def make(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
        return (opcode("method"), outputs[0], tables.name_number(name), inputs)

    return make


def _member(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    return (opcode("method"), outputs[0], tables.name_number(MEMBER), inputs)


def _is_instance(tables: Tables, node: Node, outputs: Operands, inputs: Operands) -> Instruction:
    from_types = node.attributes["types"]
    assert isinstance(from_types, list | tuple)
    wanted = tuple(from_types)
    return (opcode("is_instance"), outputs[0], inputs[0], tuple(tables.type(t) for t in wanted))


_MAKERS: dict[str, Maker] = {
    "prim::ListConstruct": _construct("list"),
    "prim::TupleConstruct": _tuple,
    "prim::NamedTupleConstruct": _tuple,
    "prim::DictConstruct": _dict,
    "prim::TupleUnpack": _unpack,
    "prim::ListUnpack": _unpack_list,
    "prim::TupleIndex": _index,
    "prim::TupleSlice": _slice,
    "prim::GetAttr": _get,
    "prim::SetAttr": _set,
    "prim::CreateObject": _create,
    "prim::CallMethod": _method,
    "prim::CallFunction": _function,
    "prim::PythonOp": _python,
    **dict.fromkeys(TASKS, _task),
    "prim::Enter": _context(ENTER),
    "prim::Exit": _context(EXIT),
    "prim::ModuleContainerIndex": _member,
    "prim::isinstance": _is_instance,
    "prim::EnumName": _pass_on("enum_name"),
    "prim::EnumValue": _pass_on("enum_value"),
    "prim::RaiseException": _pass_on("raise"),
}
