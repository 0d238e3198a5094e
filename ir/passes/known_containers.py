"""What is read from a list or dict whose making is in sight and that nobody changes.

    %l = prim::ListConstruct(%a, %b)
    %1 = aten::__getitem__(%l, %zero)      ->   (users of %1 use %a)
    %2 = aten::len(%l)                     ->   %2 = prim::Constant[value=2]()
    %3 = aten::slice(%l, %one, %n, %one)   ->   %3 = prim::ListConstruct(%b)
    %4 = aten::add(%l, %l)                 ->   %4 = prim::ListConstruct(%a, %b, %a, %b)
    %d = prim::DictConstruct(%key, %a)
    %5 = aten::__getitem__(%d, %key)       ->   (users of %5 use %a)

The nodes themselves go as dead code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from ...typecheck.types.types import INT
from ..aliases.aliases import Aliases
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node, Value
from .context import PassContext

__all__ = ["read_known_containers"]


def read_known_containers(graph: Graph, context: PassContext) -> bool:
    """Replace reads of lists, then of dicts."""
    nodes = list(graph.all_nodes)
    if not any(map(_may_read, nodes)):
        return False
    reading = _Reading(graph)
    lists = [reading.of_list(node) for node in nodes]
    dicts = [reading.of_dict(node) for node in nodes]
    return any(lists) or any(dicts)


def _may_read(node: Node) -> bool:
    """Whether a node is one of those below, of a container whose making is in sight; where there is
    none nobody asks what is changed, which takes longest."""
    match node.kind:
        case "aten::len" | "aten::__getitem__" | "aten::add" | "aten::slice" | "prim::ListUnpack":
            made = node.inputs[0].node.kind
            return made in ("prim::ListConstruct", "prim::DictConstruct")
    return False


class _Reading:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        aliases = Aliases(graph)
        values = (output for node in graph.all_nodes for output in node.outputs)
        containers = (value for value in values if value.type.list_of or value.type.dict_of)
        self.changed = {value for value in containers if aliases.has_writers(value)}

    def known(self, value: Value, kind: str) -> Sequence[Value] | None:
        """The inputs of the node that makes a container, if nobody changes that."""
        if value in self.changed or value.node.kind != kind:
            return None
        return value.node.inputs

    def of_list(self, node: Node) -> bool:
        if not node.inputs or node.inputs[0].type.list_of is None:
            return False
        elements = self.known(node.inputs[0], "prim::ListConstruct")
        if elements is None:
            return False
        match node.kind:
            case "aten::len":
                self.replace_by_number(node, len(elements))
            case "aten::__getitem__":
                index = constant_value(node.inputs[1])
                if not isinstance(index, int) or not -len(elements) <= index < len(elements):
                    return False
                node.output.replace_uses(elements[index])
            case "prim::ListUnpack":
                if len(elements) != len(node.outputs):
                    return False
                for output, element in zip(node.outputs, elements, strict=True):
                    output.replace_uses(element)
            case "aten::add":
                other = self.known(node.inputs[1], "prim::ListConstruct")
                if other is None:
                    return False
                self.replace_by_list(node, [*elements, *other])
            case "aten::slice":
                return self.slice(node, elements)
            case _:
                return False
        return True

    def slice(self, node: Node, elements: Sequence[Value]) -> bool:
        start, stop, step = (constant_value(value) for value in node.inputs[1:4])
        if not (_is_bound(start) and _is_bound(stop) and _is_bound(step)) or step == 0:
            return False
        self.replace_by_list(node, list(elements)[slice(start, stop, step)])
        return True

    def of_dict(self, node: Node) -> bool:
        if not node.inputs or node.inputs[0].type.dict_of is None:
            return False
        inputs = self.known(node.inputs[0], "prim::DictConstruct")
        if inputs is None or node.kind not in ("aten::len", "aten::__getitem__"):
            return False
        keys = [constant_value(key) for key in inputs[::2]]
        if any(not isinstance(key, (bool, int, float, complex, str)) for key in keys):
            return False
        entries = dict(zip(keys, inputs[1::2], strict=True))
        if len(entries) != len(keys):
            return False
        if node.kind == "aten::len":
            self.replace_by_number(node, len(entries))
            return True
        key = constant_value(node.inputs[1])
        if key not in entries:
            return False
        node.output.replace_uses(entries[key])
        return True

    def replace_by_number(self, node: Node, number: int) -> None:
        constant = create_constant(self.graph, number, INT).insert_before(node)
        node.output.replace_uses(constant.output)

    def replace_by_list(self, node: Node, elements: Sequence[Value]) -> None:
        made = self.graph.create("prim::ListConstruct", elements, (node.output.type,))
        made.insert_before(node)
        if node.output in self.changed:
            self.changed.add(made.output)
        node.output.replace_uses(made.output)


def _is_bound(value: object) -> TypeGuard[int | None]:
    return value is None or isinstance(value, int)
