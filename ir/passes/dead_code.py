"""What nobody needs is removed.

    %2 = aten::mul(%x, %x)                   (nothing)
    %a, %b = prim::If(%c)                    %a = prim::If(%c)
      block0(): -> (%1, %2)          ->        block0(): -> (%1)
      block1(): -> (%3, %4)                    block1(): -> (%3)
    prim::Print(%a)                          prim::Print(%a)

Needed are nodes with effects, nodes that change what is needed or known outside, what these read,
and the nodes they are in.  A loop that computes its condition in its body needs that, so it stays:
it might never end.  A task that nobody waits for is never begun, as in torch.  Outputs of branches
that are not used go, and carried values of loops that neither the body nor anybody after it reads.
"""

from __future__ import annotations

from ..aliases.alias_analysis import written_values
from ..aliases.aliases import Aliases
from ..graphs.graph import Block, Graph, Node, Value
from ..graphs.kinds import TASKS, has_effects
from .context import PassContext

__all__ = ["eliminate_dead_code"]


def eliminate_dead_code(
    graph: Graph, context: PassContext | None = None, *, keeps_writes: bool = False
) -> bool:
    """Remove dead nodes, outputs and carried values.

    With `keeps_writes` every node that changes something counts as needed, whoever knows it.
    """
    return _Elimination(graph, keeps_writes).run()


class _Elimination:
    def __init__(self, graph: Graph, keeps_writes: bool) -> None:
        self.graph = graph
        self.keeps_writes = keeps_writes
        self.live: set[Value] = set()
        self.marked: set[Node] = set()
        self.written = {n: found for n in graph.all_nodes if (found := written_values(n))}
        self.aliases = Aliases(graph) if self.written and not keeps_writes else None
        self.live_locations: set[int] = set()
        self.effects: set[Node] = set()
        """The nodes that are needed in any case."""
        self.writes: dict[Node, set[int]] = {}
        """What nodes change, and those in their blocks."""
        self.look(graph.block)

    def run(self) -> bool:
        self.mark(self.graph.block.ret)
        self.mark_block(self.graph.block)
        return self.sweep(self.graph.block)

    def look(self, block: Block) -> tuple[bool, set[int]]:
        """Find the nodes with effects, and what they change: whether there are some in a block, and
        all that its nodes change."""
        has_some, all_written = False, set[int]()
        for node in block.nodes:
            is_one = has_effects(node) and node.kind not in TASKS
            written = set[int]()
            if node in self.written:
                is_one = is_one or self.keeps_writes
                if self.aliases is not None:
                    written.update(*map(self.aliases.places, self.written[node]))
            for inner in node.blocks:
                found = self.look(inner)
                is_one = is_one or found[0]
                written |= found[1]
            if written and self.aliases is not None:
                self.writes[node] = written
                all_written |= written
                is_one = is_one or self.aliases.may_know(written)
            if is_one:
                self.effects.add(node)
                has_some = True
        return has_some, all_written

    # -- marking

    def mark(self, node: Node) -> bool:
        if node in self.marked:
            return False
        self.marked.add(node)
        for value in node.inputs:
            self.mark_value(value)
        if node.owner is not None and node.owner.node is not None:
            self.mark(node.owner.node)
        return True

    def mark_value(self, value: Value) -> bool:
        if value in self.live:
            return False
        self.live.add(value)
        if self.aliases is not None:
            self.live_locations |= self.aliases.places(value)
        return True

    def mark_block(self, block: Block) -> bool:
        """Mark what is needed, last node first: a change that nobody sees later is not needed."""
        changed = False
        for node in block.nodes:
            if node in self.effects:
                changed |= self.mark(node)
        changed |= self.mark_outputs(block)
        for node in block.nodes_reversed:
            for inner in node.blocks:
                again = self.mark_block(inner)
                changed |= again
                # once more only after a change, so that nested loops do not multiply the work
                while again and node.kind == "prim::Loop":
                    again = self.mark_block(inner)
            if node not in self.marked and self.is_needed(node):
                changed |= self.mark(node)
        return changed

    def mark_outputs(self, block: Block) -> bool:
        """The outputs of a branch or loop body that somebody reads."""
        node, changed = block.node, False
        if node is None:
            return False
        if node.kind == "prim::Loop":
            changed |= self.mark_value(block.outputs[0])
            carried = zip(block.inputs[1:], block.outputs[1:], node.outputs, strict=True)
            for before, after, outside in carried:
                if before.uses or outside in self.live:
                    changed |= self.mark_value(after)
        else:
            for inside, outside in zip(block.outputs, node.outputs, strict=True):
                if outside in self.live:
                    changed |= self.mark_value(inside)
        return changed

    def is_needed(self, node: Node) -> bool:
        if node in self.effects or not self.live.isdisjoint(node.outputs):
            return True
        return node in self.writes and not self.live_locations.isdisjoint(self.writes[node])

    # -- removal

    def sweep(self, block: Block) -> bool:
        changed = False
        for node in block.nodes_reversed:
            changed |= _remove_outputs(node)
            for inner in node.blocks:
                changed |= self.sweep(inner)
            if node not in self.marked and not any(output.uses for output in node.outputs):
                node.destroy()
                changed = True
        return changed


def _remove_outputs(node: Node) -> bool:
    if node.kind not in ("prim::If", "prim::Loop"):
        return False
    changed = False
    for index in reversed(range(len(node.outputs))):
        if node.outputs[index].uses:
            continue
        if node.kind == "prim::Loop":
            if node.blocks[0].inputs[index + 1].uses:
                continue
            node.remove_input(index + 2)
            node.blocks[0].remove_output(index + 1)
            node.blocks[0].remove_input(index + 1)
        else:
            for block in node.blocks:
                block.remove_output(index)
        node.remove_output(index)
        changed = True
    return changed
