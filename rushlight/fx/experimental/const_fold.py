"""`torch.fx.experimental.const_fold`: what depends on no input is computed once."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from ...nn.modules.container import ParameterList
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ...ops.tensors.tensor import Tensor
from .._attributes import copy_attr
from .._symbolic_trace import symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """Computes its constant part, `const_subgraph_module`, before the first call."""

    def __init__(
        self,
        root: Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        part = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.const_subgraph_module = part
        self.device_for_folded_attrs = device_for_folded_attrs
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.has_folding_been_run = False

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args, **kwargs)

    def run_folding(self) -> None:
        """Compute the constants; a second time does nothing."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        setattr(self, self.fx_const_folded_attrs_name, _kept(self.const_subgraph_module()))


def _kept(value: object) -> object:
    """A value as a module can keep it."""
    if isinstance(value, tuple):
        return ParameterList([_kept(each) for each in value])
    if isinstance(value, Tensor):
        detached: Tensor = value.detach()
        return Parameter(detached, requires_grad=value.requires_grad)
    return value


def get_unique_attr_name_in_module(mod_traced: GraphModule, name: str) -> str:
    """A name like the given one that a module has no attribute of."""
    cleaned = re.sub(r"^(?=\d)|[^0-9a-zA-Z_]+", "_", name)
    found = re.fullmatch(r"(.*)_(\d+)", cleaned)
    base, number = (found[1], int(found[2])) if found else (cleaned, 0)
    while hasattr(mod_traced, cleaned):
        number += 1
        cleaned = f"{base}_{number}"
    return cleaned


def _constants(module: GraphModule, skip: Callable[[Node], bool] | None) -> list[Node]:
    """The nodes that depend on no input and draw nothing."""
    found: dict[Node, None] = {}
    for node in module.graph.nodes:
        if node.op in ("placeholder", "output") or (skip is not None and skip(node)):
            continue
        if node.op != "get_attr" and (node.is_impure() or not node.all_input_nodes):
            continue
        if all(each in found for each in node.all_input_nodes):
            found[node] = None
    return list(found)


def split_const_subgraphs(
    module: Module,
    skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:
    """A module whose constant part is computed once.

    Args:
        skip_folding_node_fn: says which nodes are not part of it.
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constants = _constants(traced, skip_folding_node_fn)
    computed = [node for node in constants if node.op != "get_attr"]
    if not computed:
        return FoldedGraphModule(traced, traced.graph)
    inside = set(constants)
    results = [n for n in computed if any(user not in inside for user in n.users)]
    part = Graph()
    values: dict[Node, Node] = {}
    for node in constants:
        values[node] = part.node_copy(node, lambda each: values[each])
    given = tuple(values[node] for node in results)
    part.output(given[0] if len(given) == 1 else given)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    return _folded(traced, part, results, name, device_for_folded_attrs)


def _folded(
    traced: GraphModule, part: Graph, results: list[Node], name: str, device: str
) -> FoldedGraphModule:
    graph = traced.graph
    setattr(traced, name, Parameter(Tensor()) if len(results) == 1 else ParameterList())
    with graph.inserting_before(results[0]):
        read = graph.get_attr(name)
        values = [read]
        if len(results) > 1:
            values = [graph.call_function(operator.getitem, (read, i)) for i in range(len(results))]
    for node, value in zip(results, values, strict=True):
        value.meta.update(node.meta)
        node.replace_all_uses_with(value)
    graph.eliminate_dead_code()
    root = Module()
    for source in (graph, part):
        for node in source.nodes:
            if node.op in ("get_attr", "call_module"):
                copy_attr(traced, root, str(node.target))
    root.training = traced.training
    return FoldedGraphModule(root, graph, part, name, device)
