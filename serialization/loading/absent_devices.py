"""Code of archives that names devices which are not here, such as what was traced on a card."""

from __future__ import annotations

from typing import Final

from ...ir.graphs.graph import Graph, Node
from ...ops.memory.dtype import Device, is_here
from ...typecheck.types.types import DEVICE

__all__ = ["take_for"]

_COMPARING: Final = ("aten::eq", "aten::ne")


def take_for(device: Device, graph: Graph) -> None:
    """Let a graph compute on a device where it names one that is not here.

    %2 : Device = prim::Constant[value="cuda"]()   =>   %2 : Device = prim::Constant[value="cpu"]()
    %3 : Tensor = aten::cuda(%x)                   =>   %x

    What is compared with a device still tells whether it is that one.
    """
    for each in list(graph.with_tasks):
        for node in list(each.all_nodes):
            if node.kind == "aten::cuda":
                node.output.replace_uses(node.input)
                node.destroy()
            elif isinstance(node.value, Device) and not is_here(node.value):
                _exchange(node, device)


def _exchange(node: Node, device: Device) -> None:
    """Put a device in the place of a constant; for comparisons the constant stays."""
    uses = node.output.uses
    moved = [use for use in uses if use.user.kind not in _COMPARING]
    if len(moved) == len(uses):
        node.attributes["value"] = device
        return
    made = node.graph.create("prim::Constant", outputs=(DEVICE,), span=node.span)
    made.attributes["value"] = device
    made.insert_before(node)
    for use in moved:
        use.user.set_input(use.number, made.output)
