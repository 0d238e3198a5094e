"""The nodes that are no operators over tensors: constants, attributes, calls, tuples, casts."""

from __future__ import annotations

from typing import Final

from ..interpreter.values.objects import ScriptObject
from ..ir.graphs.graph import Graph, Node
from ..jit.qualified_names import unmangled
from ..typecheck.definitions.class_types import ClassType, FunctionType
from ..typecheck.definitions.functions import Function
from ..typecheck.relations.relations import is_subtype
from ..typecheck.types.types import NONE, STRING, TENSOR, Type
from .functions import called
from .items import UNSET, Cell, Item, Maybe, Operand, Unsupported
from .walk import Walk, graph_of, step


@step("prim::Constant")
def _constant(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    if isinstance(node.output.type, FunctionType):
        return [node.output.type.function]
    return [walk.constant(node.value)]


@step("prim::Uninitialized")
def _uninitialized(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return [UNSET]


@step("prim::GetAttr")
def _get_attribute(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return [walk.contents.read(walk.slot(items[0], str(node.attributes["name"])))]


@step("prim::SetAttr")
def _set_attribute(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    walk.contents.write(walk.slot(items[0], str(node.attributes["name"])), items[1])
    return []


@step("prim::CallMethod")
def _call_method(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    target, name = items[0], str(node.attributes["name"])
    cls = target.cls if isinstance(target, ScriptObject) else None
    method = cls.method(name) if isinstance(cls, ClassType) else None
    if not isinstance(method, Function):
        raise Unsupported(f"the method `{name}` of an object that only a run knows")
    if name == "forward" and cls is not None and walk.as_functions is not False:
        path = unmangled(cls.qualified_name)
        if walk.as_functions is True or path in walk.as_functions:
            domain, _, last = path.removeprefix("__torch__.").rpartition(".")
            return called(walk, node, method, items, (domain or "modules", last))
    return walk.call(graph_of(method), items, node, method.qualified_name)


@step("prim::CallFunction")
def _call_function(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    function = items[0]
    if not isinstance(function, Function):
        raise Unsupported("a function that stays Python's is called")
    return walk.call(graph_of(function), items[1:], node, function.name)


@step("prim::PythonOp")
def _call_python(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    """A function of autograd's that was traced: what its forward computed is written."""
    body, result = node.attributes.get("Subgraph"), node.output.type.tuple_of
    if not isinstance(body, Graph) or len(body.outputs) != (1 if result is None else len(result)):
        raise Unsupported("a function that stays Python's is called")
    made = walk.call(body, items, node, "forward")
    return made if result is None else [tuple(made)]


@step("prim::TupleConstruct")
def _tuple(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return [tuple(items)]


@step("prim::TupleUnpack")
def _unpack_tuple(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    if not isinstance(items[0], tuple):
        raise Unsupported("a tuple that only a run knows")
    return list(items[0])


@step("prim::TupleIndex")
def _tuple_index(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    if not isinstance(items[0], tuple) or not isinstance(items[1], int):
        raise Unsupported("an element of a tuple that only a run knows")
    return [items[0][items[1]]]


@step("prim::unchecked_cast", "prim::unchecked_unwrap_optional", "aten::_unwrap_optional")
def _same(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    item = items[0]
    whole = isinstance(item, Maybe) and node.output.type.optional_of is None
    return [item.value if isinstance(item, Maybe) and whole else item]


@step("prim::Print", "aten::warn", "aten::_assert_async")
def _nothing(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return []


@step("prim::RaiseException")
def _raise(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    raise Unsupported("every run would raise here")


def _presence(walk: Walk, item: Maybe, wanted: bool) -> Operand:
    """Whether there is a value, or whether there is none."""
    return item.present if wanted else walk.negated(item.present)


@step("aten::__is__")
def _is(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return _identity(walk, items, True)


@step("aten::__isnot__")
def _is_not(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    return _identity(walk, items, False)


def _identity(walk: Walk, items: list[Item], wanted: bool) -> list[Item]:
    """Whether two values are one, or whether they are not."""
    if any(item is UNSET for item in items):
        raise Unsupported("whether a value is None only a run knows")
    for one, other in (items, items[::-1]):
        if isinstance(one, Maybe) and other is None:
            return [_presence(walk, one, not wanted)]
    if not any(item is None for item in items):
        one, other = items
        cells = isinstance(one, Cell) and isinstance(other, Cell)
        if one is not other and (not cells or walk.contents.are_linked(one, other)):
            raise Unsupported("objects are compared")
    return [(items[0] is items[1]) == wanted]


@step("prim::isinstance")
def _is_instance(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    types = node.attributes["types"]
    assert isinstance(types, list | tuple)
    item = items[0]
    if list(types) == [NONE]:
        return [_presence(walk, item, False) if isinstance(item, Maybe) else item is None]
    given = node.inputs[0].type
    own = _type_of(walk, item, given)
    if own is None:
        raise Unsupported("the type of a value is asked for that only a run knows")
    return [any(isinstance(each, Type) and is_subtype(own, each) for each in types)]


def _type_of(walk: Walk, item: Item, declared: Type) -> Type | None:
    """The type of a value, of which `declared` may say several; None if only a run knows."""
    content = walk.contents.content(item)
    if content is None:
        return NONE
    if isinstance(content, Maybe):
        return None
    found = [each for each in declared.alternatives if each != NONE and _may_be(content, each)]
    return found[0] if len(found) == 1 else None


_CONTAINERS: Final = (list, dict, tuple)


def _holds(type: Type, container: object) -> bool:
    """Whether values of a type are of that Python type."""
    held = {list: type.list_of, dict: type.dict_of, tuple: type.tuple_of}
    return any(kind is container and each is not None for kind, each in held.items())


def _may_be(content: Item, type: Type) -> bool:
    """Whether a value that is there may be of a type."""
    if isinstance(content, Operand) and not content.weak and not content.is_sequence:
        return type == TENSOR
    if isinstance(content, ScriptObject):
        return is_subtype(content.cls, type)
    if isinstance(content, str):
        return type == STRING
    if isinstance(content, list | dict | tuple):
        return any(isinstance(content, each) for each in _CONTAINERS if _holds(type, each))
    return type not in (TENSOR, STRING)


@step("prim::NumToTensor")
def _to_tensor(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    x = walk.w.tensor(walk.contents.resolved(items[0]))
    return [walk.contents.cell(Operand(x.name, x.dtype, x.shape, x.array))]


@step("prim::data", "aten::detach_")
def _itself(walk: Walk, node: Node, items: list[Item]) -> list[Item]:
    assert isinstance(items[0], Cell)
    return [items[0]]
