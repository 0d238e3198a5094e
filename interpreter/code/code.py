"""Register code: what the assembler makes of a graph.

It is a tree of `Region`s, whose branches and loops have their shape: the machine walks it, plans
and native code are written from it.  Listings show the same steps in a row, with jumps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...frontend.foundations.made_once import made_once
from ...frontend.foundations.value_class import value_class
from ...ir.graphs.graph import Node, Value
from ...ops.table.table import Operator
from ...typecheck.types.types import Type
from .instructions import Instruction, bounds_of, check, opcode, operator_number

__all__ = ["Branch", "Code", "Region", "Repeat", "Step", "flatten", "parts_of", "place_of"]


@value_class(frozen=True, slots=True)
class Step:
    """One instruction and the node it was made from."""

    instruction: Instruction
    node: Node


@value_class(frozen=True, slots=True)
class Branch:
    """Two ways, by the truth of the value `condition`; the node's results are in `results`."""

    condition: int
    then: Region
    otherwise: Region
    node: Node
    results: Sequence[int] = ()


@value_class(frozen=True, slots=True)
class Repeat:
    """A loop.

    It ends when `count` rounds are done (if there is a count) or when register `condition`, looked
    at before each round, is false (if there is a condition).  `index` is the register that counts
    the rounds and `numbers` the one that holds what `range` gave; both are -1 without a count.
    What is carried from round to round, and is the node's results at the end, is in `carried`.
    """

    count: int | None
    condition: int | None
    index: int
    numbers: int
    body: Region
    node: Node
    carried: Sequence[int] = ()


Region = list[Step | Branch | Repeat]


def place_of(node: Node) -> Step:
    """A step that does nothing, and stands for where something else is done."""
    return Step((_FREE, ()), node)


@dataclass(eq=False)
class Code:
    """A function, assembled.

    Registers `0 … argument_count - 1` hold the arguments at the start.  `nodes[i]` is the node that
    `instructions[i]` was made from: it tells source span and inlined calls.
    """

    name: str
    body: Region
    argument_count: int
    register_count: int
    constants: Sequence[object]
    operators: Sequence[Operator]
    types: Sequence[Type]
    names: Sequence[str]
    instructions: tuple[Instruction, ...] = ()
    nodes: tuple[Node, ...] = ()

    def __post_init__(self) -> None:
        steps = list(flatten(self.body))
        self.instructions = tuple(instruction for instruction, _ in steps)
        self.nodes = tuple(node for _, node in steps)
        limits = {
            "R": self.register_count,
            "C": len(self.constants),
            "O": len(self.operators),
            "P": len(self.instructions),
            "T": len(self.types),
            "F": len(self.names),
        }
        bounds = bounds_of(limits)
        for instruction in self.instructions:
            check(instruction, bounds)

    @property
    def operand_count(self) -> int:
        """How many operands all instructions have together: a measure of its text as a plan."""
        operands = (each for instruction in self.instructions for each in instruction)
        return sum(len(each) if isinstance(each, tuple) else 1 for each in operands)

    def called(self, step: Step) -> Operator | None:
        """The operator that a step calls, None if it calls none."""
        number = operator_number(step.instruction)
        return None if number is None else self.operators[number]

    @made_once
    def called_by(self) -> dict[Node, Operator]:
        """The operators that nodes call."""
        found = dict[Node, Operator]()
        for instruction, node in zip(self.instructions, self.nodes, strict=True):
            number = operator_number(instruction)
            if number is not None:
                found[node] = self.operators[number]
        return found

    def whole_of(self, value: Value) -> Value:
        """The tensor that a value is a part of, as far as the code's operators tell."""
        while True:
            entry = self.called_by.get(value.node)
            if entry is None or not (entry.is_view or entry.is_in_place):
                return value
            value = value.node.inputs[0]

    @property
    def has_loop(self) -> bool:
        return any(isinstance(part, Repeat) for part in parts_of(self.body))

    def __repr__(self) -> str:
        return f"<code of {self.name}: {len(self.instructions)} instructions>"


def parts_of(region: Sequence[Step | Branch | Repeat]) -> Iterator[Step | Branch | Repeat]:
    """All parts of a region, those inside others too."""
    for part in region:
        yield part
        if isinstance(part, Branch):
            yield from parts_of(part.then)
            yield from parts_of(part.otherwise)
        elif isinstance(part, Repeat):
            yield from parts_of(part.body)


_JUMP, _BRANCH, _BRANCH_IF, _RANGE, _NEXT, _FREE = map(
    opcode, ("jump", "branch", "branch_if", "range", "next", "free")
)


def flatten(region: Region) -> list[tuple[Instruction, Node]]:
    """The steps in a row, with jumps for structure."""
    steps: list[tuple[Instruction, Node]] = []
    _flatten(region, steps)
    return steps


def _flatten(region: Region, steps: list[tuple[Instruction, Node]]) -> None:
    for part in region:
        if isinstance(part, Step):
            steps.append((part.instruction, part.node))
        elif isinstance(part, Branch):
            _flatten_branch(part, steps)
        else:
            _flatten_repeat(part, steps)


def _flatten_branch(part: Branch, steps: list[tuple[Instruction, Node]]) -> None:
    at = len(steps)
    steps.append(((_JUMP, 0), part.node))
    _flatten(part.then or part.otherwise, steps)
    if not part.then:
        steps[at] = ((_BRANCH_IF, part.condition, len(steps)), part.node)
    elif part.otherwise:
        over = len(steps)
        steps.append(((_JUMP, 0), part.node))
        steps[at] = ((_BRANCH, part.condition, len(steps)), part.node)
        _flatten(part.otherwise, steps)
        steps[over] = ((_JUMP, len(steps)), part.node)
    else:
        steps[at] = ((_BRANCH, part.condition, len(steps)), part.node)


def _flatten_repeat(part: Repeat, steps: list[tuple[Instruction, Node]]) -> None:
    if part.count is not None:
        steps.append(((_RANGE, part.numbers, part.count), part.node))
    head = len(steps)
    if part.condition is not None:
        steps.append(((_BRANCH, part.condition, 0), part.node))
    if part.count is not None:
        steps.append(((_NEXT, part.index, part.numbers, 0), part.node))
    first = len(steps)
    _flatten(part.body, steps)
    steps.append(((_JUMP, head), part.node))
    for at in range(head, first):
        instruction, node = steps[at]
        steps[at] = ((*instruction[:-1], len(steps)), node)
