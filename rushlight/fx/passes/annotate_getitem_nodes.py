"""`torch.fx.passes.annotate_getitem_nodes`: types of elements, from the types of containers."""

from __future__ import annotations

import operator
from typing import Any

from ..graph import Graph

__all__: list[str] = []


def annotate_getitem_nodes(graph: Graph) -> None:
    """Give nodes that take elements of lists and tuples the types of these."""
    for node in graph.nodes:
        if node.target is operator.getitem and node.args:
            found = _element(getattr(node.args[0], "type", None), node.args[1])
            if found is not None:
                node.type = found


def _element(container: Any, place: object) -> object:
    origin = getattr(container, "__origin__", None)
    inner: Any = getattr(container, "__args__", ())
    if origin is list and len(inner) == 1:
        return inner[0]
    if origin is tuple and inner:
        if inner[-1] is ...:
            return inner[0]
        return inner[place] if isinstance(place, int) and place < len(inner) else None
    fields = getattr(container, "__annotations__", {}) if hasattr(container, "_fields") else {}
    return fields.get(container._fields[place]) if fields and isinstance(place, int) else None
