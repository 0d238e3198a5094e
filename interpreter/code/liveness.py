"""Where the values of a graph are used for the last time."""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.graphs.graph import Block, Graph, Node, Value

__all__ = ["Liveness"]

_NOT_IN_REGISTERS = frozenset({"prim::Constant", "prim::Uninitialized"})


def in_register(value: Value) -> bool:
    """Whether a value needs a register: constants are read from where they lie."""
    return value.node.kind not in _NOT_IN_REGISTERS


class Liveness:
    """The last uses of a graph's values; those that need no register are left out.

    `dying[node]` are values that nobody needs once `node` is done (for an if or a loop: once it is
    entered); `entry[block]` those needed no more from the block's first node on; `after[node]` the
    values, its own outputs apart, that are needed after an if or a loop; `exit[node]` the
    values that a loop used for the last time; `during[node]` all that a loop must leave alone.
    """

    def __init__(self, graph: Graph) -> None:
        self.dying: dict[Node, list[Value]] = {}
        self.entry: dict[Block, list[Value]] = {}
        self.after: dict[Node, set[Value]] = {}
        self.during: dict[Node, set[Value]] = {}
        self.exit: dict[Node, list[Value]] = {}
        self._outer: dict[Block, set[Value]] = {}
        self._find_outer(graph.block)
        live = self._block(graph.block, set())
        self.entry[graph.block] = [v for v in graph.inputs if v not in live]

    def _find_outer(self, block: Block) -> set[Value]:
        """The values from outside that a block or the blocks in it use."""
        used = {v for v in block.outputs if v.node.kind not in _NOT_IN_REGISTERS}
        defined = set(block.inputs)
        for node in block.nodes:
            used.update([v for v in node.inputs if v.node.kind not in _NOT_IN_REGISTERS])
            defined.update(node.outputs)
            for inner in node.blocks:
                used |= self._find_outer(inner)
        used -= defined
        self._outer[block] = used
        return used

    def _block(self, block: Block, live_out: set[Value]) -> set[Value]:
        """What is live at the start of a block, its own inputs included."""
        live = live_out | {v for v in block.outputs if in_register(v)}
        for node in block.nodes_reversed:
            if node.kind in _NOT_IN_REGISTERS:
                continue
            if node.kind == "prim::If":
                live = self._if(node, live)
            elif node.kind == "prim::Loop":
                live = self._loop(node, live)
            else:
                self._plain(node, live)
        return live

    def _plain(self, node: Node, live: set[Value]) -> None:
        dying = {v: None for v in node.outputs if v not in live}
        live.difference_update(node.outputs)
        for value in node.inputs:
            if value not in live and value.node.kind not in _NOT_IN_REGISTERS:
                dying[value] = None
        live.update(dying)
        live.difference_update(node.outputs)
        self.dying[node] = list(dying)

    def _if(self, node: Node, live: set[Value]) -> set[Value]:
        after = live.difference(node.outputs)
        self.after[node] = after
        starts = [self._block(block, set(after)) for block in node.blocks]
        together = set().union(*starts)
        for block, start in zip(node.blocks, starts, strict=True):
            self.entry[block] = _in_order(together - start)
        condition = node.inputs[0]
        dies = in_register(condition) and condition not in together
        self.dying[node] = [condition] if dies else []
        together.update(v for v in node.inputs if in_register(v))
        return together

    def _loop(self, node: Node, live: set[Value]) -> set[Value]:
        (body,) = node.blocks
        after = live.difference(node.outputs)
        during = after | self._outer[body]
        self.after[node] = after
        self.during[node] = during
        self.exit[node] = _in_order(self._outer[body] - after)
        start = self._block(body, set(during))
        self.entry[body] = [v for v in body.inputs if v not in start]
        inputs = dict.fromkeys(v for v in node.inputs if in_register(v))
        self.dying[node] = [v for v in inputs if v not in during]
        return during | set(inputs)


def _in_order(values: Iterable[Value]) -> list[Value]:
    return sorted(values, key=lambda v: v.id)
