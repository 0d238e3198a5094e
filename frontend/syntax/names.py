"""The parts of a piece of syntax, and the names that it mentions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from . import tree

__all__ = ["names_in", "nodes_in"]


def names_in(root: tree.Node) -> list[str]:
    """Every name once, in the order of their first appearance; attributes are none."""
    return list(dict.fromkeys(node.id for node in nodes_in([root]) if isinstance(node, tree.Name)))


def nodes_in(roots: Sequence[tree.Node]) -> Iterator[tree.Node]:
    """All nodes, each before its parts."""
    waiting: list[object] = [*reversed(roots)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif isinstance(node, tree.Node):
            yield node
            kind: object = type(node)
            waiting.extend(getattr(node, name) for name in _field_names(kind))


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    """The fields of a class of nodes, the last first."""
    return tuple(field.name for field in reversed(fields(kind)) if field.name != "span")
