"""The lines of a plan that stand for single instructions.

An operator is called, or written out by one of the forms of its record.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ...ops.table.direct import has_direct_form
from ...ops.table.inline import ORDINARY, Inline, is_constant
from ...ops.table.listed import listed
from ...ops.table.record import Operator
from ...typecheck.types.types import BOOL, INT, STRING, DictType, Type
from ..bounds.guard import OPERATOR
from ..code.code import Code, Step
from ..code.instructions import operator_number, read_numbers, row
from ..code.reuse import LARGE
from ..values.matching import EXACT
from .masks import Masks
from .slots import created_once, is_plain_slot
from .source import PlanSource

__all__ = ["StepWriter"]

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

_LEAVING = frozenset({"method", "function", "return"})
"""Instructions before which a plan that counts tells what it has run."""

_PREFIX = {"O": "o", "T": "t", "F": "n"}


def _equal_themselves(type: Type) -> bool:
    """Whether all keys of dicts of a type do, which floats need not: see `make_dict`."""
    return isinstance(type, DictType) and type.key in (STRING, INT, BOOL)


class StepWriter:
    """The writing of the steps of one plan.

    Operators with the numbers `called` are called, none of them is written out; a line with a note
    follows those `noted`; a plan that `counts` tells what it has run.  Of the steps `left_out`, and
    of all in a draft, native code knows no calls.

    Attributes:
        kept: the names of slots that are read before a loop, by register and slot.
        freed: the registers that are emptied behind the step that is written next.
        used: what the steps of a region count for that were written out.
    """

    def __init__(
        self,
        code: Code,
        source: PlanSource,
        *,
        called: frozenset[int],
        noted: frozenset[int],
        counts: bool,
        left_out: Collection[Step] = (),
        is_draft: bool = False,
    ) -> None:
        self.code, self.source, self._left_out = code, source, left_out
        self._is_draft = is_draft
        self._called, self._noted, self._counts = called, noted, counts
        self._created, self._masks = created_once(code), Masks(code)
        self.kept: dict[tuple[int, int], str] = {}
        self.freed: frozenset[str] = frozenset()
        self.used = 0

    def write(self, step: Step, depth: int) -> None:
        """Write the lines of a step."""
        entry = row(step.instruction)
        if self._counts and entry.name in _LEAVING:
            self.source.add(depth, "count(used); used = 0", step)
        lines = self._noting(step) if self._noted else [self.line(step)]
        for line in lines:
            self.source.add(depth, line, step)
        if entry.name == "create":
            number = step.instruction[1]
            assert isinstance(number, int)
            self.name_slots([number], depth, step)
        for line in self._checks(step):
            self.source.add(depth, line.format(f"r{step.instruction[1]}"), step)

    def name_slots(self, registers: Sequence[int], depth: int, step: Step) -> None:
        """Write the names for slots of objects that registers hold from now on, where they have
        such names."""
        for number in registers:
            if number in self._created:
                self.source.add(depth, f"s{number} = r{number}.slots", step)

    def _noting(self, step: Step) -> list[str]:
        """The lines of a step with a note of what it did, before any operand is written over."""
        line = self.line(step)
        results, _, expression = line.partition(" = " if " = " in line else "= ")
        operands = dict(zip(row(step.instruction).kinds, step.instruction[1:], strict=True))
        if operands.get("O") not in self._noted or not expression:
            return [line]
        read = "".join(f"{self.value(number)}, " for number in read_numbers(step.instruction))
        note = f"note((b{operands['O']}, ({read}), x, None))"
        return [f"x = {expression}", note, f"{results} = x"]

    def _checks(self, step: Step) -> tuple[str, ...]:
        """The lines that keep a result in 64 bits: adding 1 can only make it too large."""
        entry, called = row(step.instruction), self.code.called(step)
        if called is not None:
            forms = called.inline
            wraps = isinstance(step.instruction[1], int) and any(form.wraps for form in forms)
            return OUTSIDE if wraps else ()
        if entry.name in ("add_int", "sub_int"):
            for operand in step.instruction[2 if entry.name == "add_int" else 3 :]:
                constant = self.constant(operand)
                if isinstance(constant, int):
                    return ABOVE if (constant >= 0) == (entry.name == "add_int") else BELOW
            return (*ABOVE, *BELOW)
        return OUTSIDE if entry.wraps else ()

    def constant(self, operand: object) -> object:
        """The constant that an operand stands for, if it does."""
        if isinstance(operand, int) and operand < 0:
            return self.code.constants[-1 - operand]
        return None

    def _entry(self, step: Step) -> Operator:
        """The operator that a step calls."""
        called = self.code.called(step)
        assert called is not None
        return called

    def line(self, step: Step) -> str:
        """What a step does."""
        entry = row(step.instruction)
        shown = {
            letter: self._operand(kind, operand)
            for (letter, kind), operand in zip(entry.operands, step.instruction[1:], strict=True)
        }
        if entry.name == "get_tensor" and step.instruction[2:] in self.kept:
            return f"{shown['a']} = {self.kept[step.instruction[2:]]}"  # type: ignore[index]
        if entry.name == "is_instance":
            return self._class_test(step, shown) or entry.line.format(**shown)
        if entry.name == "free":
            return shown["a"].replace(", ", " = ") + "None"
        if entry.name == "dict" and _equal_themselves(step.node.output.type):
            items = shown["b"].split(", ")
            return f"{shown['a']} = {{{', '.join(map('{}: {}'.format, items[::2], items[1::2]))}}}"
        if entry.plain and is_plain_slot(step):
            line = entry.plain.format(**shown)
            owner = step.instruction[2 if entry.name == "get_slot" else 1]
            return (
                line.replace(f"r{owner}.slots[", f"s{owner}[") if owner in self._created else line
            )
        operator = operator_number(step.instruction)
        if operator is not None:
            return self._call(step, operator, shown)
        return entry.line.format(**shown)

    def _class_test(self, step: Step, shown: dict[str, str]) -> str:
        """What a test of types does that Python's classes tell; empty if they do not."""
        numbers = step.instruction[3]
        assert isinstance(numbers, tuple)
        classes = [EXACT.get(self.code.types[number]) for number in numbers]
        tests = [f"type({shown['b']}) is {cls.__name__}" for cls in classes if cls is not None]
        return f"{shown['a']} = {' or '.join(tests)}" if len(tests) == len(classes) else ""

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
                self.used += OPERATOR
            elif entry.on_arrays is not None and operands[0].startswith("r") and shown["a"]:
                call = f"p{operator}({every}) if {ORDINARY.format(operands[0])} else {call}"
                self.used += OPERATOR
            if self._may_be_direct(entry, step, operands):
                self.source.direct.setdefault(operator, set()).add(self.source.within)
                form = listed(entry)
                given = every if form is None else form.written(operands)
                call = f"d{operator}({given}) if warm{operator} else {call}"
        if many:
            return f"{shown['a']}= {call}" if shown["a"] else call
        return f"{shown['a']} = {call}"

    def _may_be_direct(self, entry: Operator, step: Step, operands: Sequence[str]) -> bool:
        """Whether an operator may have a direct form here: none of what a mask chooses is known."""
        is_learnt = has_direct_form(entry) or entry.later is not None
        is_given = any(operand.startswith("r") for operand in operands)
        if not is_learnt or self._counts or not is_given or step in self._left_out:
            return False
        if self._is_draft:
            return False
        return entry.data_dependent is None or not self._masks.are_among(step.node)

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
            if form.over is not None and (result == operands[0] or operands[0] in self.freed):
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
            constant = self.constant(read_numbers(step.instruction)[1])
            if type(constant) is not int and type(constant) is not float:
                return False
        if form.of and form.of != " ".join(str(value.type) for value in step.node.inputs):
            return False
        return all(is_constant(operands[place], wanted) for place, wanted in form.at.items())

    def _form(self, form: Inline, step: Step, operands: Sequence[str]) -> str:
        """The text of a form on these operands."""
        self.source.named.update(form.names)
        number = self._number(step) if "{k}" in form.text else ""
        ordinary = f"p{operator_number(step.instruction)}"
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
            return self.value(operand)
        return f"{_PREFIX.get(kind, '')}{operand:d}"

    def value(self, number: int) -> str:
        """A register or constant."""
        if number >= 0:
            return f"r{number:d}"
        constant = self.code.constants[-1 - number]
        if constant is None or constant is True or constant is False:
            return str(constant)
        if type(constant) is int:
            return f"{constant:d}" if constant >= 0 else f"({constant:d})"
        return f"c{-1 - number:d}"
