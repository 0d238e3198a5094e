"""`torch.fx.passes.dialect.common.cse_pass`: what is computed twice is computed once."""

from __future__ import annotations

from .....module_names import names_of
from .....ops.eager.packets import Namespace, Packet
from .....ops.table.table import TABLE
from ....graph import Graph
from ....graph_module import GraphModule
from ....node import Node, map_arg
from ...infra.pass_base import PassBase, PassResult

__all__: list[str] = []


def get_CSE_banned_ops() -> set[Packet]:
    """The operators that draw random numbers or write their arguments: calls of these stay."""
    aten = Namespace("aten")
    names = {each.name for each in TABLE if each.random or each.is_in_place}
    found = (getattr(aten, name[6:], None) for name in names if name.startswith("aten::"))
    return {each for each in found if isinstance(each, Packet)}


class CSEPass(PassBase):
    """Nodes that do the same on the same arguments become one, in a graph of its own."""

    def __init__(self, banned_ops: set[object] | None = None) -> None:
        self.banned_ops = banned_ops or set()
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        """A module with the changed graph; the given one stays as it is."""
        graph = Graph()
        made: dict[Node, Node] = {}
        known: dict[str, Node] = {}
        for node in graph_module.graph.nodes:
            key = None if self._stays(node) else _key(node, made)
            first = None if key is None else known.get(key)
            if first is None:
                first = graph.node_copy(node, made.__getitem__)
                if key is not None:
                    known[key] = first
            made[node] = first
        changed = len(graph.nodes) < len(graph_module.graph.nodes)
        return PassResult(GraphModule(graph_module, graph), changed)

    def _stays(self, node: Node) -> bool:
        if node.op in ("placeholder", "output", "get_attr") or node.is_impure():
            return True
        packet = getattr(node.target, "overloadpacket", node.target)
        return packet in self.banned_ops or node.target in self.banned_ops


def _key(node: Node, made: dict[Node, Node]) -> str:
    """A text that says what a node does, and on which nodes of the new graph."""
    args, kwargs = (map_arg(each, made.__getitem__) for each in (node.args, node.kwargs))
    number = id(node.target) if callable(node.target) else 0
    return repr((node.op, node.target, number, args, kwargs))


__getattr__ = names_of(__name__)
