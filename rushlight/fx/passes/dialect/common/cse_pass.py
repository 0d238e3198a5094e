"""`torch.fx.passes.dialect.common.cse_pass`: what is computed twice is computed once."""

from __future__ import annotations

from .....module_names import names_of
from ....graph_module import GraphModule
from ....node import Node
from ...infra.pass_base import PassBase, PassResult

__all__: list[str] = []


class CSEPass(PassBase):
    """Nodes that call the same function on the same arguments become one."""

    def __init__(self, banned_ops: set[object] | None = None) -> None:
        self.banned_ops = banned_ops or set()
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        """Change the module's graph and recompile it."""
        graph = graph_module.graph
        known: dict[object, Node] = {}
        changed = False
        for node in list(graph.nodes):
            if node.op != "call_function" or node.target in self.banned_ops or node.is_impure():
                continue
            key = repr((node.target, id(node.target), node.args, node.kwargs))
            first = known.setdefault(key, node)
            if first is not node:
                node.replace_all_uses_with(first)
                graph.erase_node(node)
                changed = True
        graph_module.recompile()
        return PassResult(graph_module, changed)


__getattr__ = names_of(__name__)
