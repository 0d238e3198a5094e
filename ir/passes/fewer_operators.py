"""Operators that one other does, and operators that do nothing.

%2 = aten::expand(%x, %sizes, %implicit)         ->   (users of %2 use %x)
%3 = aten::mm(%a, %b)
%4 = aten::add(%c, %3, %one)                     ->   %4 = aten::addmm(%c, %a, %b, %one, %one)
%t = aten::t(%w)
%5 = aten::matmul(%x, %t); aten::add_(%5, %b)    ->   %5 = aten::linear(%x, %w, %b)
%6 = aten::dropout(%x, %p, %false)               ->   (users of %6 use %x)
"""

from __future__ import annotations

from ...typecheck.types.tensor_facts import facts_of
from ...typecheck.types.types import NONE, TENSOR, Type
from ..aliases.alias_db import AliasDb
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Graph, Node, Value
from .context import PassContext
from .dead_code import eliminate_dead_code
from .operators import insert_operator

__all__ = [
    "decompose_addmm",
    "fuse_addmm",
    "fuse_linear",
    "remove_detach",
    "remove_dropout",
    "remove_expands",
]


def remove_expands(graph: Graph, context: PassContext) -> bool:
    """Leave out the expansions that were not written but implied."""
    changed = False
    for node in graph.all_nodes:
        if node.kind == "aten::expand" and constant_value(node.inputs[2]) is True:
            node.output.replace_uses(node.inputs[0])
            node.destroy()
            changed = True
    return changed


def remove_dropout(graph: Graph, context: PassContext) -> bool:
    """Leave out dropout that is not training."""
    changed = False
    for node in graph.all_nodes:
        names = ("aten::dropout", "aten::dropout_", "aten::feature_dropout", "aten::alpha_dropout")
        if node.kind in names and constant_value(node.inputs[2]) is False:
            node.output.replace_uses(node.inputs[0])
            node.destroy()
            changed = True
    return changed


def remove_detach(graph: Graph, context: PassContext) -> bool:
    """Leave out what only cuts off gradients, which a frozen graph's constants need none of.

    It stays where code asks whether it gave the same object.
    """
    found = [
        node
        for node in graph.all_nodes
        if node.kind == "aten::detach"
        and not any(
            user.kind in ("aten::__is__", "aten::__isnot__") for user, _ in node.output.uses
        )
    ]
    for node in found:
        node.output.replace_uses(node.inputs[0])
        node.destroy()
    return bool(found)


def fuse_addmm(graph: Graph, context: PassContext) -> bool:
    """A product of matrices and a sum in one, where the sum has the product's sizes."""
    changed = False
    aliases: AliasDb | None = None
    for node in graph.all_nodes:
        if node.kind != "aten::add" or constant_value(node.inputs[-1]) != 1:
            continue
        for product, other in (node.inputs[:2], node.inputs[1::-1]):
            made = product.node
            if made.kind != "aten::mm" or len(product.uses) != 1 or made.owner is not node.owner:
                continue
            aliases = aliases or AliasDb(graph)
            if not _is_matrix(other.type) or any(map(aliases.has_writers, made.inputs)):
                continue
            one = create_constant(graph, 1, node.inputs[2].type).insert_before(node).output
            inputs = (other, *made.inputs, one, one)
            sum = insert_operator(context, node, "aten::addmm", "", inputs, node.output.type)
            node.output.replace_uses(sum)
            node.destroy()
            made.destroy()
            changed = True
            break
    return changed


def _is_matrix(type: Type) -> bool:
    """Whether a tensor is known to have at most two dimensions, which a sum must not add to."""
    facts = facts_of(type)
    return facts is not None and facts.sizes is not None and len(facts.sizes) <= 2


def decompose_addmm(graph: Graph, context: PassContext) -> bool:
    """The opposite, where nothing is scaled."""
    changed = False
    for node in graph.all_nodes:
        if node.kind != "aten::addmm" or not _unscaled(node):
            continue
        other, one, two = node.inputs[:3]
        product = insert_operator(context, node, "aten::mm", "", (one, two), TENSOR)
        inputs = (other, product, node.inputs[4])
        total = insert_operator(context, node, "aten::add", "Tensor", inputs, node.output.type)
        node.output.replace_uses(total)
        node.destroy()
        changed = True
    return changed


def _unscaled(node: Node) -> bool:
    return all(constant_value(value) == 1 for value in node.inputs[3:5])


def fuse_linear(graph: Graph, context: PassContext) -> bool:
    """A product with a transposed matrix, with or without a sum, as one linear operator."""
    changed = False
    aliases = AliasDb(graph)
    for node in list(graph.all_nodes):
        if node.kind == "aten::matmul" and node.inputs[1].node.kind == "aten::t":
            weight = node.inputs[1].node.inputs[0]
            facts = facts_of(weight.type)
            known = facts is not None and facts.sizes is not None
            if known and facts is not None and len(facts.sizes or ()) != 2:
                continue
            if aliases.has_writers(weight) or aliases.has_writers(node.inputs[0]):
                continue
            _make_linear(node, weight, context)
            changed = True
    if changed:
        eliminate_dead_code(graph, context)
    return changed


def _make_linear(product: Node, weight: Value, context: PassContext) -> None:
    end, bias = _added(product)
    if bias is None:
        bias = create_constant(product.graph, None, NONE).insert_before(end).output
    inputs = (product.inputs[0], weight, bias)
    result = insert_operator(context, end, "aten::linear", "", inputs, end.output.type)
    result.node.span = product.span
    end.output.replace_uses(result)
    if end is not product:
        for output in product.outputs:
            output.replace_uses_after(end, result)
        end.destroy()
    product.destroy()


def _added(product: Node) -> tuple[Node, Value | None]:
    """The sum that follows a product and what it adds, if nobody else uses the product."""
    if len(product.output.uses) != 1:
        return product, None
    (use,) = product.output.uses
    node = use.user
    if node.kind in ("aten::add", "aten::add_") and use.number == 0 and len(node.inputs) == 3:
        sizes = facts_of(node.inputs[1].type)
        vector = sizes is not None and sizes.sizes is not None and len(sizes.sizes) == 1
        same_block = node.owner is product.owner
        if vector and same_block and constant_value(node.inputs[2]) == 1:
            return node, node.inputs[1]
    return product, None


def fuse_add_relu(graph: Graph, context: PassContext) -> bool:
    """A sum and what makes its negative elements zero, as one operator."""
    changed = False
    for node in list(graph.all_nodes):
        sum = node.inputs[0].node if node.kind in ("aten::relu", "aten::relu_") else None
        fused = None if sum is None else _fused_sum(sum, node)
        if sum is None or fused is None or not AliasDb(graph).move(node, sum, before=False):
            continue
        made = insert_operator(context, node, *fused, sum.inputs, node.output.type)
        node.output.replace_uses(made)
        node.destroy()
        sum.destroy()
        changed = True
    return changed


def _fused_sum(sum: Node, relu: Node) -> tuple[str, str] | None:
    """The operator, with its overload, that stands for both; None if there is none."""
    if sum.signature is None or len(sum.output.uses) != 1:
        return None
    overload, in_place = sum.signature.overload, relu.kind == "aten::relu_"
    if sum.kind == "aten::add_" and in_place:
        return "aten::_add_relu_", overload
    into_out = overload == "out" and in_place
    takes = sum.kind == "aten::add" and (into_out or overload in ("Tensor", "Scalar"))
    return ("aten::_add_relu", overload) if takes else None
