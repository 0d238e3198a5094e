"""The text of a plan: Python source, one line an instruction, registers as local variables.

The text is made from this file's own templates, numbers of registers and table entries, and
decimal digits of whole-number constants.  No name or text of a program ever gets into it:
operators, types and other constants are reached by number (`o3`, `t1`, `c2`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from ...ir.graph import Node
from ...ops.table.declare import FLOAT_KERNELS
from ...ops.table.table import Operator
from ...typecheck.types import BOOL, FLOAT, INT, STRING, ClassType
from ..bounds.guard import OPERATOR, REGION
from ..code.code import Branch, Code, Region, Repeat, Step, place_of
from ..code.instructions import Row, read_numbers, row
from ..code.invariant import constant_reads
from .loop_tests import loop_test
from .plan_lines import (
    ABOVE,
    BELOW,
    ON_ARRAYS,
    ON_FLOAT32,
    ON_LISTS,
    OPERATORS,
    OUTSIDE,
    OVER_OPERAND,
    SHAPED,
    SHORT,
    TYPED,
    UNITS,
    WRAPPING,
)

__all__ = ["PlanSource", "on_float32", "write_plan"]

MANY = 2000
"""Instructions that a plan runs before it tells that it has."""

DEEPEST = 18
"""How deeply loops and branches may nest: CPython's compiler has a limit of 20 loops."""


@dataclass
class PlanSource:
    """A plan's text, and for each of its lines the step it was written from.

    `numbers` are the constants that the text wants as arrays of float32.
    """

    lines: list[str] = field(default_factory=list)
    steps: list[Step | None] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def add(self, depth: int, line: str, step: Step | None = None) -> None:
        self.lines.append(" " * depth + line)
        self.steps.append(step)


def on_float32(entry: Operator) -> Callable[..., object] | None:
    """What an operator comes to for an array of float32 with dimensions, if that is one kernel."""
    return FLOAT_KERNELS.get(entry.on_arrays or entry.forward)


def write_plan(
    code: Code,
    *,
    calls_all: bool = False,
    noted: frozenset[int] = frozenset(),
    counts: bool = False,
) -> PlanSource | None:
    """The source of a code's plan; None if the code nests too deeply for one.

    In one that `calls_all` a line follows operators with the numbers `noted` that tells what they
    did; other operators over tensors are called, none is written out.  One that `counts` tells
    `count` what it has run, at least whenever that is more than `MANY`, as the machine does.
    """
    if _depth(code.body) > DEEPEST:
        return None
    writer = _Writer(code, calls_all, noted, counts)
    arguments = ", ".join(f"r{i}" for i in range(code.argument_count))
    writer.source.add(0, f"def plan({arguments}):")
    if noted:
        writer.source.add(1, "note = running.record.steps.append")
    if counts:
        writer.source.add(1, "used = 0")
    writer.region(code.body, 1, code.nodes[-1])
    return writer.source


def _depth(region: Region) -> int:
    inner = [0]
    for part in region:
        if isinstance(part, Branch):
            inner.append(1 + max(_depth(part.then), _depth(part.otherwise)))
        elif isinstance(part, Repeat):
            inner.append(1 + _depth(part.body))
    return max(inner)


class _Writer:
    """The writing of one plan."""

    def __init__(self, code: Code, calls_all: bool, noted: frozenset[int], counts: bool) -> None:
        self.code = code
        self._noted = noted
        self._counts = counts
        self._used = 0
        over_tensors = (
            o.full_name
            for i, o in enumerate(code.operators)
            if "Tensor" in o.schema and i not in noted
        )
        self._called = frozenset(over_tensors if calls_all else ())
        self.source = PlanSource()
        self._kept: dict[tuple[int, int], str] = {}
        self._kept_count = 0
        self._tests: dict[int, tuple[Step, Step]] = {}
        self._written: set[int] = set()
        self._freed: frozenset[str] = frozenset()
        self._created = _created_once(code)

    def region(self, region: Region, depth: int, node: Node, *, is_round: bool = False) -> None:
        """Write the parts of a region; there is at least one line."""
        if not self._counts:
            self._parts(region, depth)
            return
        before, self._used, line = self._used, REGION, len(self.source.lines)
        self.source.add(depth, "", place_of(node))
        if is_round:
            self.source.add(depth, f"if used > {MANY}: count(used); used = 0", place_of(node))
        self._parts(region, depth)
        self.source.lines[line] += f"used += {self._used:d}"
        self._used = before

    def _parts(self, region: Region, depth: int) -> None:
        lines = len(self.source.lines)
        for position in range(len(region)):
            test = loop_test(region, position)
            if test is not None:
                self._tests[id(region[position])] = test
                self._written.update(map(id, test))
        for position, part in enumerate(region):
            following = region[position + 1] if position + 1 < len(region) else None
            if isinstance(part, Branch):
                before = region[position - 1] if position else None
                self._branch(part, depth, before if self._decides(before, part) else None)
            elif isinstance(part, Repeat):
                self._repeat(part, depth)
            elif not self._decides(part, following) and id(part) not in self._written:
                self._freed = self._freed_by(following)
                before = region[position - 1] if position else None
                if not self._forwarded(part, before, depth):
                    self._step(part, depth)
        if len(self.source.lines) == lines:
            self.source.add(depth, "pass")

    def _forwarded(self, step: Step, before: Step | Branch | Repeat | None, depth: int) -> bool:
        """Whether a step reads the slot just written; then it takes what was written."""
        if not isinstance(before, Step) or row(before.instruction).name != "set_slot":
            return False
        if row(step.instruction).name != "get_slot" or not (
            _is_plain_slot(step) and _is_plain_slot(before)
        ):
            return False
        _, owner, slot, value = before.instruction
        _, target, *read = step.instruction
        if read != [owner, slot]:
            return False
        assert isinstance(target, int)
        assert isinstance(value, int)
        self.source.add(depth, f"{self._value(target)} = {self._value(value)}", step)
        return True

    def _freed_by(self, part: Step | Branch | Repeat | None) -> frozenset[str]:
        """The registers that a part of code empties, if that is what it does."""
        if not isinstance(part, Step) or row(part.instruction).name != "free":
            return frozenset()
        registers = part.instruction[1]
        assert isinstance(registers, tuple)
        return frozenset(map(self._value, registers))

    @staticmethod
    def _decides(
        step: Step | Branch | Repeat | None, branch: Step | Branch | Repeat | None
    ) -> TypeGuard[Step]:
        """Whether a step does nothing but make the condition of the branch after it."""
        if not isinstance(step, Step) or not isinstance(branch, Branch):
            return False
        entry = row(step.instruction)
        return (
            entry.decides
            and step.instruction[1] == branch.condition
            and len(step.node.output.uses) == 1
        )

    def _branch(self, part: Branch, depth: int, test: Step | None) -> None:
        condition = self._value(part.condition)
        if test is not None:
            condition = self._line(test).partition(" = ")[2]
        if part.then or not part.otherwise or self._counts:
            self.source.add(depth, f"if {condition}:", test)
            self.region(part.then, depth + 1, part.node)
            if part.otherwise or self._counts:
                self.source.add(depth, "else:")
                self.region(part.otherwise, depth + 1, part.node)
        else:
            self.source.add(depth, f"if not ({condition}):", test)
            self.region(part.otherwise, depth + 1, part.node)

    def _repeat(self, part: Repeat, depth: int) -> None:
        before = dict(self._kept)
        for step in constant_reads(part):
            _, _, owner, slot = step.instruction
            assert isinstance(owner, int)
            assert isinstance(slot, int)
            if (owner, slot) not in self._kept:
                name = self._kept[owner, slot] = f"h{self._kept_count}"
                self._kept_count += 1
                self.source.add(depth, f"{name} = read_slot(r{owner}.slots[{slot}])", step)
        self._loop(part, depth)
        self._kept = before

    def _loop(self, part: Repeat, depth: int) -> None:
        test = None if part.condition is None else self._value(part.condition)
        if id(part) in self._tests:
            _, last = self._tests[id(part)]
            test = self._line(last).partition(" = ")[2]
        if part.count is None:
            self.source.add(depth, f"while {test or True}:")
        else:
            self.source.add(depth, f"for r{part.index} in range({self._value(part.count)}):")
            if test is not None:
                self.source.add(depth + 1, f"if not {test}: break")
        self.region(part.body, depth + 1, part.node, is_round=True)

    def _step(self, step: Step, depth: int) -> None:
        entry = row(step.instruction)
        if self._counts and entry.name in _LEAVING:
            self.source.add(depth, "count(used); used = 0", step)
        lines = self._noting(step) if self._noted else [self._line(step)]
        for line in lines:
            self.source.add(depth, line, step)
        if entry.name == "create" and step.instruction[1] in self._created:
            number = step.instruction[1]
            self.source.add(depth, f"s{number} = r{number}.slots", step)
        operator = self._operator(step)
        if entry.wraps or operator in WRAPPING:
            for line in self._checks(entry.name, step.instruction[2:]):
                self.source.add(depth, line.format(f"r{step.instruction[1]}"), step)

    def _noting(self, step: Step) -> list[str]:
        """The lines of a step with a note of what it did, before any operand is written over."""
        line = self._line(step)
        results, _, expression = line.partition(" = " if " = " in line else "= ")
        operands = dict(zip(row(step.instruction).kinds, step.instruction[1:], strict=True))
        if operands.get("O") not in self._noted or not expression:
            return [line]
        read = "".join(f"{self._value(number)}, " for number in read_numbers(step.instruction))
        note = f"note((b{operands['O']}, ({read}), x, None))"
        return [f"x = {expression}", note, f"{results} = x"]

    def _checks(self, name: str, operands: Sequence[object]) -> tuple[str, ...]:
        """The lines that keep a result in 64 bits: adding 1 can only make it too large."""
        if name in ("add_int", "sub_int"):
            for operand in operands if name == "add_int" else operands[1:]:
                constant = self._constant(operand)
                if isinstance(constant, int):
                    return ABOVE if (constant >= 0) == (name == "add_int") else BELOW
            return (*ABOVE, *BELOW)
        return OUTSIDE

    def _constant(self, operand: object) -> object:
        """The constant that an operand stands for, if it does."""
        if isinstance(operand, int) and operand < 0:
            return self.code.constants[-1 - operand]
        return None

    def _operator(self, step: Step) -> str | None:
        """The full name of the operator that a step calls."""
        for kind, operand in zip(row(step.instruction).kinds, step.instruction[1:], strict=True):
            if kind == "O":
                assert isinstance(operand, int)
                return self.code.operators[operand].full_name
        return None

    def _line(self, step: Step) -> str:
        entry = row(step.instruction)
        shown = {
            letter: self._operand(kind, operand)
            for (letter, kind), operand in zip(entry.operands, step.instruction[1:], strict=True)
        }
        if entry.name == "get_tensor" and step.instruction[2:] in self._kept:
            return f"{shown['a']} = {self._kept[step.instruction[2:]]}"  # type: ignore[index]
        if entry.name == "free":
            return shown["a"].replace(", ", " = ") + "None"
        if entry.plain and _is_plain_slot(step):
            line = entry.plain.format(**shown)
            owner = step.instruction[2 if entry.name == "get_slot" else 1]
            return (
                line.replace(f"r{owner}.slots[", f"s{owner}[") if owner in self._created else line
            )
        operator = self._operator(step)
        if operator is None:
            return entry.line.format(**shown)
        written = self._written_out(step, entry, operator, shown)
        if written is not None:
            self._used += OPERATOR
            return written
        if entry.name == "call_many":
            call = f"{shown['o']}({shown['b']})"
            return f"{shown['a']}= {call}" if shown["a"] else call
        return entry.line.format(**shown)

    def _written_out(
        self, step: Step, entry: Row, operator: str, shown: dict[str, str]
    ) -> str | None:
        """The line of an operator that is written out here; None for one that is called."""
        first = str(step.node.inputs[0].type) if step.node.inputs else ""
        template = OPERATORS.get(operator) or TYPED.get((operator, first))
        if operator in self._called:
            template = None
        values = [shown[letter].removesuffix(", ") for letter in "bcd" if letter in shown]
        values = ", ".join(values).split(", ")
        results = shown["a"].removesuffix(", ")
        if template is not None and "," not in results and ("{a}" in template) == bool(results):
            place, wanted = UNITS.get(operator, (0, values[0]))
            number = self._number(step) if "{k}" in template else ""
            if values[place] == wanted and number is not None:
                if results == values[0] or values[0] in self._freed:
                    template = OVER_OPERAND.get(operator, template)
                every = ", ".join(values)
                return template.format(*values, a=results, o=shown["o"], all=every, k=number)
        if results and "," not in results and operator not in self._called:
            for constants, line in SHAPED.get(operator, ()):
                if all(_is_constant(values[place], text) for place, text in constants.items()):
                    return line.format(*values, a=results, o=shown["o"], all=", ".join(values))
        template = self._on_arrays(shown["o"], operator)
        if template is ON_ARRAYS and first.endswith("[]") and operator in _OF_LISTS:
            template = ON_LISTS
        if template is not None and values[0].startswith("r") and results:
            target = shown["a"].rstrip() if entry.name == "call_many" else results
            number, every = f"p{shown['o'][1:]}", ", ".join(values)
            return template.format(values[0], a=target, o=shown["o"], p=number, all=every)
        return None

    def _on_arrays(self, name: str, operator: str) -> str | None:
        """The template of an operator that has a shorter form for ordinary arrays."""
        entry = self.code.operators[int(name[1:])]
        if operator in self._called:
            return None
        if on_float32(entry) is not None:
            return ON_FLOAT32
        return None if entry.on_arrays is None else ON_ARRAYS

    def _number(self, step: Step) -> str | None:
        """The name of an operator's second operand as an array; None if that is no constant."""
        operand = step.instruction[4]
        constant = self._constant(operand)
        if type(constant) is int or type(constant) is float:
            assert isinstance(operand, int)
            self.source.numbers.add(-1 - operand)
            return f"k{-1 - operand}"
        return None

    def _operand(self, kind: str, operand: object) -> str:
        if isinstance(operand, tuple):
            return "".join(f"{self._operand(kind[0], one)}, " for one in operand)
        if operand is None:
            return ""
        assert isinstance(operand, int)
        if kind in ("R", "V"):
            return self._value(operand)
        return f"{_PREFIX.get(kind, '')}{operand:d}"

    def _value(self, number: int) -> str:
        """A register or constant."""
        if number >= 0:
            return f"r{number:d}"
        constant = self.code.constants[-1 - number]
        if constant is None or constant is True or constant is False:
            return str(constant)
        if type(constant) is int:
            return f"{constant:d}" if constant >= 0 else f"({constant:d})"
        return f"c{-1 - number:d}"


def _is_constant(text: str, wanted: str) -> bool:
    """Whether an operand's text is that of a constant, or of any short one."""
    return text == wanted or (wanted is SHORT and text.strip("(-)").isdigit() and len(text) <= 18)


def _created_once(code: Code) -> frozenset[int]:
    """The registers that hold nothing but the objects which one instruction creates.

    Their slots are kept in a variable: a list that is the same as long as the object lives.
    """
    writers: dict[int, list[str]] = {}
    for instruction in code.instructions:
        entry = row(instruction)
        for kind, operand in zip(entry.kinds, instruction[1:], strict=True):
            if kind[0] == "R" and entry.name != "free":
                written = operand if isinstance(operand, tuple) else (operand,)
                for register in written:
                    assert isinstance(register, int)
                    writers.setdefault(register, []).append(entry.name)
    return frozenset(
        register
        for register, names in writers.items()
        if names == ["create"] and register >= code.argument_count
    )


_LEAVING = frozenset({"method", "function", "return"})
"""Instructions before which a plan that counts tells what it has run."""

_OF_LISTS = frozenset({"aten::cat", "aten::stack"})
"""Operators that refuse a list without tensors."""

_PLAIN = frozenset({INT, FLOAT, BOOL, STRING})


def _is_plain_slot(step: Step) -> bool:
    """Whether the slot that a step reads or writes holds plain values, never tensors."""
    node = step.node
    value = node.output if node.outputs else node.inputs[-1]
    owner = node.inputs[0].type if node.inputs else None
    name = node.attributes.get("name")
    if not isinstance(owner, ClassType) or not isinstance(name, str):
        return False
    return value.type in _PLAIN and owner.attributes[name].type in _PLAIN


_PREFIX = {"O": "o", "T": "t", "F": "n"}
