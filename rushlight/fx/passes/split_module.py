"""`torch.fx.passes.split_module`: a graph as several modules that one graph calls."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ...nn.modules.module import Module
from .._attributes import get_attr
from .._lazy_graph_module import _make_graph_module
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg

__all__ = ["Partition", "split_module", "split_module_simple"]


@dataclass
class Partition:
    """A part: its nodes, what comes in and goes out, and which other parts need which."""

    name: str
    node_names: list[str] = field(default_factory=list)
    inputs: dict[Node, None] = field(default_factory=dict)
    outputs: dict[Node, None] = field(default_factory=dict)
    dependencies: dict[str, None] = field(default_factory=dict)
    dependents: dict[str, None] = field(default_factory=dict)
    graph: Graph = field(default_factory=Graph)
    environment: dict[Node, Node] = field(default_factory=dict)
    targets: dict[str, object] = field(default_factory=dict)
    affix: str | None = None

    @property
    def submod_name(self) -> str:
        """The name of its module."""
        return "_".join(each for each in ("submod", self.affix, self.name) if each)


@dataclass
class _Naming:
    """What names in the parts are like."""

    original_nodes: bool
    original_inputs: bool


class _Splitter:
    """Splits one graph."""

    def __init__(self, m: GraphModule, root: Module, chosen: Callable[[Node], object]) -> None:
        self._module = m
        self._root = root
        self._chosen = chosen
        self._parts: dict[str, Partition] = {}
        self._part_of: dict[Node, Partition] = {}

    # -- parts ---------------------------------------------------------------------------------

    def divide(self, affix: str | None) -> None:
        """Find out which node is in which part, and what the parts need of each other."""
        for node in self._module.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            name = str(self._chosen(node))
            part = self._parts.setdefault(name, Partition(name, affix=affix))
            part.node_names.append(node.name)
            self._part_of[node] = part
        for node in self._module.graph.nodes:
            for value in node.all_input_nodes:
                self._need(node, value)

    def _need(self, user: Node, value: Node) -> None:
        source, target = self._part_of.get(value), self._part_of.get(user)
        if source is target:
            return
        if source is not None:
            source.outputs.setdefault(value)
        if target is not None:
            target.inputs.setdefault(value)
        if source is not None and target is not None:
            source.dependents.setdefault(target.name)
            target.dependencies.setdefault(source.name)

    def ordered(self) -> list[Partition]:
        """The parts, each behind those that it needs.

        Raises:
            RuntimeError: two need each other.
        """
        waiting = {name: dict(part.dependencies) for name, part in self._parts.items()}
        ready = [name for name, needs in waiting.items() if not needs]
        done: list[Partition] = []
        while ready:
            part = self._parts[ready.pop()]
            done.append(part)
            for name in part.dependents:
                del waiting[name][part.name]
                if not waiting[name]:
                    ready.append(name)
        if len(done) != len(self._parts):
            raise RuntimeError("cycle exists between partitions!")
        return done

    # -- modules of parts ----------------------------------------------------------------------

    def fill(self, naming: _Naming, qualname_map: dict[str, str] | None, as_tuple: bool) -> None:
        """Make the graphs of the parts."""
        for part in self._parts.values():
            for place, value in enumerate(part.inputs):
                name = value.name if naming.original_inputs else f"arg_{place}"
                made = part.graph.placeholder(name, value.type)
                made.meta = value.meta.copy()
                part.environment[value] = made
        for node in self._module.graph.nodes:
            if node in self._part_of:
                self._copy(node, self._part_of[node], naming, qualname_map)
        for part in self._parts.values():
            values = tuple(part.environment[node] for node in part.outputs)
            part.graph.output(values[0] if len(values) == 1 and not as_tuple else values)

    def _copy(
        self, node: Node, part: Partition, naming: _Naming, names: dict[str, str] | None
    ) -> None:
        target = node.target
        if node.op == "call_module":
            target = "_".join(str(node.target).split("."))
            part.targets[target] = get_attr(self._root, str(node.target))
            if names is not None:
                names[f"{part.submod_name}.{target}"] = str(node.target)
        args, kwargs = map_arg((node.args, node.kwargs), lambda n: part.environment[n])
        name = node.name if naming.original_nodes else None
        made = part.graph.create_node(node.op, target, args, kwargs, name, node.type)
        made.meta = node.meta.copy()
        part.environment[node] = made

    # -- the graph that calls them -------------------------------------------------------------

    def join(self, keep_order: bool, as_tuple: bool) -> GraphModule:
        """The module that calls the parts."""
        return _Joiner(self._module, as_tuple).join(list(self._order(keep_order)))

    def _order(self, keep_order: bool) -> Iterator[Node | Partition]:
        parts = self.ordered()
        attributes = self._module.graph.find_nodes(op="get_attr")
        if not keep_order:
            yield from attributes
            yield from parts
            return
        places = {part.name: place for place, part in enumerate(self._parts.values())}
        said: set[Node] = set()
        for part in _stable(parts, places):
            for node in part.inputs:
                if node.op == "get_attr" and node not in said:
                    said.add(node)
                    yield node
            yield part
        yield from (node for node in attributes if node not in said)


def _stable(parts: list[Partition], places: dict[str, int]) -> list[Partition]:
    """The parts in the order of their first nodes, as far as what they need allows."""
    done: dict[str, Partition] = {}
    left = sorted(parts, key=lambda part: places[part.name])
    while left:
        part = next(each for each in left if all(name in done for name in each.dependencies))
        done[part.name] = part
        left.remove(part)
    return list(done.values())


class _Joiner:
    """Makes the graph that calls the parts."""

    def __init__(self, module: GraphModule, as_tuple: bool) -> None:
        self._module = module
        self._as_tuple = as_tuple
        self._graph = Graph()
        self._values: dict[Node, Node] = {}
        self._below: dict[str, Module] = {}

    def join(self, steps: list[Node | Partition]) -> GraphModule:
        """The module that takes these steps."""
        for node in self._module.graph.find_nodes(op="placeholder"):
            self._values[node] = self._copied(node)
        for step in steps:
            if isinstance(step, Node):
                self._attribute(step)
            else:
                self._call(step)
        for node in self._module.graph.find_nodes(op="output"):
            result = map_arg(node.args[0], lambda n: self._values[n])
            self._graph.output(result).meta = node.meta.copy()
        made = _make_graph_module(self._below, self._graph)
        made.meta = self._module.meta
        return made

    def _copied(self, node: Node) -> Node:
        made = self._graph.create_node(
            node.op, node.target, node.args, node.kwargs, node.name, node.type
        )
        made.meta = node.meta.copy()
        return made

    def _attribute(self, node: Node) -> None:
        self._values[node] = self._copied(node)
        self._below[str(node.target)] = get_attr(self._module, str(node.target))

    def _call(self, part: Partition) -> None:
        self._below[part.submod_name] = _make_graph_module(part.targets, part.graph)
        inputs = tuple(self._values[node] for node in part.inputs)
        called = self._graph.call_module(part.submod_name, inputs)
        if len(part.outputs) == 1 and not self._as_tuple:
            (only,) = part.outputs
            self._values[only] = called
            return
        for place, node in enumerate(part.outputs):
            self._values[node] = self._graph.call_function(operator.getitem, (called, place))


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], int],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """A module that does in several modules what one did.

    Args:
        root_m: has no meaning: the module has what its graph names.
        split_callback: says of a node which part it is in.
        qualname_map: takes for each name in the parts that in the module.
        keep_original_order: the parts in the order of their first nodes.
        keep_original_node_name: nodes have the names that they had.
        keep_original_input_name: inputs of parts, too.
        partition_affix: stands in the parts' names.
        tuple_return: a part with one result gives a tuple, too.

    Raises:
        RuntimeError: parts need each other.
    """
    splitter = _Splitter(m, m, split_callback)
    splitter.divide(partition_affix)
    splitter.ordered()
    naming = _Naming(bool(keep_original_node_name), keep_original_input_name)
    splitter.fill(naming, qualname_map, tuple_return)
    return splitter.join(bool(keep_original_order), tuple_return)


def split_module_simple(
    m: GraphModule,
    node_to_partition: dict[Node, int],
    *,
    partition_affix: str | None = None,
) -> GraphModule:
    """The same where a dict says which part a node is in."""
    return split_module(m, m, lambda node: node_to_partition[node], partition_affix=partition_affix)
