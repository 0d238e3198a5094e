"""What branches tell of numbers and of the lengths of lists.

    %1 = aten::ne(%x, %four)
    prim::If(%1)
      block0():  prim::RaiseException(...)
      block1():                                       (the same)
    %2 = aten::add(%x, %one)                    ->    %2 = aten::add(%four, %one)

After a branch that raises, the condition of the other one holds.  Inside a branch its condition
does, and after both what both tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...typecheck.types.types import BOOL, INT
from ..aliases.alias_db import AliasDb
from ..graphs.constants import constant_value, create_constant
from ..graphs.graph import Block, Graph, Node, Value
from .context import PassContext

__all__ = ["refine_lengths", "refine_numbers"]

Facts = dict[Value, int]
"""The numbers, and the lengths of the lists, that are known."""


def refine_numbers(graph: Graph, context: PassContext) -> bool:
    """Use the constant that a number is known to be."""

    def key(value: Value) -> Value | None:
        return value if value.type == INT else None

    return _Refinement(key, _use_number).block(graph.block, {})[1]


def refine_lengths(graph: Graph, context: PassContext) -> bool:
    """Use the constant that a list's length is known to be, where nobody changes the list."""
    aliases = AliasDb(graph)

    def key(value: Value) -> Value | None:
        node = value.node
        if node.kind != "aten::len" or node.inputs[0].type.list_of is None:
            return None
        return None if aliases.has_writers(node.inputs[0]) else node.inputs[0]

    return _Refinement(key, _use_length).block(graph.block, {})[1]


def _use_number(node: Node, facts: Mapping[Value, int]) -> bool:
    changed = False
    for index, value in enumerate(node.inputs):
        if value in facts and not value.node.is_constant:
            constant = create_constant(node.graph, facts[value], INT).insert_before(node)
            node.set_input(index, constant.output)
            changed = True
    return changed


def _use_length(node: Node, facts: Mapping[Value, int]) -> bool:
    if node.kind != "aten::len" or node.inputs[0] not in facts or not node.output.uses:
        return False
    constant = create_constant(node.graph, facts[node.inputs[0]], INT).insert_before(node)
    node.output.replace_uses(constant.output)
    return True


class _Refinement:
    def __init__(
        self,
        key: Callable[[Value], Value | None],
        use: Callable[[Node, Mapping[Value, int]], bool],
    ) -> None:
        self.key = key
        self.use = use

    def block(self, block: Block, known: Facts) -> tuple[Facts | None, bool]:
        """What is known at the end of a block, None if that is not reached; whether it changed."""
        facts, changed = dict(known), False
        for node in block.nodes:
            if node.kind == "prim::If":
                after, inner = self.branch(node, facts)
                changed |= inner
                if after is None:
                    return None, changed
                facts = after
                continue
            changed |= self.use(node, facts)
            if node.kind == "prim::RaiseException":
                return None, changed
            for inner_block in node.blocks:
                changed |= self.block(inner_block, facts)[1]
        return facts, changed | self.use(block.ret, facts)

    def branch(self, node: Node, known: Facts) -> tuple[Facts | None, bool]:
        told = [self.told(node.input, truth) for truth in (True, False)]
        ends: list[Facts] = []
        changed = False
        for block, facts in zip(node.blocks, told, strict=True):
            end, inner = self.block(block, {**known, **(facts or {})})
            changed |= inner
            if end is not None and facts is not None:
                ends.append(end)
        return _common(ends), changed | _joined(node, told)

    def told(self, condition: Value, truth: bool) -> Facts | None:
        """What holds if a condition is true, or false; None if it cannot be."""
        node, constant = condition.node, constant_value(condition)
        if isinstance(constant, bool):
            return {} if constant == truth else None
        if node.kind == "aten::__not__":
            return self.told(node.input, not truth)
        if node.kind == "prim::If":
            return self.told_by_branches(node, node.outputs.index(condition), truth)
        if node.kind not in ("aten::eq", "aten::ne") or len(node.inputs) != 2:
            return {}
        value, number = node.inputs[0], constant_value(node.inputs[1])
        equal = truth == (node.kind == "aten::eq")
        if value.type == BOOL and isinstance(number, bool):
            return self.told(value, number == equal)
        key = self.key(value)
        if not equal or key is None or not isinstance(number, int):
            return {}
        return {key: number}

    def told_by_branches(self, node: Node, index: int, truth: bool) -> Facts | None:
        possible: list[Facts] = []
        for block, outcome in zip(node.blocks, (True, False), strict=True):
            chosen = self.told(node.input, outcome)
            given = self.told(block.outputs[index], truth)
            if chosen is not None and given is not None:
                possible.append({**chosen, **given})
        return _common(possible)


def _joined(node: Node, told: list[Facts | None]) -> bool:
    """Use a value in the place of a branch that gives it, or a number where it is known to be
    that number."""
    changed = False
    ends = zip(node.outputs, *(block.outputs for block in node.blocks), strict=True)
    for output, first, second in ends:
        for number, value, facts in ((first, second, told[0]), (second, first, told[1])):
            known = None if facts is None else facts.get(value)
            is_outside = value.node.owner not in node.blocks
            if known is not None and is_outside and constant_value(number) == known and output.uses:
                output.replace_uses(value)
                changed = True
    return changed


def _common(all_facts: list[Facts]) -> Facts | None:
    """What all tell; None if there is none at all."""
    if not all_facts:
        return None
    first, *others = all_facts
    return {k: v for k, v in first.items() if all(o.get(k) == v for o in others)}
