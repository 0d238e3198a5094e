"""Steps of a stretch that are done in front of it: views that a number chooses, what tensors are
made of numbers, parts of lists and tuples.

A stretch is known for tensors of some sizes and for the values of numbers, so `x[i]` or
`torch.tensor([i])` in it would make it another one for each `i`.  Done in front, it gives the
stretch one more tensor; and so does that of a list or tuple, which a stretch does not take as a
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from typing import Final

from ...ir.graphs.graph import Node
from ...ops.memory.errors import OperatorError
from ...ops.table.record import Operator
from ...typecheck.types.types import BOOL, FLOAT, INT, NONE, TENSOR, Type
from ..code.code import Region, Step, parts_of
from ..code.instructions import Instruction, opcode, read_numbers, row
from .registers import Part, Registers, targets_of, values_read

__all__ = ["FAULTS", "NUMBERS", "Lifting", "is_item", "reads_element", "single_steps"]
__all__ += ["makes_tensor", "without_unread"]

FAULTS: Final = (IndexError, ArithmeticError, OperatorError, TypeError)
"""What lifted steps may raise; then all is done in its own order, without them."""

NUMBERS: Final = (INT, FLOAT, BOOL)
_CHOOSING: Final = (INT, NONE)
_ITEM: Final = opcode("item")


class Lifting:
    """The steps that are lifted so far, which write registers of their own.

    Attributes:
        steps: those steps, in order.
        held: by the registers of the code that hold what such a step gives: its own register.
        of_modules: by those that hold tensors of modules: the registers that have them in front.
    """

    def __init__(self, before: Lifting | None = None, *, makes: bool = False) -> None:
        """No steps yet, or those of another one; `makes` says whether tensors may be made."""
        self.steps: list[Step] = [*before.steps] if before else []
        self.held: dict[int, int] = dict(before.held) if before else {}
        self.of_modules: dict[int, int] = dict(before.of_modules) if before else {}
        self._makes = makes
        self._changes: bool = before is not None and before._changes

    def watch(self, part: Part) -> None:
        """A part comes next, after which lists may be others."""
        steps = (each for each in parts_of([part]) if isinstance(each, Step))
        self._changes = self._changes or any(map(_changes_list, steps))

    def takes(self, step: Step, entry: Operator | None, own: Set[int]) -> bool:
        """Whether a step is done in front of the stretch alone, which writes the registers `own` by
        then."""
        return (
            self._takes_view(step, entry, own)
            or (is_item(step) and self._is_there(step, own))
            or self._takes_part(step, own)
            or (_asks_for_tuple(step) and self._is_there(step, own))
            or self._takes_element(step, entry, own)
            or (self._makes and self._takes_made(step, own))
        )

    def _takes_part(self, step: Step, own: Set[int]) -> bool:
        """Whether a step takes a tuple apart, or a number or tuple out of a list that nobody
        changes."""
        if row(step.instruction).name in ("item", "unpack"):
            return self._is_there(step, own)
        is_part = is_item(step, NUMBERS) or _is_tuple_of_list(step)
        return is_part and not self._changes and self._is_there(step, own)

    def _takes_made(self, step: Step, own: Set[int]) -> bool:
        """Whether a step makes a tensor of numbers, or the list for one."""
        if all(number < 0 for number in read_numbers(step.instruction)):
            return False
        if row(step.instruction).name == "list":
            made = step.node.output
            is_taken = made.type.list_of in NUMBERS and all(
                makes_tensor(use.user) for use in made.uses
            )
        else:
            is_taken = makes_tensor(step.node)
        return is_taken and self._is_there(step, own)

    def _takes_view(self, step: Step, entry: Operator | None, own: Set[int]) -> bool:
        """Whether a step gives a part of a tensor that a number chooses, and both are there in
        front of the stretch, which writes the registers `own` by then."""
        numbers = self._numbers_of_view(step, entry, own)
        chosen = any(register >= 0 and type == INT for register, type in numbers)
        return chosen and all(type in _CHOOSING for _, type in numbers)

    def takes_same_view(self, step: Step, entry: Operator | None, own: Set[int]) -> bool:
        """Whether it gives the same part in all calls, of which numbers may choose another one."""
        numbers = self._numbers_of_view(step, entry, own)
        is_same = bool(numbers) and all(register < 0 for register, _ in numbers)
        return is_same and all(type in _CHOOSING for _, type in numbers)

    def _numbers_of_view(
        self, step: Step, entry: Operator | None, own: Set[int]
    ) -> list[tuple[int, Type]]:
        """The numbers that choose a part of a tensor which is there in front, by their registers;
        none of other steps."""
        if entry is None or not entry.views_by_form or len(targets_of(step)) != 1:
            return []
        read = values_read(step)
        if not read or read[0][1].type != TENSOR:
            return []
        is_of_module = read[0][0] in self.of_modules
        if not self._is_there(step, own - {read[0][0]} if is_of_module else own):
            return []
        return [(register, value.type) for register, value in read[1:]]

    def _takes_element(self, step: Step, entry: Operator | None, own: Set[int]) -> bool:
        """Whether a step makes a number of the element of a tensor that is there in front of the
        stretch, or that a module holds."""
        if not reads_element(entry):
            return False
        read = [number for number in read_numbers(step.instruction) if number >= 0]
        return all(number in self.of_modules or number not in own for number in read)

    def takes_number(self, step: Step, own: Set[int]) -> bool:
        """Whether a step makes a number of numbers that are there in front of the stretch."""
        outputs = step.node.outputs
        if len(outputs) != 1 or outputs[0].type not in NUMBERS or len(targets_of(step)) != 1:
            return False
        read = values_read(step)
        are_numbers = bool(read) and all(value.type in NUMBERS for _, value in read)
        return are_numbers and self._is_there(step, own)

    def _is_there(self, step: Step, own: Set[int]) -> bool:
        read = [number for number in read_numbers(step.instruction) if number >= 0]
        return all(number in self.held or number not in own for number in read)

    def lift(self, step: Step, register: int) -> None:
        """Have a step write a register of its own, in front; reading what others there wrote."""
        known = self.of_modules | self.held
        renamed = _renamed(step.instruction, register, lambda n: known.get(n, n))
        self.steps.append(Step(renamed, step.node))

    def needed(self, registers: Set[int]) -> tuple[Step, ...]:
        """The steps without which some registers would not be there."""
        found, needed = list[Step](), set(registers)
        for step in reversed(self.steps):
            if not needed.isdisjoint(targets_of(step)):
                found.append(step)
                needed.update(read_numbers(step.instruction))
        return tuple(reversed(found))


def reads_element(entry: Operator | None) -> bool:
    """Whether an operator gives a number that a tensor has for an element."""
    return entry is not None and entry.gives_number and entry.data_dependent is not None


def is_item(step: Step, elements: Collection[Type] = (TENSOR,)) -> bool:
    """Whether a step takes a tensor, or what else `elements` says, out of a list by a number."""
    node, read = step.node, values_read(step)
    if node.kind != "aten::__getitem__" or len(read) != 2 or len(targets_of(step)) != 1:
        return False
    return read[0][1].type.list_of in elements and read[1][1].type == INT


def _changes_list(step: Step) -> bool:
    """Whether a step changes what is no tensor."""
    signature = step.node.signature
    return signature is not None and signature.is_mutable and step.node.inputs[0].type != TENSOR


def _may_be_tuple(type: Type) -> bool:
    """Whether a type is one of tuples of tensors and numbers, or None."""
    parts = (type.optional_of or type).tuple_of or ()
    return bool(parts) and all(each == TENSOR or each in NUMBERS for each in parts)


def _is_tuple_of_list(step: Step) -> bool:
    """Whether a step takes such a tuple out of a list by a number."""
    made = step.node.outputs
    return len(made) == 1 and _may_be_tuple(made[0].type) and is_item(step, (made[0].type,))


def _asks_for_tuple(step: Step) -> bool:
    """Whether a step asks whether there is a tuple or None."""
    is_asking = row(step.instruction).name in ("is", "is_not")
    return is_asking and any(_may_be_tuple(value.type) for _, value in values_read(step))


def single_steps(step: Step) -> list[tuple[int, Step]]:
    """The steps, each with the register it writes, that do what one does."""
    targets = targets_of(step)
    if row(step.instruction).name != "unpack":
        return [(targets[0], step)]
    source = step.instruction[2]
    made = ((target, (_ITEM, target, source, place)) for place, target in enumerate(targets))
    return [(target, Step(instruction, step.node)) for target, instruction in made]


def makes_tensor(node: Node) -> bool:
    """Whether a node makes a tensor of numbers, or of a list of these."""
    return node.kind == "aten::tensor"


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
