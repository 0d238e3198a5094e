"""What is computed twice is computed once.

    %a = aten::relu(%x)
    %b = aten::relu(%x)          ->   %a = aten::relu(%x)
    %c = aten::mul(%a, %b)            %c = aten::mul(%a, %a)

Only where nobody changes what goes in or comes out, nothing random is drawn, and the two results do
not both get known outside as two objects.  What an outer block computes counts for inner ones.
"""

from __future__ import annotations

from collections.abc import Hashable

from ...typecheck.types.types import Type
from ..aliases.alias_db import AliasDb
from ..graphs.constants import same_constant
from ..graphs.graph import Block, Graph, Node
from ..graphs.kinds import KINDS, has_effects, is_random
from ..text.text import type_text
from .constant_pooling import common_to_equal
from .context import PassContext

__all__ = ["merge_common"]


def merge_common(graph: Graph, context: PassContext) -> bool:
    """Let users of the second of two equal nodes use the first."""
    return _Merging(graph).block(graph.block, ())


class _Merging:
    def __init__(self, graph: Graph) -> None:
        self.aliases = AliasDb(graph)

    def block(self, block: Block, outer: tuple[dict[Hashable, list[Node]], ...]) -> bool:
        known: dict[Hashable, list[Node]] = {}
        changed = False
        for node in block.nodes:
            for inner in node.blocks:
                changed |= self.block(inner, (*outer, known))
            if node.blocks or not self.is_mergeable(node):
                continue
            key = _key(node)
            earlier = self.find(node, key, (*outer, known))
            if earlier is None:
                known.setdefault(key, []).append(node)
                continue
            for mine, theirs in zip(node.outputs, earlier.outputs, strict=True):
                mine.replace_uses(theirs)
            node.destroy()
            changed = True
        return changed

    def find(
        self, node: Node, key: Hashable, tables: tuple[dict[Hashable, list[Node]], ...]
    ) -> Node | None:
        for table in reversed(tables):
            for other in table.get(key, ()):
                if _same_attributes(node, other) and self.may_be_one(node, other):
                    return other
        return None

    def may_be_one(self, node: Node, other: Node) -> bool:
        """Whether nobody notices; reads of one attribute give one object as it is."""
        pairs = zip(node.outputs, other.outputs, strict=True)
        return node.kind == "prim::GetAttr" or all(self.aliases.may_be_one(a, b) for a, b in pairs)

    def is_mergeable(self, node: Node) -> bool:
        if has_effects(node) or is_random(node) or not node.outputs:
            return False
        kind = KINDS.get(node.kind)
        if kind is not None and kind.effect == "write":
            return False
        if kind is None and node.signature is None:
            return False
        if node.signature is not None and node.signature.is_mutable:
            return False
        return not self.aliases.node_has_writers(node)


def _key(node: Node) -> Hashable:
    if node.is_constant:
        return node.kind, common_to_equal(node)
    overload = node.signature.overload if node.signature is not None else ""
    types = tuple(type_text(output.type) for output in node.outputs)
    return (node.kind, overload, tuple(value.id for value in node.inputs), types)


def _same_attributes(one: Node, other: Node) -> bool:
    if one.is_constant:
        return same_constant(one, other)
    if one.attributes.keys() != other.attributes.keys():
        return False
    return all(_equal(one.attributes[name], other.attributes[name]) for name in one.attributes)


def _equal(one: object, other: object) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, (Type, str, int, float)):
        return type(one) is type(other) and one == other
    return one is other
