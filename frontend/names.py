"""The names that a piece of syntax mentions."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from . import tree

__all__ = ["names_in"]


def names_in(root: tree.Node) -> list[str]:
    """Every name once, in the order of their first appearance; attributes are none."""
    found: dict[str, None] = {}
    waiting: list[object] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tree.Name):
            found[node.id] = None
        elif isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif isinstance(node, tree.Node):
            kind: object = type(node)
            waiting.extend(getattr(node, name) for name in _field_names(kind))
    return list(found)


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    """The fields of a class of nodes, the last first."""
    return tuple(field.name for field in reversed(fields(kind)) if field.name != "span")
