"""Attributes that a stretch sets: what it leaves in them is a result like others, put there behind
it.

Within the stretch a slot is a register, of which the slot's content is given in front.  Where
native code gives up nothing has been set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import TENSOR
from ..code.code import Code, Step, parts_of
from ..code.instructions import row
from .lifting import NUMBERS
from .registers import Part, targets_of
from .slots import is_plain_slot
from .taken import is_object

__all__ = ["SETS", "Kept", "Slot", "Slots", "changing_numbers", "lines_of", "may_be_set"]
__all__ += ["know_objects", "sets_number", "slot_of"]

SETS: Final = frozenset({"set_slot", "set_tensor"})


class Slot(NamedTuple):
    """A slot of an object: the text of its owner, its number, the class that has it, and the text
    that reads it."""

    owner: str
    number: int
    of: ClassType
    text: str
    is_plain: bool
    holds_tensor: bool


class Kept(NamedTuple):
    """What is put into a slot behind a stretch: one of its results, by its place, or the number
    that a register or constant is.  One that `may_stay` is left alone if it is what was there."""

    slot: Slot
    result: int | None
    number: int
    may_stay: bool


def slot_of(step: Step, owner: str) -> Slot:
    """The slot that a step reads or sets, of the object that a text gives."""
    is_set = row(step.instruction).name in SETS
    number, of = step.instruction[2 if is_set else 3], step.node.inputs[0].type
    assert isinstance(number, int)
    assert isinstance(of, ClassType)
    is_plain = is_plain_slot(step)
    holds_tensor = row(step.instruction).name in ("get_tensor", "set_tensor")
    form = "{}._array" if holds_tensor else "{}" if is_plain else "read_slot({})"
    text = form.format(f"{owner}.slots[{number}]")
    return Slot(owner, number, of, text, is_plain, holds_tensor)


def sets_number(step: Step) -> bool:
    """Whether a step sets an attribute to a number."""
    return row(step.instruction).name in SETS and step.node.inputs[1].type in NUMBERS


def may_be_set(step: Step, *, is_inside: bool) -> bool:
    """Whether a stretch may set what a step sets: numbers are known in front of it, so not inside
    of branches and loops."""
    return step.node.inputs[1].type == TENSOR or (sets_number(step) and not is_inside)


class Slots:
    """The slots that a stretch reads and sets.

    Attributes:
        tensors: the registers that stand for slots which are set to tensors, by their texts.
        numbers: the registers or constants that slots are set to in front, by their texts.
    """

    def __init__(self, before: Slots | None = None) -> None:
        self._known: dict[str, Slot] = dict(before._known) if before else {}
        self.tensors: dict[str, int] = dict(before.tensors) if before else {}
        self.numbers: dict[str, int] = dict(before.numbers) if before else {}

    def know(self, slot: Slot) -> None:
        """A slot is read or set."""
        self._known[slot.text] = slot

    def is_set(self, slot: Slot) -> bool:
        """Whether it holds something else than in front by now."""
        return slot.text in self.tensors or slot.text in self.numbers

    def kept(self, results: Sequence[int], surely: Iterable[int]) -> tuple[Kept, ...]:
        """What is put into slots behind the stretch, which writes some registers in any case."""
        sure, known = set(surely), self._known
        places = {register: place for place, register in enumerate(results)}
        tensors = [
            Kept(known[text], places[register], 0, register not in sure)
            for text, register in self.tensors.items()
        ]
        numbers = [Kept(known[text], None, each, False) for text, each in self.numbers.items()]
        return (*tensors, *numbers)

    def apart(self) -> tuple[tuple[str, ...], ...]:
        """The texts of objects that have to be different ones, since one of them has a slot set
        that another one has, too."""
        owners: dict[tuple[int, int], list[str]] = {}
        for slot in self._known.values():
            owners.setdefault((id(slot.of), slot.number), []).append(slot.owner)
        set_ones = (self._known[text] for text in (*self.tensors, *self.numbers))
        keys = dict.fromkeys((id(slot.of), slot.number) for slot in set_ones)
        found = (tuple(owners[key]) for key in keys)
        return tuple(dict.fromkeys(each for each in found if len(each) > 1))


def lines_of(kept: Sequence[Kept], text: Callable[[int], str]) -> list[str]:
    """The lines that put what a call `made` into slots; `text` is that of a register or
    constant."""
    found = list[str]()
    for slot, result, number, may_stay in kept:
        value = text(number) if result is None else f"made[{result}]"
        test = f"if {value} is not {slot.text}: " if may_stay else ""
        put = value if slot.is_plain else f"write_slot({value})"
        found.append(f"{test}{slot.owner}.slots[{slot.number}] = {put}")
    return found


def know_objects(front: dict[int, str], part: Part, written: Iterable[int]) -> None:
    """What objects registers hold behind a part, which may have `written` some: the same ones by
    the same texts, as far as no object is put into another."""
    step = part if isinstance(part, Step) else None
    name = "" if step is None else row(step.instruction).name
    target, text = -1, ""
    if step is not None and name == "get_slot" and is_object(step.node.output.type):
        _, goal, owner, number = step.instruction
        assert isinstance(goal, int)
        assert isinstance(owner, int)
        target = goal
        text = f"{front.get(owner) or f'r{owner}'}.slots[{number}]"
    lost = {*written, *(targets_of(step) if step is not None else ())}
    if any(map(_may_put_objects, parts_of([part]))):
        front.clear()
    for register, path in list(front.items()):
        if register in lost or int(path[1:].partition(".")[0]) in lost:
            del front[register]
    if text and int(text[1:].partition(".")[0]) not in lost:
        front[target] = text


def _may_put_objects(part: Part) -> bool:
    """Whether other objects may be attributes behind a part."""
    if not isinstance(part, Step):
        return False
    if row(part.instruction).name in SETS:
        return is_object(part.node.inputs[1].type)
    return row(part.instruction).name in ("method", "function")


def changing_numbers(code: Code) -> frozenset[tuple[ClassType, int]]:
    """The slots that a code sets to numbers, by the classes that have them."""
    steps = (each for each in parts_of(code.body) if isinstance(each, Step))
    slots = (slot_of(each, "") for each in steps if sets_number(each))
    return frozenset((slot.of, slot.number) for slot in slots)
