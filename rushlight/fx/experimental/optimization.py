"""`torch.fx.experimental.optimization`: graphs that compute the same faster, for inference."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping

from ... import nn
from ...module_names import names_of
from ...nn.modules.module import Module
from ...nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from .._symbolic_trace import Tracer, symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule
from ..interpreter import Transformer
from ..node import Argument, Node, Target

__all__ = [
    *("extract_subgraph", "fuse", "matches_module_pattern", "optimize_for_inference"),
    *("remove_dropout", "replace_node_module"),
]


def _parent_name(target: str) -> tuple[str, str]:
    """`a.b.c` as `a.b` and `c`."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Module]) -> bool:
    """Whether a node calls a module of the second class on what one of the first gave."""
    first, second = pattern
    if not node.args or not isinstance(node.args[0], Node):
        return False
    for expected, each in ((first, node.args[0]), (second, node)):
        if each.op != "call_module" or not isinstance(each.target, str):
            return False
        if each.target not in modules or type(modules[each.target]) is not expected:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Module], new_module: Module) -> None:
    """Have a node call another module, which takes the place of the old one."""
    target = str(node.target)
    parent, name = _parent_name(target)
    modules[target] = new_module
    setattr(modules[parent], name, new_module)


_PAIRS: list[tuple[type[Module], type[Module], Callable[..., Module]]] = [
    (nn.Conv1d, nn.BatchNorm1d, fuse_conv_bn_eval),
    (nn.Conv2d, nn.BatchNorm2d, fuse_conv_bn_eval),
    (nn.Conv3d, nn.BatchNorm3d, fuse_conv_bn_eval),
    (nn.Linear, nn.BatchNorm1d, fuse_linear_bn_eval),
]


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """A model in which batch norms are part of the layers before them.

    Args:
        inplace: change the model itself.
        no_trace: it is a GraphModule already.

    Raises:
        AssertionError: a layer is in training mode.
    """
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    for first, second, join in _PAIRS:
        for node in list(traced.graph.nodes):
            if matches_module_pattern((first, second), node, modules):
                _fuse_pair(traced.graph, node, modules, join)
    return GraphModule(traced, traced.graph)


def _fuse_pair(
    graph: Graph, node: Node, modules: dict[str, Module], join: Callable[..., Module]
) -> None:
    before = node.args[0]
    if len(before.users) > 1:  # others use what the layer gives without the norm
        return
    norm = modules[str(node.target)]
    if not norm.track_running_stats:
        return
    replace_node_module(before, modules, join(modules[str(before.target)], norm))
    node.replace_all_uses_with(before)
    graph.erase_node(node)


def remove_dropout(model: Module) -> Module:
    """A model without dropouts."""

    class WithoutDropout(Transformer):
        """Gives what a dropout is given."""

        def call_module(
            self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, object]
        ) -> object:
            """Leave dropouts out."""
            if isinstance(self.submodules[str(target)], nn.Dropout):
                return args[0]
            return super().call_module(target, args, kwargs)

    return WithoutDropout(symbolic_trace(model)).transform()


def extract_subgraph(
    orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """A module of some nodes."""
    graph = Graph()
    values = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        values[node] = graph.node_copy(node, lambda each: values[each])
    graph.output([values[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


def optimize_for_inference(
    model: Module,
    pass_config: Mapping[str, object] | None = None,
    tracer: type[Tracer] = Tracer,
) -> Module:
    """A model for inference: batch norms fused, dropouts removed.

    Args:
        pass_config: which of `conv_bn_fuse` and `remove_dropout` to do; both unless it says False.
        tracer: makes the graph.
    """
    chosen: dict[str, object] = {"conv_bn_fuse": True, "remove_dropout": True}
    chosen |= pass_config or {}
    made: Module = model
    if chosen["conv_bn_fuse"]:
        made = fuse(made)
    if chosen["remove_dropout"]:
        made = remove_dropout(made)
    work = tracer()
    return GraphModule(work.root if hasattr(work, "root") else made, work.trace(made))


__getattr__ = names_of(__name__)
