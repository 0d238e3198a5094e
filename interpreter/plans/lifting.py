"""Steps of a stretch that are done in front of it: views that a number chooses, tensors of lists.

A stretch is known for tensors of some sizes and for the values of numbers, so `x[i]` in it would
make it another one for each `i`.  Done in front, it gives the stretch one more tensor; and so does
that of a list, which a stretch does not take as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Final

from ...ops.memory.errors import OperatorError
from ...ops.table.record import Operator
from ...typecheck.types.types import BOOL, FLOAT, INT, NONE, TENSOR
from ..code.code import Region, Step
from ..code.instructions import Instruction, read_numbers, row
from .registers import Part, Registers, targets_of, values_read

__all__ = ["FAULTS", "Lifting", "is_item", "without_unread"]

FAULTS: Final = (IndexError, ArithmeticError, OperatorError)
"""What lifted steps may raise; then all is done in its own order, without them."""

_NUMBERS: Final = (INT, FLOAT, BOOL)
_CHOOSING: Final = (INT, NONE)


class Lifting:
    """The steps that are lifted so far, which write registers of their own.

    Attributes:
        steps: those steps, in order.
        held: by the registers of the code that hold what such a step gives: its own register.
    """

    def __init__(self, before: Lifting | None = None) -> None:
        """No steps yet, or those of another one."""
        self.steps: list[Step] = [*before.steps] if before else []
        self.held: dict[int, int] = dict(before.held) if before else {}

    def takes_view(self, step: Step, entry: Operator | None, own: Set[int]) -> bool:
        """Whether a step gives a part of a tensor that a number chooses, and both are there in
        front of the stretch, which writes the registers `own` by then."""
        if entry is None or not entry.views_by_form or len(targets_of(step)) != 1:
            return False
        read = values_read(step)
        if not read or read[0][1].type != TENSOR or not self._is_there(step, own):
            return False
        numbers = [(register, value.type) for register, value in read[1:]]
        chosen = any(register >= 0 and type == INT for register, type in numbers)
        return chosen and all(type in _CHOOSING for _, type in numbers)

    def takes_item(self, step: Step, own: Set[int]) -> bool:
        """Whether a step takes a tensor out of a list by a number, and both are there in front of
        the stretch."""
        return is_item(step) and self._is_there(step, own)

    def takes_number(self, step: Step, own: Set[int]) -> bool:
        """Whether a step makes a number of numbers that are there in front of the stretch."""
        outputs = step.node.outputs
        if len(outputs) != 1 or outputs[0].type not in _NUMBERS or len(targets_of(step)) != 1:
            return False
        read = values_read(step)
        are_numbers = bool(read) and all(value.type in _NUMBERS for _, value in read)
        return are_numbers and self._is_there(step, own)

    def _is_there(self, step: Step, own: Set[int]) -> bool:
        read = [number for number in read_numbers(step.instruction) if number >= 0]
        return all(number in self.held or number not in own for number in read)

    def lift(self, step: Step, register: int) -> None:
        """Have a step write a register of its own, in front; reading what others there wrote."""
        renamed = _renamed(step.instruction, register, lambda n: self.held.get(n, n))
        self.steps.append(Step(renamed, step.node))

    def needed(self, registers: Set[int]) -> tuple[Step, ...]:
        """The steps without which some registers would not be there."""
        found, needed = list[Step](), set(registers)
        for step in reversed(self.steps):
            if not needed.isdisjoint(targets_of(step)):
                found.append(step)
                needed.update(read_numbers(step.instruction))
        return tuple(reversed(found))


def is_item(step: Step) -> bool:
    """Whether a step takes a tensor out of a list by a number."""
    node, read = step.node, values_read(step)
    if node.kind != "aten::__getitem__" or len(read) != 2 or len(targets_of(step)) != 1:
        return False
    return read[0][1].type.list_of == TENSOR and read[1][1].type == INT


def _renamed(instruction: Instruction, target: int, read: Callable[[int], int]) -> Instruction:
    """An instruction with another register for its result, and for each that it reads."""
    made = list[object]()
    for kind, operand in zip(row(instruction).kinds, instruction[1:], strict=True):
        if kind == "R":
            made.append(target)
        elif kind[0] == "V" and isinstance(operand, tuple):
            made.append(tuple(map(read, operand)))
        elif kind[0] == "V":
            assert isinstance(operand, int)
            made.append(read(operand))
        else:
            made.append(operand)
    return (instruction[0], *made)


def without_unread(
    registers: Registers, body: Region, live: frozenset[int], may_go: Callable[[Part], bool]
) -> Region:
    """A region, behind which some registers are needed, without steps whose results nobody reads,
    of those that may go."""
    found: Region = []
    needed = live
    for part in reversed(body):
        uses = registers.uses(part)
        if may_go(part) and needed.isdisjoint(uses.written):
            continue
        found.append(part)
        needed = uses.read | (needed - uses.surely)
    return found[::-1]
