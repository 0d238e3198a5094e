"""Numbers for warnings, by which printed graphs tell them apart: `aten::warn[warn_id=0](...)`."""

from __future__ import annotations

from itertools import count
from typing import Final

from ..graphs.graph import Graph
from .context import PassContext

__all__ = ["number_warnings"]

_NUMBERS: Final = count()
"""One after the other in the process, in the order of definition, as in torch."""


def number_warnings(graph: Graph, context: PassContext) -> bool:
    """Give each warning its number; whether there were any."""
    found = [node for node in graph.all_nodes if node.kind == "aten::warn"]
    for node in found:
        node.attributes["warn_id"] = next(_NUMBERS)
    return bool(found)
