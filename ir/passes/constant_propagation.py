"""What can be computed now is computed now.

    %3 = aten::mul(%two, %three)         ->   %3 = prim::Constant[value=6]()
    %4 = prim::If(%true)                 ->   (the nodes of the first block, in place)
    prim::Loop(%zero, ...)               ->   (nothing; the carried values are those before it)

Only values that cannot be changed take part (numbers, strings, None, tuples of them), so that
running the pass twice gives the same graph.  Outputs of branches that are the same on both sides,
and carried values that a loop does not change, are removed as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...typecheck.relations.relations import is_subtype
from ...typecheck.trees.typed import EnumMember
from ...typecheck.types.types import BOOL
from ..aliases.alias_analysis import is_mutable
from ..graphs.constants import MISSING, constant_value, create_constant, same_constant, type_of
from ..graphs.graph import Block, Graph, Node, Value
from ..graphs.kinds import KINDS, has_effects, is_random
from .context import PassContext
from .dead_code import eliminate_dead_code

__all__ = ["Propagation", "propagate_constants", "take_known_branches"]


def propagate_constants(graph: Graph, context: PassContext, asks_types: bool = True) -> bool:
    """Compute what depends on constants alone, and with `asks_types` what types tell of values;
    dead code goes if anything was computed."""
    propagation = Propagation(graph, context, asks_types)
    with graph.entered():
        propagation.block(graph.block)
    if propagation.changed:
        eliminate_dead_code(graph, context)
    return propagation.changed


def take_known_branches(graph: Graph) -> bool:
    """Put the nodes of the branch that is taken in the place of those that constants decide;
    whether there were any."""
    with graph.entered():
        return _take_known(graph.block)


def _take_known(block: Block) -> bool:
    changed = False
    for node in block.nodes:
        for inner in node.blocks:
            changed |= _take_known(inner)
        condition = constant_value(node.input) if node.kind == "prim::If" else MISSING
        if condition is not MISSING:
            _replace_by_block(node, node.blocks[0 if condition else 1])
            changed = True
    return changed


def _by_type(node: Node) -> bool | None:
    """Whether a value has one of some types, if its own type says it."""
    if node.kind != "prim::isinstance":
        return None
    given = node.input.type
    types = node.attributes["types"]
    if not isinstance(types, list):
        return None
    each = given.alternatives or (given,)
    if all(any(is_subtype(one, type) for type in types) for one in each):
        return True
    may = any(is_subtype(one, type) or is_subtype(type, one) for one in each for type in types)
    return None if may else False


class Propagation:
    """The walk over a graph's nodes."""

    def __init__(self, graph: Graph, context: PassContext, asks_types: bool = True) -> None:
        self.asks_types = asks_types
        self.graph = graph
        self.context = context
        self.changed = False

    def block(self, block: Block) -> None:
        for node in block.nodes:
            self.node(node)

    def node(self, node: Node) -> None:
        if node.kind == "prim::If":
            self.branch(node)
        elif node.kind == "prim::Loop":
            self.loop(node)
        elif self.asks_types and (answer := _by_type(node)) is not None:
            constant = create_constant(self.graph, answer, node.output.type).insert_before(node)
            node.output.replace_uses(constant.output)
            self.changed = True
        elif self.is_foldable(node):
            self.fold(node)
        else:
            for block in node.blocks:
                self.block(block)

    # -- operators

    def is_foldable(self, node: Node) -> bool:
        if node.is_constant or node.blocks or has_effects(node) or not node.outputs:
            return False
        kind = KINDS.get(node.kind)
        if kind is not None and not kind.foldable:
            return False
        if kind is None and (node.signature is None or node.signature.vararg):
            return False
        if is_random(node):
            return False
        return all(value.node.is_constant for value in node.inputs) and not any(
            is_mutable(value.type) for value in (*node.inputs, *node.outputs)
        )

    def fold(self, node: Node) -> None:
        values = [constant_value(value) for value in node.inputs]
        missing = any(value is MISSING for value in values)
        results = None if missing else self.compute(node, values)
        if results is None:
            return
        for output, result in zip(node.outputs, results, strict=True):
            type = output.type if result is None else type_of(result, output.type)
            constant = create_constant(self.graph, result, type).insert_before(node)
            output.replace_uses(constant.output)
        self.changed = True

    def compute(self, node: Node, values: Sequence[object]) -> Sequence[object] | None:
        """The results, or None if they cannot be computed."""
        match node.kind:
            case "prim::TupleConstruct":
                return [tuple(values)]
            case "prim::TupleUnpack":
                (elements,) = values
                return elements if isinstance(elements, tuple) else None
            case "prim::TupleIndex":
                elements, index = values
                if isinstance(elements, tuple) and isinstance(index, int):
                    count = len(elements)
                    return [elements[index]] if -count <= index < count else None
                return None
            case "prim::unchecked_cast":
                return None if values[0] is None else values
            case "prim::EnumName" | "prim::EnumValue":
                member = values[0]
                if not isinstance(member, EnumMember):
                    return None
                return [member.name if node.kind == "prim::EnumName" else member.value]
            case "prim::isinstance":
                return self.test_type(node, values[0])
        if node.signature is None or (node.outputs[0].type != BOOL and _has_members(values)):
            return None
        try:
            result = self.context.evaluate(node.signature, values)
        except Exception:
            # whatever is wrong will be told when the program runs
            return None
        return result if len(node.outputs) > 1 and isinstance(result, tuple) else [result]

    def test_type(self, node: Node, value: object) -> Sequence[object] | None:
        types = node.attributes["types"]
        type = type_of(value, node.input.type)
        if not isinstance(types, list):
            return None
        return [any(is_subtype(type, wanted) for wanted in types)]

    # -- branches

    def branch(self, node: Node) -> None:
        condition = constant_value(node.input)
        if condition is not MISSING:
            block = node.blocks[0 if condition else 1]
            self.block(block)
            _replace_by_block(node, block)
            self.changed = True
            return
        for block in node.blocks:
            self.block(block)
        self.remove_equal_outputs(node)

    def remove_equal_outputs(self, node: Node) -> None:
        one, other = node.blocks
        index = 0
        while index < len(node.outputs):
            value = self.common(node, one.outputs[index], other.outputs[index])
            if value is None:
                index += 1
                continue
            node.outputs[index].replace_uses(value)
            node.remove_output(index)
            one.remove_output(index)
            other.remove_output(index)
            self.changed = True

    def common(self, node: Node, one: Value, other: Value) -> Value | None:
        """The value that both sides give, if it is the same."""
        if one is other:
            return one
        if constant_value(one) is MISSING or constant_value(other) is MISSING:
            return None
        if not same_constant(one.node, other.node):
            return None
        constant = create_constant(self.graph, constant_value(one), one.type)
        return constant.insert_before(node).output

    # -- loops

    def loop(self, node: Node) -> None:
        trips, start = constant_value(node.inputs[0]), constant_value(node.inputs[1])
        if start is False or (isinstance(trips, int) and trips <= 0):
            for output, value in zip(node.outputs, node.inputs[2:], strict=True):
                output.replace_uses(value)
            node.destroy()
            self.changed = True
            return
        for block in node.blocks:
            self.block(block)
        self.remove_unchanged(node)

    def remove_unchanged(self, node: Node) -> None:
        body = node.blocks[0]
        for index in reversed(range(len(node.outputs))):
            if body.inputs[index + 1] is not body.outputs[index + 1]:
                continue
            before = node.inputs[index + 2]
            node.outputs[index].replace_uses(before)
            body.inputs[index + 1].replace_uses(before)
            node.remove_output(index)
            node.remove_input(index + 2)
            body.remove_output(index + 1)
            body.remove_input(index + 1)
            self.changed = True


def _has_members(values: Sequence[object]) -> bool:
    """Whether members of enumerations are among values; texts of them need their type."""
    return any(
        isinstance(value, EnumMember) or (isinstance(value, tuple) and _has_members(value))
        for value in values
    )


def _replace_by_block(node: Node, block: Block) -> None:
    """Put the nodes of one of its blocks in the place of a node."""
    for inner in block.nodes:
        inner.move_before(node)
    for output, value in zip(node.outputs, block.outputs, strict=True):
        output.replace_uses(value)
    node.destroy()
