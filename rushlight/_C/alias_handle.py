"""The alias analysis as `torch._C` has it."""

from __future__ import annotations

from typing import Any

from ..ir.aliases.alias_db import AliasDb as InnerAliasDb
from ..ir.graphs.graph import Node as InnerNode
from ..ir.graphs.graph import Value as InnerValue
from .values import Handle, Value

__all__ = ["AliasDb"]


class AliasDb:
    """Which values of a graph may share memory, and which are changed."""

    __slots__ = ("_inner",)

    def __init__(self, inner: InnerAliasDb) -> None:
        self._inner = inner

    def may_contain_alias(self, one: object, other: object) -> bool:
        """Whether one value, or something in it, may share memory with the other."""
        return self._inner.may_contain_alias(_values(one), _values(other))

    def has_writers(self, item: Handle[Any]) -> bool:
        """Whether a value, or an input or output of a node, may be changed."""
        if isinstance(item._inner, InnerNode):
            return self._inner.node_has_writers(item._inner)
        return self._inner.has_writers(item._inner)

    def move_before_topologically_valid(
        self, node: Handle[InnerNode], other: Handle[InnerNode]
    ) -> bool:
        """Move a node before another where that changes no result; says whether it could."""
        return self._inner.move(node._inner, other._inner, before=True)

    def move_after_topologically_valid(
        self, node: Handle[InnerNode], other: Handle[InnerNode]
    ) -> bool:
        """Move a node after another where that changes no result; says whether it could."""
        return self._inner.move(node._inner, other._inner, before=False)

    def to_graphviz_str(self) -> str:
        """What points where, for graphviz."""
        return self._inner.graphviz()

    def dump(self) -> None:
        """Print what is known."""
        print(self._inner.describe())

    def __str__(self) -> str:
        return self._inner.describe()


def _values(item: Any) -> list[InnerValue]:
    return [value._inner for value in ([item] if isinstance(item, Value) else item)]
