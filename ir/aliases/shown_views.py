"""Where a graph could tell a conjugate that shares memory from one that is computed at once.

Operators marked `lazily` compute their elements in running code, which is as good as a view that
computes them when they are read, unless memory is written that the view shares, or the view leaves
the graph.
"""

from __future__ import annotations

from typing import Final

from ...ops.table.table import TABLE
from ..graphs.graph import Graph, Node, Value
from .alias_analysis import TAKEN_OUT
from .aliases import Aliases

__all__ = ["shown_views"]

_PUT_TOGETHER: Final = frozenset(
    {"prim::ListConstruct", "prim::TupleConstruct", "prim::unchecked_cast"}
)


def shown_views(graph: Graph, *, leaving: bool = True) -> frozenset[Node]:
    """The nodes whose results have to share memory; without `leaving` those alone that meet a
    write."""
    lazy = TABLE.names_with("lazily")
    found = [node for node in graph.all_nodes if node.kind in lazy]
    if not found:
        return frozenset()
    aliases = Aliases(graph)
    return frozenset(
        node
        for node in found
        if aliases.has_writers(node.output) or (leaving and _leaves(node.output))
    )


def _leaves(view: Value) -> bool:
    """Whether a value, or what shares its memory, may be seen from outside of its graph."""
    followed = {view}
    waiting = [view]
    while waiting:
        for user, number in waiting.pop().uses:
            following = _following(user, number)
            if following is None:
                return True
            waiting += [value for value in following if value not in followed]
            followed.update(following)
    return False


def _following(user: Node, number: int) -> list[Value] | None:
    """The results of a node that share memory with its input of a number; None if it goes where
    nothing is known of it."""
    if user.kind == "prim::Return":
        return _behind(user, number)
    if user.kind == "prim::If":
        return []
    if user.kind == "prim::Loop":
        return [] if number < 2 else [user.outputs[number - 2], user.blocks[0].inputs[number - 1]]
    if user.kind in _PUT_TOGETHER or user.kind in TAKEN_OUT:
        return list(user.outputs)
    signature = user.signature
    if signature is None or user.kind in TABLE.names_with("asks_if_lazy"):
        return None
    if not signature.shares:
        return []
    arguments = signature.arguments
    alias = arguments[number].alias if number < len(arguments) else None
    if alias is None:
        return []
    if "*" in (*alias.sets, *alias.after):
        return None
    names = {*alias.sets, *alias.after}
    shared: list[Value] = []
    for output, result in zip(user.outputs, signature.returns, strict=False):
        sets = () if result.alias is None else result.alias.sets
        if "*" in sets:
            return None
        if not names.isdisjoint(sets):
            shared.append(output)
    return shared


def _behind(end: Node, number: int) -> list[Value] | None:
    """What a block's output of a number becomes; None for one of the graph."""
    block = end.owner
    if block is None or block.node is None:
        return None
    outer = block.node
    if outer.kind == "prim::If":
        return [outer.outputs[number]]
    if outer.kind == "prim::Loop":
        return [] if number == 0 else [outer.outputs[number - 1], block.inputs[number]]
    return None
