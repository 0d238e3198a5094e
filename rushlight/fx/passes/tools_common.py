"""`torch.fx.passes.tools_common`: what nodes call, and graphs put in order."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

from ...module_names import names_of
from ...nn.modules.module import Module
from ...ops.tensors.tensor import Tensor
from .._names import qualified_name
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node

__all__ = [
    *("get_acc_ops_name", "get_node_target", "is_node_output_tensor", "legalize_graph"),
    "stable_topological_sort",
]

CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_acc_ops_name(k: Any) -> str:
    """A name for a function or class; a string is one."""
    if isinstance(k, str):
        return k
    if k.__module__ and "acc_ops" in k.__module__:
        return f"acc_ops.{k.__name__}"
    return f"{k.__module__.replace('torch._ops', 'torch.ops')}.{k.__name__}"


def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """What a node calls: the class of a module, the name of a function or method.

    Raises:
        AssertionError: it calls nothing.
    """
    if node.op not in CALLABLE_NODE_OPS:
        wanted = "call_method, call_function, call_module"
        raise AssertionError(f"Expect op types of {wanted}, but found {node.op}")
    target = node.target
    if not isinstance(target, str):
        return qualified_name(target)
    if node.op == "call_method":
        return target
    module = submodules[target]
    return get_acc_ops_name(getattr(module, "_base_class_origin", type(module)))


def is_node_output_tensor(node: Node) -> bool:
    """Whether a node gives a tensor, as shape propagation has noted."""
    kind = node.meta.get("type", None)
    return kind is not None and issubclass(kind, Tensor)


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Put the nodes of a module's graph into an order in which values are made before their use.

    Raises:
        RuntimeError: there is none.
    """
    return stable_topological_sort(gm)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """The same; what may stay in its order does."""
    nodes = list(gm.graph.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    waiting = {node: len(node.all_input_nodes) for node in nodes}
    ready = [places[node] for node in nodes if not waiting[node]]
    heapq.heapify(ready)
    values: dict[Node, Node] = {}
    ordered = Graph(tracer_cls=gm.graph._tracer_cls)
    while ready:
        node = nodes[heapq.heappop(ready)]
        values[node] = ordered.node_copy(node, lambda each: values[each])
        for user in node.users:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, places[user])
    if len(values) < len(nodes):
        left = [node for node in nodes if node not in values]
        raise AssertionError(f"Input graph has cycles, unable to add {left}")
    ordered._codegen = gm.graph._codegen
    gm.graph = ordered
    return gm


__getattr__ = names_of(__name__)
