"""Finding chains in register code (see `chaining`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ...ir.graphs.graph import Node, Value
from ...ir.graphs.kinds import asks_for_form
from ...ops.table.direct import formulas_of
from ...ops.table.formula import Formula
from ...ops.table.record import Operator
from ...typecheck.types.types import TENSOR
from ..code.code import Branch, Code, Region, Repeat, Step
from ..code.instructions import read_numbers, row
from .chaining import Chain, Link

__all__ = ["Found", "find_chains"]

_CALLS: Final = frozenset({"call1", "call2", "call3", "call"})
_OTHERS: Final = frozenset({"method", "function"})

_JOINING: Final = frozenset(
    {
        *("add", "subtract", "subtract_from", "multiply"),
        *("clamp", "clamp_high", "clamp_low", "relu", "relu6", "leaky_relu"),
        *("hardsigmoid", "hardswish", "sigmoid", "silu", "tanh", "gelu", "gelu_tanh", "mish"),
    }
)
"""Formulas of float32 that may follow."""


class Found(NamedTuple):
    """A chain in a region: the positions of its `links`, and the branches it does not survive."""

    chain: Chain
    links: tuple[int, ...]
    ended_by: tuple[Branch, ...]


def find_chains(code: Code, region: Region) -> dict[int, Found]:
    """The chains of a region, by where they begin."""
    found = dict[int, Found]()
    if not any(map(_is_head, code.operators)):
        return found
    taken = set[int]()
    for position, part in enumerate(region):
        if position in taken or not isinstance(part, Step):
            continue
        entry = _called(code, part)
        if entry is not None and _is_head(entry):
            links, positions, ended_by = _followers(code, region, position)
            if links:
                found[position] = Found(Chain(entry, links), tuple(positions), tuple(ended_by))
                taken.update(positions)
    return found


def _called(code: Code, step: Step) -> Operator | None:
    """The operator that a step calls for a tensor."""
    if row(step.instruction).name not in _CALLS or step.node.output.type != TENSOR:
        return None
    inputs = len(step.node.inputs)
    return code.called(step) if len(read_numbers(step.instruction)) == inputs else None


def _is_head(entry: Operator) -> bool:
    return entry.later is not None or entry.scales is not None


def _followers(
    code: Code, region: Region, start: int
) -> tuple[list[Link], list[int], list[Branch]]:
    head = region[start]
    assert isinstance(head, Step)
    value, links, positions = head.node.output, list[Link](), list[int]()
    ended_by, maybe = list[Branch](), list[Branch]()
    for position in range(start + 1, len(region)):
        part = region[position]
        if isinstance(part, Repeat):
            break
        if isinstance(part, Branch):
            if not (_is_harmless(code, part.then) and _is_harmless(code, part.otherwise)):
                maybe.append(part)
            continue
        link = _link(code, part, value)
        if link is not None:
            links.append(link)
            positions.append(position)
            ended_by += maybe
            value, maybe = part.node.output, []
        elif not _is_harmless(code, [part]):
            break
    return links, positions, ended_by


def _is_harmless(code: Code, region: Region) -> bool:
    """Whether nothing in a region writes to arrays, or takes long."""
    for part in region:
        if isinstance(part, Repeat):
            return False
        if isinstance(part, Branch):
            if not (_is_harmless(code, part.then) and _is_harmless(code, part.otherwise)):
                return False
            continue
        if row(part.instruction).name in _OTHERS:
            return False
        entry = code.called(part)
        if entry is not None and ("!" in entry.schema or _is_head(entry)):
            return False
    return True


def _link(code: Code, step: Step, value: Value) -> Link | None:
    """A step that alone reads a value, and can be done along."""
    entry = _called(code, step)
    if entry is None or not _is_only_reader(step.node, value):
        return None
    place = next(i for i, each in enumerate(step.node.inputs) if each is value)
    if entry.scales is not None and place == 0:
        return Link(entry, None)
    numbers = read_numbers(step.instruction)
    formula = _formula(code, entry, numbers, place)
    return None if formula is None else Link(entry, formula)


def _is_only_reader(node: Node, value: Value) -> bool:
    """Whether no other node needs a tensor filled: what it is may be asked before."""
    return [use.user for use in value.uses if not asks_for_form(use.user)] == [node]


def _formula(code: Code, entry: Operator, numbers: Sequence[int], place: int) -> Formula | None:
    """The formula of an operator, or of the one that gives what it writes."""
    if entry.is_in_place and place != 0:
        return None
    for each in formulas_of(entry):
        fits = all(_is(code, numbers[at], wanted) for at, wanted in each.at.items())
        if fits and each.name in _JOINING and place in each.operands:
            others = (numbers[at] for at in each.operands if at != place)
            return None if each.checks and any(n >= 0 for n in others) else each
    return None


def _is(code: Code, number: int, wanted: object) -> bool:
    if number >= 0:
        return False
    constant = code.constants[-1 - number]
    return type(constant) is type(wanted) and constant == wanted
