"""Observers put into the graph of a frozen module.

    %y = aten::conv2d(%x, %w, ...)        %x.1 = prim::CallMethod[name="forward"](%_observer_0, %x)
    %z = aten::relu(%y)             ->    %w.1 = prim::CallMethod[name="forward"](%_observer_1, %w)
                                          %y = aten::conv2d(%x.1, %w.1, ...)
                                          %z.2 = aten::relu(%y)
                                          %z = prim::CallMethod[name="forward"](%_observer_2, %z.2)

Whatever used a value uses what its observer gives.  Where a ReLU follows directly, its result is
observed in place of what is before it.  What passes on numbers in a range already known (pooling,
reshaping, branches) is not observed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ....interpreter.values.objects import ScriptObject
from ....ir.functions.inline import call_path
from ....ir.graphs.constants import constant_value
from ....ir.graphs.graph import Block, Graph, Node, Value
from ....typecheck.relations.relations import is_subtype
from ....typecheck.types.types import TENSOR, Type
from ..qconfig import QConfig
from .roles import ROLES, Role

__all__ = ["add_part", "configuration", "insert_observers", "relu_after", "with_scalar"]

Scripted = Callable[[object], ScriptObject]
"""Makes a script object of what a configuration makes its observers with."""


def configuration(configurations: Mapping[str, QConfig | None], path: str) -> QConfig | None:
    """The configuration of a module by its path: its own, or that of what it lies in."""
    while path not in configurations:
        if not path:
            return None
        path = path.rpartition(".")[0]
    return configurations[path]


def with_scalar(node: Node) -> bool:
    """Whether a sum or product is one of a tensor and a number."""
    return node.kind in ("aten::add", "aten::mul") and not is_subtype(node.inputs[1].type, TENSOR)


def relu_after(node: Node) -> Node | None:
    """The ReLU that alone uses the result of a node, in the same block."""
    users = [use.user for use in node.output.uses] if len(node.outputs) == 1 else []
    if len(users) == 1 and users[0].kind in ("aten::relu", "aten::relu_"):
        return users[0] if users[0].owner is node.owner else None
    return None


def add_part(target: ScriptObject, name: str, type: Type, value: object) -> None:
    """Give an object one more attribute; its class must be its own."""
    target.cls.add_attribute(name, type)
    target.slots.append(value)


def insert_observers(
    target: ScriptObject,
    graph: Graph,
    configurations: Mapping[str, QConfig | None],
    scripted: Scripted,
    dynamic: bool = False,
) -> None:
    """Put observers into the graph of a method, as parts `_observer_0`, ... of its object.

    Args:
        configurations: by the paths of modules.
        dynamic: observe weights alone, of what can be quantized by the range of each call.
    """
    observing = _Observing(target, graph, configurations, scripted)
    if dynamic:
        observing.dynamic_weights()
    else:
        observing.find()
        observing.insert()


class _Observing:
    def __init__(
        self,
        target: ScriptObject,
        graph: Graph,
        configurations: Mapping[str, QConfig | None],
        scripted: Scripted,
    ) -> None:
        self.target = target
        self.graph = graph
        self.configurations = configurations
        self.scripted = scripted
        self.wanted: dict[Value, object] = {}
        """What makes the observer of each value that needs one."""
        self.known: set[Value] = set()
        """Further values, in a range that an observer sees."""
        self.weights: list[tuple[Node, int, object]] = []
        self.parts: dict[tuple[Value, int], str] = {}
        """The observers of weights, by what made them."""
        self.observers = sum("_observer_" in name for name in target.cls.attributes)

    def qconfig(self, node: Node) -> QConfig | None:
        return configuration(self.configurations, call_path(node.call_stack))

    # -- what is observed

    def find(self) -> None:
        for node in self.graph.all_nodes:
            role = ROLES.get(node.kind)
            qconfig = None if role is None else self.qconfig(node)
            if role is None or qconfig is None or not _has_weight(node, role):
                continue
            if role.observed and not role.joins:
                self.want(node, role, qconfig)
                self.wanted.setdefault(node.inputs[0], qconfig.activation)
        self.block(self.graph.block)

    def want(self, node: Node, role: Role, qconfig: QConfig) -> None:
        """Have the result of a node observed, and its weight."""
        last = relu_after(node) if role.relu else None
        self.wanted[(last or node).output] = qconfig.activation
        if role.weight is not None:
            self.weights.append((node, role.weight, qconfig.weight))
        for index in role.rounded:
            if isinstance(constant_value(node.inputs[index]), np.ndarray):
                self.weights.append((node, index, qconfig.activation))

    def knows(self, value: Value) -> bool:
        return value in self.wanted or value in self.known

    def block(self, block: Block) -> None:
        for node in block.nodes:
            for inner in node.blocks:
                self.block(inner)
            role = ROLES.get(node.kind)
            if node.kind == "prim::If":
                ways = zip(*(inner.outputs for inner in node.blocks), strict=True)
                known = [all(map(self.knows, values)) for values in ways]
            elif node.kind in ("prim::ListConstruct", "prim::ListUnpack"):
                known = [all(map(self.knows, node.inputs))] * len(node.outputs)
            elif role is not None and (role.passed or with_scalar(node)):
                known = [self.knows(node.inputs[0])] * len(node.outputs)
            else:
                known = []
                if role is not None and role.joins:
                    self.joining(node, role)
            for output, is_known in zip(node.outputs, known, strict=False):
                if is_known and is_subtype(output.type, TENSOR):
                    self.wanted.pop(output, None)
                if is_known:
                    self.known.add(output)

    def joining(self, node: Node, role: Role) -> None:
        """A sum, product or join is observed where all its operands are."""
        operands = node.inputs[: role.joins]
        qconfig = self.qconfig(node)
        if qconfig is not None and all(map(self.knows, operands)):
            self.want(node, role, qconfig)

    # -- observers

    def insert(self) -> None:
        for node, index, make in self.weights:
            self.observe_weight(node, index, make)
        for value, make in self.wanted.items():
            block, made = value.node.owner, value.node
            assert block is not None
            before = block.first if made is block.param else made.next
            seen = self.call(self.part(make), value, before)
            value.replace_uses(seen)
            seen.node.set_input(1, value)

    def dynamic_weights(self) -> None:
        for node in list(self.graph.all_nodes):
            role = ROLES.get(node.kind)
            qconfig = None if role is None else self.qconfig(node)
            if role is None or qconfig is None or not _has_weight(node, role):
                continue
            if role.dynamic and role.weight is not None:
                self.observe_weight(node, role.weight, qconfig.weight)

    def observe_weight(self, node: Node, index: int, make: object) -> None:
        """The weight of a layer, observed once wherever the layer is called."""
        value = node.inputs[index]
        name = self.parts.get((value, id(make)))
        if name is None:
            name = self.parts[value, id(make)] = self.part(make)
        node.set_input(index, self.call(name, value, node))

    def part(self, make: object) -> str:
        """Add an observer; its name."""
        observer = self.scripted(make)
        name = f"_observer_{self.observers}"
        self.observers += 1
        add_part(self.target, name, observer.cls, observer)
        return name

    def call(self, name: str, value: Value, before: Node) -> Value:
        """What an observer gives."""
        graph, type = self.graph, self.target.cls.attributes[name].type
        part = graph.create("prim::GetAttr", [graph.inputs[0]], (type,), before.span)
        part.attributes["name"] = name
        part.insert_before(before).output.name = name
        node = graph.create("prim::CallMethod", [part.output, value], (value.type,), before.span)
        node.attributes["name"] = "forward"
        return node.insert_before(before).output


def _has_weight(node: Node, role: Role) -> bool:
    """Whether the weight, if it takes one, is one that the module has."""
    index = role.weight
    return index is None or isinstance(constant_value(node.inputs[index]), np.ndarray)
