"""The bodies of tasks in the place of their forks.

%f : Future[Tensor] = prim::fork_0(%x)
%y : Tensor = aten::wait(%f)              ->    %y : Tensor = aten::neg(%x)
with prim::fork_0 = graph(%x): ... aten::neg(%x) ...
"""

from __future__ import annotations

from ..graphs.clone import insert_graph
from ..graphs.graph import Block, Graph, Node
from .context import PassContext

__all__ = ["inline_tasks"]


def inline_tasks(graph: Graph, context: PassContext) -> bool:
    """Inline each fork whose result is nowhere but waited for."""
    return _block(graph.block)


def _block(block: Block) -> bool:
    changed = False
    for node in list(block.nodes):
        for inner in node.blocks:
            changed |= _block(inner)
        if node.kind == "prim::fork" and all(u.user.kind == "aten::wait" for u in node.output.uses):
            _inline(node)
            changed = True
    return changed


def _inline(fork: Node) -> None:
    graph = fork.graph
    task = fork.attributes["Subgraph"]
    assert isinstance(task, Graph)
    _block(task.block)
    with graph.inserting_before(fork):
        (result,) = insert_graph(graph, task, fork.inputs)
    for use in list(fork.output.uses):
        use.user.output.replace_uses(result)
        use.user.destroy()
    fork.destroy()
