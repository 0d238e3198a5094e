"""`torch.fx.passes.utils.common`: graphs as modules of their own, and their comparison."""

from __future__ import annotations

from ....nn.modules.module import Module
from ..._attributes import assign_attr, get_attr
from ...graph import Graph
from ...graph_module import GraphModule

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(Module):
    """A module that does nothing but hold modules, given as a dict."""

    def __init__(self, d: dict[str, Module]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(
    gm: GraphModule,
    subgraph: Graph,
    comp_name: str = "",
    class_name: str = "GraphModule",
) -> tuple[GraphModule, dict[str, str]]:
    """A module of a piece of graph, which has what that names of another module.

    Args:
        comp_name: the name that the new module will have.

    Returns:
        The module, and for each name in it that in `gm`.
    """
    holder = HolderModule({})
    names: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op in ("call_module", "get_attr"):
            target = str(node.target)
            assign_attr(get_attr(gm, target), holder, target)
            names[f"{comp_name}.{target}"] = target
    return GraphModule(holder, subgraph, class_name), names


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether two graphs are the same but for names."""
    from .matcher_utils import SubgraphMatcher

    return len(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right)) > 0
