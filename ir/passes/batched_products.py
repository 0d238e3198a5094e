"""Products of matrices that may be computed together.

    %3 = aten::mm(%a, %b); %4 = aten::mm(%c, %d); ...
    %5 = aten::add(%3, %4, %one); ...
->  %9 = prim::MMTreeReduce(%a, %c, ..., %b, %d, ...)

    %3 = aten::mm(%a, %b); %4 = aten::mm(%a, %c); ...
->  %8 : Tensor[] = prim::MMBatchSide(%true, %a, %b, %c, ...)
    %3, %4, ... = prim::ListUnpack(%8)

Only of matrices that nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...typecheck.types.types import BOOL, TENSOR, ListType
from ..aliases.alias_db import AliasDb
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Block, Graph, Node, Value
from .context import PassContext
from .dead_code import eliminate_dead_code
from .operators import insert_operator

__all__ = ["batch_products"]

_FEWEST_ADDED = 4
_FEWEST_OF_ONE = 8


def batch_products(graph: Graph, context: PassContext) -> bool:
    """Compute sums of products, and products with a common side, at once."""
    aliases = AliasDb(graph)
    changed = False
    for block in graph.all_blocks:
        changed = _batch_sums(block, aliases, context) or changed
        for side in (0, 1):
            changed = _batch_side(block, side, aliases, context) or changed
    if changed:
        eliminate_dead_code(graph, context)
    return changed


def _products(block: Block, aliases: AliasDb) -> list[Node]:
    """The products of a block whose operands nothing changes."""
    found = [node for node in block.nodes if node.kind == "aten::mm"]
    return [node for node in found if not any(map(aliases.has_writers, node.inputs))]


def _batch_sums(block: Block, aliases: AliasDb, context: PassContext) -> bool:
    leaves = {node.output: [node] for node in _products(block, aliases)}
    roots = dict[Value, list[Node]]()
    for node in block.nodes:
        if node.kind != "aten::add" or constant_value(node.inputs[-1]) != 1:
            continue
        parts = [leaves.get(value) for value in node.inputs[:2]]
        if parts[0] is None or parts[1] is None or any(len(v.uses) != 1 for v in node.inputs[:2]):
            continue
        for value in node.inputs[:2]:
            roots.pop(value, None)
        roots[node.output] = leaves[node.output] = parts[0] + parts[1]
    changed = False
    for total, products in roots.items():
        if len(products) >= _FEWEST_ADDED and not aliases.has_writers(total):
            inputs = [product.inputs[side] for side in (0, 1) for product in products]
            name = "prim::MMTreeReduce"
            made = insert_operator(context, total.node, name, "", inputs, total.type)
            total.replace_uses(made)
            changed = True
    return changed


def _batch_side(block: Block, side: int, aliases: AliasDb, context: PassContext) -> bool:
    groups = dict[Value, list[Node]]()
    for node in _products(block, aliases):
        group = groups.setdefault(node.inputs[side], [])
        other = node.inputs[1 - side].node
        if not group or (other is not group[0] and other.is_before(group[0])):
            group.append(node)
    changed = False
    for common, products in groups.items():
        if len(products) >= _FEWEST_OF_ONE and all(node.owner is block for node in products):
            _compute_together(common, side, products, context)
            changed = True
    return changed


def _compute_together(
    common: Value, side: int, products: Sequence[Node], context: PassContext
) -> None:
    first, graph = products[0], products[0].graph
    is_first = create_constant(graph, side == 0, BOOL).insert_before(first).output
    inputs = (is_first, common, *(product.inputs[1 - side] for product in products))
    name = "prim::MMBatchSide"
    made = insert_operator(context, first, name, "", inputs, ListType(TENSOR))
    types = [product.output.type for product in products]
    parts = graph.create("prim::ListUnpack", (made,), types, first.span).insert_before(first)
    for product, part in zip(products, parts.outputs, strict=True):
        product.output.replace_uses(part)
        product.destroy()
