"""The text of a plan: Python source, one line an instruction, registers as local variables.

The text is made from this file's own templates, numbers of registers and table entries, and
decimal digits of whole-number constants.  No name or text of a program ever gets into it:
operators, types and other constants are reached by number (`o3`, `t1`, `c2`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeGuard

import numpy as np

from ...ir.graph import Node
from ...ops.kernels import LARGE as JOINED
from ...ops.table.direct import has_direct_form
from ...ops.table.inline import ORDINARY, Inline, is_constant
from ...ops.table.listed import listed
from ...ops.table.record import Operator
from ..bounds.guard import OPERATOR, REGION
from ..code.code import Branch, Code, Region, Repeat, Step, place_of
from ..code.instructions import ROWS, read_numbers, row
from ..code.invariant import constant_reads
from ..code.reuse import LARGE
from .chains import Found, find_chains
from .groups import Run, find_runs
from .loop_tests import loop_test
from .row_groups import RowGroup
from .slots import created_once, is_plain_slot
from .source import PlanSource
from .stretches import Found as FoundStretch
from .stretches import find_stretches

__all__ = ["write_plan"]

_SMALL = 2**30 - 1
ABOVE = (
    f"if {{0}} > {_SMALL}:",
    f" if {{0}} > {2**63 - 1}: {{0}} -= {2**64}",
)
BELOW = (
    f"if {{0}} < -{_SMALL}:",
    f" if {{0}} < {-(2**63)}: {{0}} += {2**64}",
)
OUTSIDE = (
    f"if {{0}} > {_SMALL} or {{0}} < -{_SMALL}:",
    f" if {{0}} > {2**63 - 1} or {{0}} < {-(2**63)}: {{0}} = wrap({{0}})",
)
"""How a whole number is kept in 64 bits: one that may be too large or too small by less than 2**64,
and any.  Numbers of one digit, as CPython counts, are compared fast; nearly all are."""

BEGUN = JOINED // 8
"""Numbers of an input from which a chain is begun, if its result has `JOINED`."""

MANY = 2000
"""Instructions that a plan runs before it tells that it has."""

DEEPEST = 18
"""How deeply loops and branches may nest: CPython's compiler has a limit of 20 loops."""


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
    begin = len(writer.source.lines)
    writer.region(code.body, 1, code.nodes[-1])
    if writer.source.has_direct_forms:
        writer.source.lines.insert(begin, " if trial: tick()")
        writer.source.steps.insert(begin, None)
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
            i for i, o in enumerate(code.operators) if "Tensor" in o.schema and i not in noted
        )
        self._called = frozenset(over_tensors if calls_all else ())
        self.source = PlanSource()
        self._kept: dict[tuple[int, int], str] = {}
        self._kept_count = 0
        self._tests: dict[int, tuple[Step, Step]] = {}
        self._written: set[int] = set()
        self._freed: frozenset[str] = frozenset()
        self._created = created_once(code)
        self._ends: dict[int, str] = {}
        self._whole: dict[int, tuple[str, Found]] = {}
        is_plain = not (self._called or self._noted or counts)
        self._stretches = find_stretches(code) if is_plain else {}

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
        position = 0
        for start, found in sorted(self._stretches.get(id(region), {}).items()):
            self._row(region[position:start], depth)
            self._stretch(found, region[start : found.stop], depth)
            position = found.stop
        self._row(region[position:], depth)
        if len(self.source.lines) == lines:
            self.source.add(depth, "pass")

    def _stretch(self, found: FoundStretch, region: Region, depth: int) -> None:
        """Parts that are one call where native code knows what they run."""
        name = f"s{len(self.source.stretches)}"
        self.source.stretches[name] = found.stretch
        first = region[0] if isinstance(region[0], Step) else place_of(region[0].node)
        call = f"d{name}({', '.join(found.given)})"
        self.source.add(depth, f"if (made := {call} if warm{name} else None) is not None:", first)
        goals = [f"r{register}, " for register in found.stretch.results]
        if found.stretch.ends_in_list:
            goals[-1] = f"*{goals[-1]}"
        self.source.add(depth + 1, f"{''.join(goals)} = made", first)
        for register in found.emptied:
            self.source.add(depth + 1, f"r{register} = None", first)
        self.source.add(depth + 1, "made = None", first)
        self.source.add(depth, "else:", first)
        lines = len(self.source.lines)
        self._row(region, depth + 1)
        if len(self.source.lines) == lines:
            self.source.add(depth + 1, "pass")

    def _row(self, region: Region, depth: int, *, folds: bool = True) -> None:
        """Parts that stand one after the other; `folds` are those of rows that may be joined."""
        is_plain = not (self._called or self._noted)
        chained = self._find_chains(region) if is_plain else {}
        runs = find_runs(self.code, region, chained) if is_plain else {}
        folded = find_runs(self.code, region, chained, folds=True) if is_plain and folds else {}
        position = 0
        while position < len(region):
            run = folded.get(position) or runs.get(position)
            if id(region[position]) in self._whole:
                position = self._whole_chain(region, position, depth, chained)
            elif run is None:
                self._chained_part(region, position, depth, chained.get(position, ""))
                position += 1
            else:
                self._group(run, region, position, depth)
                position = run.stop

    def _find_chains(self, region: Region) -> dict[int, str]:
        """What stands in the place of the steps of chains, by their positions: what is called."""
        found = dict[int, str]()
        for position, each in find_chains(self.code, region).items():
            name = f"h{len(self.source.named)}"
            self.source.named[name] = each.chain.begin
            found[position] = name
            for index, place in enumerate(each.links):
                found[place] = f"{name}_{index}"
                self.source.named[found[place]] = partial(each.chain.join, index)
            between = set(range(position + 1, each.links[-1])) - set(each.links)
            if each.chain.is_known and all(_is_free(region[place]) for place in between):
                self._whole[id(region[position])] = name, each
            if each.ended_by:
                self.source.named[f"{name}_end"] = each.chain.finish
                self._ends |= dict.fromkeys(map(id, each.ended_by), f"{name}_end")
        return found

    def _whole_chain(
        self, region: Region, position: int, depth: int, chained: dict[int, str]
    ) -> int:
        """A chain with nothing between its operators but what empties registers; where it ends."""
        name, (chain, links, _) = self._whole[id(region[position])]
        whole = [step for step in region[position : links[-1] + 1] if isinstance(step, Step)]
        steps = [step for step in whole if not _is_free(step)]
        head, own, given = steps[0], list[tuple[bool, ...]](), list[str]()
        for before, step in zip([None, *steps[:-1]], steps, strict=True):
            mine = tuple(before and each is before.node.output for each in step.node.inputs)
            values = map(self._value, read_numbers(step.instruction))
            given += [each for each, is_own in zip(values, mine, strict=True) if not is_own]
            own.append(tuple(map(bool, mine)))
        self.source.whole[name] = partial(chain.whole, tuple(own[1:]))
        call = f"(made := d{name}({', '.join(given)}))"
        test = f"if warm{name} and {given[0]}.size >= {BEGUN} and {call} is not None:"
        self.source.add(depth, test, head)
        goal = steps[-1].instruction[1]
        assert isinstance(goal, int)
        for step in whole:
            if _is_free(step):
                self._step(step, depth + 1)
        self.source.add(depth + 1, f"{self._value(goal)} = made", head)
        self.source.add(depth + 1, "made = None", head)
        self.source.add(depth, "else:", head)
        for each in range(position, links[-1] + 1):
            self._chained_part(region, each, depth + 1, chained.get(each, ""))
        return links[-1] + 1

    def _chained_part(self, region: Region, position: int, depth: int, name: str) -> None:
        """A part that may be one of a chain, which `later` is left of where it is not done yet."""
        step = region[position]
        if not name:
            return self._part(region, position, depth)
        assert isinstance(step, Step)
        register = step.instruction[1]
        assert isinstance(register, int)
        goal = self._value(register)
        given = ", ".join(map(self._value, read_numbers(step.instruction)))
        if "_" in name:
            self.source.add(depth, "if later is not None:", step)
            self.source.add(depth + 1, f"{goal}, later = {name}(later, {given})", step)
        else:
            first, _, _ = given.partition(",")
            self.source.add(depth, "later = None", step)
            self.source.add(depth, f"if {first}.size >= {BEGUN}:", step)
            self.source.add(depth + 1, f"{goal}, later = {name}({given})", step)
        self.source.add(depth, "else:", step)
        self._part(region, position, depth + 1)

    def _part(self, region: Region, position: int, depth: int) -> None:
        part = region[position]
        following = region[position + 1] if position + 1 < len(region) else None
        before = region[position - 1] if position else None
        if isinstance(part, Branch):
            self._branch(part, depth, before if self._decides(before, part) else None)
        elif isinstance(part, Repeat):
            self._repeat(part, depth)
        elif not self._decides(part, following) and id(part) not in self._written:
            self._freed = self._freed_by(following)
            if not self._forwarded(part, before, depth):
                self._step(part, depth)

    def _group(self, run: Run, region: Region, begin: int, depth: int) -> None:
        """Operators that are computed together: where the operands are large by what makes ready
        for each call, else where native code knows calls beforehand."""
        name = f"g{len(self.source.named)}"
        self.source.named[name] = run.group
        first = region[begin]
        assert isinstance(first, Step)
        small, is_folded = "None", isinstance(run.group, RowGroup)
        least = 2 * JOINED if is_folded else JOINED
        sizes = " or ".join(f"r{register}.size >= {least}" for register in run.tested)
        given = ", ".join(map(self._given, run.given))
        if not is_folded:
            self.source.groups[name] = run.group
            small = f"d{name}({given}) if warm{name} else None"
        test = f"if (made := {name}({given}) if {sizes} else {small}) is not None:"
        self.source.add(depth, test, first)
        goal = ", ".join(f"r{register}" for register in run.results)
        if goal:
            self.source.add(depth + 1, f"{goal} = made", first)
        for register, step in run.passed:
            self.source.add(depth + 1, f"r{register} = {self._given(step)}", first)
        for register in run.emptied:
            self.source.add(depth + 1, f"r{register} = None", first)
        self.source.add(depth + 1, "made = None", first)
        self.source.add(depth, "else:", first)
        if is_folded:
            return self._row(region[begin : run.stop], depth + 1, folds=False)
        for position in range(begin, run.stop):
            self._part(region, position, depth + 1)

    def _given(self, source: int | Step) -> str:
        """What a group takes."""
        if isinstance(source, int):
            return f"r{source}"
        return f"({self._line(source).partition(' = ')[2]})"

    def _forwarded(self, step: Step, before: Step | Branch | Repeat | None, depth: int) -> bool:
        """Whether a step reads the slot just written; then it takes what was written."""
        if not isinstance(before, Step) or row(before.instruction).name != "set_slot":
            return False
        if row(step.instruction).name != "get_slot" or not (
            is_plain_slot(step) and is_plain_slot(before)
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
        if not _is_free(part):
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
            self._way(part, part.then, depth + 1)
            if part.otherwise or self._counts:
                self.source.add(depth, "else:")
                self._way(part, part.otherwise, depth + 1)
        else:
            self.source.add(depth, f"if not ({condition}):", test)
            self._way(part, part.otherwise, depth + 1)

    def _way(self, part: Branch, region: Region, depth: int) -> None:
        """One of the ways of a branch; a chain that cannot pass through it ends."""
        end = self._ends.get(id(part))
        if end is not None:
            line = f"if later is not None: later = {end}(later)"
            self.source.add(depth, line, place_of(part.node))
        self.region(region, depth, part.node)

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
        for line in self._checks(step):
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

    def _checks(self, step: Step) -> tuple[str, ...]:
        """The lines that keep a result in 64 bits: adding 1 can only make it too large."""
        entry, operator = row(step.instruction), self._operator(step)
        if operator is not None:
            forms = self.code.operators[operator].inline
            wraps = isinstance(step.instruction[1], int) and any(form.wraps for form in forms)
            return OUTSIDE if wraps else ()
        if entry.name in ("add_int", "sub_int"):
            for operand in step.instruction[2 if entry.name == "add_int" else 3 :]:
                constant = self._constant(operand)
                if isinstance(constant, int):
                    return ABOVE if (constant >= 0) == (entry.name == "add_int") else BELOW
            return (*ABOVE, *BELOW)
        return OUTSIDE if entry.wraps else ()

    def _constant(self, operand: object) -> object:
        """The constant that an operand stands for, if it does."""
        if isinstance(operand, int) and operand < 0:
            return self.code.constants[-1 - operand]
        return None

    def _entry(self, step: Step) -> Operator:
        """The operator that a step calls."""
        number = self._operator(step)
        assert number is not None
        return self.code.operators[number]

    @staticmethod
    def _operator(step: Step) -> int | None:
        """The number of the operator that a step calls."""
        opcode = step.instruction[0]
        assert isinstance(opcode, int)
        place = _OPERATOR_AT[opcode]
        if not place:
            return None
        operator = step.instruction[place]
        assert isinstance(operator, int)
        return operator

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
        if entry.plain and is_plain_slot(step):
            line = entry.plain.format(**shown)
            owner = step.instruction[2 if entry.name == "get_slot" else 1]
            return (
                line.replace(f"r{owner}.slots[", f"s{owner}[") if owner in self._created else line
            )
        operator = self._operator(step)
        if operator is not None:
            return self._call(step, operator, shown)
        return entry.line.format(**shown)

    def _call(self, step: Step, operator: int, shown: dict[str, str]) -> str:
        """The line of an operator: written out where one of its forms may stand for it."""
        entry, many = self.code.operators[operator], row(step.instruction).name == "call_many"
        every = ", ".join(shown[key].removesuffix(", ") for key in "bcd" if key in shown)
        call, operands = f"{shown['o']}({every})", every.split(", ")
        if operator not in self._called:
            result = "" if many else shown["a"]
            forms = entry.inline if result or not shown["a"] else ()
            written_out = self._written_out(forms, step, operands, result, call)
            if written_out:
                call = written_out
                self._used += OPERATOR
            elif entry.on_arrays is not None and operands[0].startswith("r") and shown["a"]:
                call = f"p{operator}({every}) if {ORDINARY.format(operands[0])} else {call}"
                self._used += OPERATOR
            if self._may_be_direct(entry, operands):
                self.source.direct.add(operator)
                form = listed(entry)
                given = every if form is None else form.written(operands)
                call = f"d{operator}({given}) if warm{operator} else {call}"
        if many:
            return f"{shown['a']}= {call}" if shown["a"] else call
        return f"{shown['a']} = {call}"

    def _may_be_direct(self, entry: Operator, operands: Sequence[str]) -> bool:
        """Whether an operator may have a direct form here."""
        is_learnt = has_direct_form(entry) or entry.later is not None
        is_given = any(operand.startswith("r") for operand in operands)
        return is_learnt and not self._counts and is_given

    def _written_out(
        self, forms: Sequence[Inline], step: Step, operands: list[str], result: str, call: str
    ) -> str:
        """What stands for the call of an operator: the forms that may stand here, one after the
        other, and last the call, unless a form before it always stands; empty if none may."""
        text = ""
        for form in forms:
            if form.writes == bool(result) or not self._may_stand(form, step, operands):
                continue
            here = self._form(form, step, operands)
            if form.over is not None and (result == operands[0] or operands[0] in self._freed):
                second = self._number(step) if "{k}" in form.text else operands[1]
                here = self._over_operand(form.over, here, operands[0], second)
            if not form.given:
                return text + here
            text += f"{here} if {form.given.format(*operands)} else "
        return text and text + call

    def _may_stand(self, form: Inline, step: Step, operands: Sequence[str]) -> bool:
        """Whether a form may stand for an operator, as far as that is known before it runs."""
        if "{p}" in form.text and self._entry(step).on_arrays is None:
            return False
        if "{k}" in form.text:
            constant = self._constant(read_numbers(step.instruction)[1])
            if type(constant) is not int and type(constant) is not float:
                return False
        if form.of and form.of != " ".join(str(value.type) for value in step.node.inputs):
            return False
        return all(is_constant(operands[place], wanted) for place, wanted in form.at.items())

    def _form(self, form: Inline, step: Step, operands: Sequence[str]) -> str:
        """The text of a form on these operands."""
        self.source.named.update(form.names)
        number = self._number(step) if "{k}" in form.text else ""
        ordinary = f"p{self._operator(step)}"
        return form.text.format(*operands, k=number, p=ordinary, all=", ".join(operands))

    def _over_operand(self, kernel: np.ufunc, text: str, first: str, second: str) -> str:
        """A form whose result may lie where its first operand lay, which nobody needs again."""
        self.source.named[kernel.__name__] = kernel
        return (
            f"({text} if {first}.size < {LARGE} else reuse({kernel.__name__}, {first}, {second}))"
        )

    def _number(self, step: Step) -> str:
        """The name of an operator's second operand, a constant number, as an array."""
        place = -1 - read_numbers(step.instruction)[1]
        self.source.numbers.add(place)
        return f"k{place}"

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


_OPERATOR_AT = tuple(1 + entry.kinds.index("O") if "O" in entry.kinds else 0 for entry in ROWS)
"""Where an instruction's operator is, by opcode; 0 if it has none."""


def _is_free(part: Step | Branch | Repeat | None) -> TypeGuard[Step]:
    """Whether a part of code does nothing but empty registers."""
    return isinstance(part, Step) and row(part.instruction).name == "free"


_LEAVING = frozenset({"method", "function", "return"})
"""Instructions before which a plan that counts tells what it has run."""

_PREFIX = {"O": "o", "T": "t", "F": "n"}
