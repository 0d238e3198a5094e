"""`torch.fx.passes.utils.fuser_utils`: nodes of a graph as one call of a module below."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence

from ....module_names import names_of
from ...graph import Graph
from ...graph_module import GraphModule
from ...node import Node
from ..tools_common import stable_topological_sort

__all__ = [
    *("erase_nodes", "fuse_as_graphmodule", "fuse_by_partitions", "insert_subgm"),
    *("leads_back", "topo_sort", "validate_partition"),
]

Nodes = dict[Node, int | None]


def leads_back(
    nodes: Iterable[Node], fused: Callable[[Node], Iterable[Node]] = lambda node: (node,)
) -> bool:
    """Whether something outside lies between some nodes, so that these cannot be one.

    Args:
        fused: the nodes that are one with a node outside.
    """
    inside = set(nodes)
    behind = [user for node in inside for user in node.users if user not in inside]
    seen = set(behind)
    while behind:
        for one in fused(behind.pop()):
            for user in one.users:
                if user in inside:
                    return True
                if user not in seen:
                    seen.add(user)
                    behind.append(user)
    return False


def validate_partition(partition: Sequence[Node]) -> bool:
    """Whether nodes can be one call: nothing outside comes between them."""
    return not leads_back(partition)


def topo_sort(nodes: Sequence[Node]) -> list[Node]:
    """Nodes of one graph in an order in which values are made before their use."""
    return sorted(nodes)


def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: Sequence[Node],
    module_name: str,
    partition_lookup_table: Nodes | None = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """A module that computes some nodes; what it takes, and the nodes whose values it gives.

    Args:
        partition_lookup_table: the same nodes, as a dict.

    Raises:
        AssertionError: a node is of another graph, or not there any more, or something outside
            comes between them.
    """
    inside = dict.fromkeys(nodes) if partition_lookup_table is None else partition_lookup_table
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    made, values = Graph(), dict[Node, Node]()
    needed = (each for node in nodes for each in node.all_input_nodes)
    inputs = tuple(dict.fromkeys(each for each in needed if each not in inside))
    for node in inputs:
        values[node] = made.placeholder(node.name, type_expr=node.type)
        values[node].meta = node.meta.copy()
    for node in nodes:
        values[node] = made.node_copy(node, lambda each: values[each])
    outputs = tuple(node for node in nodes if any(user not in inside for user in node.users))
    results = tuple(values[node] for node in outputs)
    made.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    made.lint()
    return GraphModule(gm, made, module_name), inputs, outputs


def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: tuple[Node, ...],
    orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:
    """Put a module below another, under its class's name, and use it in the place of nodes.

    Args:
        insertion_point: the node behind which it is called; at the end if None, where it must be
            brought before its users.
    """
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    place = gm.graph.output_node() if insertion_point is None else insertion_point.next
    with gm.graph.inserting_before(place):
        call = gm.graph.call_module(name, orig_inputs)
        result = sub_gm.graph.output_node().args[0]
        values = [call]
        if isinstance(result, tuple):
            count = range(len(orig_outputs))
            values = [gm.graph.call_function(operator.getitem, (call, i)) for i in count]
    for old, new in zip(orig_outputs, values, strict=True):
        new.meta = old.meta.copy()
        old.replace_all_uses_with(new)
    return gm


def erase_nodes(gm: GraphModule, nodes: Sequence[Node]) -> None:
    """Take nodes out of a module's graph, the last first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule,
    partitions: list[Nodes],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:
    """Make a module below, called `fused_0` and so on, of each of some sets of nodes.

    Raises:
        AssertionError: a node is in two sets, or something outside comes between those of one.
    """
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        made, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{number}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, made, inputs, outputs)
        erase_nodes(gm, nodes)
    return stable_topological_sort(gm)


__getattr__ = names_of(__name__)
