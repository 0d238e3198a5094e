"""The making of a stretch of register code, part by part.

What it reads of modules is put in front of it, and so are steps that are lifted out of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Final, NamedTuple

from ...ir.graphs.graph import Value
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import TENSOR, Type
from ..code.code import Branch, Code, Region, Repeat, Step
from ..code.instructions import opcode, read_numbers, row
from .given import lists_read, may_be_given, reads_dict, reads_of, types_given, written_by
from .lifting import NUMBERS, Lifting, is_item, single_steps, without_unread
from .registers import (
    Part,
    Registers,
    Row,
    emptied_by,
    made_by,
    results_of,
    targets_of,
    values_read,
)
from .slot_writes import SETS, Kept, Slot, Slots, sets_number, slot_of
from .stretch import Stretch
from .taken import is_object

__all__ = ["Building", "Found"]

_MOVE, _RETURN = map(opcode, ("move", "return"))
_MOST_GIVEN: Final = 500


class Found(NamedTuple):
    """A stretch from one position of a region up to another, and the text of what it is given.

    `objects` are the registers that hold objects behind it, with the text of each, `lifted` steps
    that are done in front of it, `read` the registers that these read, with the text of each.
    `kept` is what slots hold behind it, `apart` the texts of objects that have to be others.
    """

    stop: int
    stretch: Stretch
    given: tuple[str, ...]
    emptied: tuple[int, ...]
    objects: tuple[tuple[int, str], ...]
    lifted: tuple[Step, ...] = ()
    read: tuple[tuple[int, str], ...] = ()
    kept: tuple[Kept, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()


class Building:
    """A stretch whose reads of modules are put in front of it, part by part."""

    def __init__(
        self,
        code: Code,
        registers: Registers,
        before: Building | None,
        *,
        writes: bool,
        makes: bool,
        changing: Collection[tuple[ClassType, int]],
        front: Mapping[int, str],
    ) -> None:
        """No parts yet, or those of another one; `writes` says whether the code has operators
        that write tensors, `makes` whether tensors of numbers may be made in front, `changing`
        which slots are set to numbers, and `front` what objects some registers hold in front."""
        self._code, self._registers, self._writes = code, registers, writes
        self._changing, self._front = changing, front
        self._region: Region = [*before._region] if before else []
        self._body: Region = [*before._body] if before else []
        self._all: Row = Row(registers, before._all if before else None)
        self._row: Row = Row(registers, before._row if before else None)
        self._paths: dict[int, str] = dict(before._paths) if before else {}
        self._own: set[int] = set(before._own) if before else set()
        self._reads: dict[str, int] = dict(before._reads) if before else {}
        self._read_lists: set[int] = set(before._read_lists) if before else set()
        self._types: dict[int, Type | None] = dict(before._types) if before else {}
        self._lifting: Lifting = Lifting(before._lifting if before else None, makes=makes)
        self._idle: set[int] = set(before._idle) if before else set()
        self._turning: set[int] = set(before._turning) if before else set()
        self._made: set[Value] = set(before._made) if before else set()
        self._slots: Slots = Slots(before._slots if before else None)
        self._is_known: bool = before is None or before._is_known

    @property
    def is_known(self) -> bool:
        """Whether it is known what its steps read and set: if not, no longer one is a stretch."""
        return self._is_known

    def take(self, part: Part) -> None:
        """Take one more part at the end."""
        self._region.append(part)
        self._all.add(part)
        if self._writes:
            self._made.update(made_by([part]))
            self._is_known = self._is_known and not self._writes_outside(part)
        self._lifting.watch(part)
        for each in self._lifted(part) or self._without_reads([part]):
            self._body.append(each)
            self._row.add(each)

    def _lifted(self, part: Part) -> Region:
        """What is left of a part that is done in front of the stretch; nothing of others.

        Numbers, and parts of which others are chosen, are made in both places: whether the stretch
        needs them shows at its end.
        """
        if not isinstance(part, Step):
            return []
        if sets_number(part):
            return self._set_in_front(part)
        lifting, entry = self._lifting, self._code.called(part)
        made: Region = []
        turns = not self._turning.isdisjoint(read_numbers(part.instruction))
        if lifting.takes_number(part, self._own):
            made = [] if turns else [part]  # of a counter the stretch is given what it needs alone
        elif lifting.takes_same_view(part, entry, self._own):
            made = [part]
        elif not lifting.takes(part, entry, self._own):
            self._is_known = self._is_known and not self._asks_outside(part)
            return []
        held = dict[int, int]()
        for target, step in single_steps(part):
            held[target] = self._next_register
            lifting.lift(step, held[target])
        if not made:
            made = [Step((_MOVE, *pair), part.node) for pair in held.items()]
            self._idle.update(map(id, made))
        else:
            self._idle.add(id(part))
        for target in held:
            self._wrote(target)
        self._turning.update(held if turns else ())
        self._know(part)
        lifting.held.update(held)
        return made

    def _asks_outside(self, step: Step) -> bool:
        """Whether a step takes a tensor out of a list that is none of the stretch's own."""
        return is_item(step) and values_read(step)[0][0] not in self._own

    def _writes_outside(self, part: Part) -> bool:
        """Whether a part writes a tensor that the stretch has not made, which none may."""
        return any(whole not in self._made for whole in written_by(self._code, part))

    @property
    def _next_register(self) -> int:
        """A register that the code has not."""
        return self._code.register_count + len(self._reads) + len(self._lifting.steps)

    def found(self, stop: int, live: frozenset[int]) -> Found | None:
        """The stretch, behind which the registers `live` are needed; None if what it takes or gives
        is no tensor, number or list of tensors."""
        if not self._is_known or self._loses_objects(live):
            return None
        live |= {*self._slots.tensors.values()}
        objects = {number: path for number, path in self._paths.items() if number in live}
        numbers = {n: known for n, known in self._numbers_in_front() if n in live}
        in_front = {*numbers.values(), *self._slots.numbers.values()}
        body, uses, lifted = self._without_lifted(live - numbers.keys(), in_front)
        objects |= {n: f"r{known}" for n, known in numbers.items()}
        results = sorted((uses.written & live) - objects.keys())
        lists = [each for each in results if self._types.get(each) != TENSOR]
        if not results or len(lists) > 1 or any(not self._is_list(each) for each in lists):
            return None
        results = [each for each in results if each not in lists] + lists
        given = sorted(uses.given(results), key=lambda n: (n in self._read_lists, n))
        if not all(may_be_given(type) for type in types_given(self._registers, body, given)):
            return None
        texts = {number: text for text, number in self._reads.items()}
        if not given or len(given) + len(results) > _MOST_GIVEN:
            return None
        node = self._region[-1].node
        code = Code(
            self._code.name,
            [*body, Step((_RETURN, 0), node)],
            self._code.argument_count,
            self._next_register,
            self._code.constants,
            self._code.operators,
            self._code.types,
            self._code.names,
        )
        read_lists = [each for each in given if each in self._read_lists]
        own = sum(
            each < self._code.register_count for each in given[: len(given) - len(read_lists)]
        )
        stretch = Stretch(code, tuple(given), len(read_lists), own, tuple(results), bool(lists))
        emptied = tuple(n for n in given if n not in texts and n not in live)
        freed = emptied_by(self._registers, self._region)
        heavy = tuple(n for n in emptied if n in freed)
        single = [texts.get(n, f"r{n}") for n in given if n not in read_lists]
        whole = [texts.get(n, f"r{n}") for n in read_lists]
        lengths = [f"len({each})" for each in whole]
        elements = [f"*{each}" for each in whole]
        texts_given = (*single, *lengths, *elements)
        asked = {number for step in lifted for number in read_numbers(step.instruction)}
        asked |= in_front
        read = tuple((number, texts[number]) for number in sorted(asked & texts.keys()))
        kept, apart = self._slots.kept(results, uses.surely), self._slots.apart()
        return Found(
            *(stop, stretch, texts_given, heavy, tuple(objects.items()), lifted, read, kept, apart)
        )

    def _numbers_in_front(self) -> list[tuple[int, int]]:
        """The registers with numbers that are known in front, each with that which has it there."""
        found = self._lifting.held.items()
        return [(n, known) for n, known in found if known >= 0 and self._types.get(n) in NUMBERS]

    def _without_lifted(
        self, live: frozenset[int], in_front: Set[int]
    ) -> tuple[Region, Row, tuple[Step, ...]]:
        """The body, behind which the registers `live` are needed, what it uses, and the steps that
        are lifted out of it, which give registers `in_front` and what it takes: without numbers of
        which nothing is needed but those steps."""
        if not self._idle:
            return self._body, self._row, ()
        body = without_unread(self._registers, self._body, live, lambda p: id(p) in self._idle)
        uses = Row(self._registers)
        for part in body:
            uses.add(part)
        return body, uses, self._lifting.needed(uses.exposed | in_front)

    def _loses_objects(self, live: frozenset[int]) -> bool:
        """Whether the body or what comes behind it needs an object whose way is not known."""
        without = self._all.written - self._row.written - self._paths.keys()
        lifted = {register for step in self._lifting.steps for register in targets_of(step)}
        known = self._all.exposed | set(self._reads.values()) | lifted
        return not without.isdisjoint(live) or not self._row.exposed <= known

    def _is_list(self, register: int) -> bool:
        type = self._types.get(register)
        return type is not None and type.list_of == TENSOR

    def _without_reads(self, region: Sequence[Part]) -> Region:
        """The same with moves from registers of their own in the place of reads of modules."""
        found: Region = []
        for part in region:
            if isinstance(part, Branch):
                paths, own = dict(self._paths), set(self._own)
                then = self._without_reads(part.then)
                self._paths, self._own = dict(paths), set(own)
                otherwise = self._without_reads(part.otherwise)
                self._paths, self._own = paths, own
                made = Branch(part.condition, then, otherwise, part.node, part.results)
                self._forget(part)
                found.append(made)
            elif isinstance(part, Repeat):
                self._read_lists.update(lists_read(part).keys() - self._own)
                for register in self._registers.written(part.body):
                    self._wrote(register)
                body = self._without_reads(part.body)
                self._forget(part)
                found.append(
                    Repeat(
                        *(part.count, part.condition, part.index, part.numbers),
                        *(body, part.node, part.carried),
                    )
                )
            else:
                found += self._step(part)
        return found

    def _forget(self, part: Branch | Repeat) -> None:
        """What registers held may be something else behind a branch or loop."""
        for register in self._registers.written([part]):
            self._wrote(register)
        self._know(part)

    def _know(self, part: Part) -> None:
        """The types of a part's results are those of its node."""
        known = ((register, value) for register, value in results_of(part) if value is not None)
        self._types.update((register, value.type) for register, value in known)

    def _wrote(self, register: int) -> None:
        """A register holds something else now."""
        self._own.add(register)
        self._paths.pop(register, None)
        self._types.pop(register, None)
        self._turning.discard(register)
        self._lifting.held.pop(register, None)
        self._lifting.of_modules.pop(register, None)

    def _step(self, step: Step) -> list[Step]:
        name = row(step.instruction).name
        path = self._path_of(step, name)
        made: list[Step] = [step]
        slot: Slot | None = None
        if name in ("get_slot", "get_tensor"):
            slot = None if path else self._slot_of(step, step.instruction[2])
            made = [] if slot is None else self._read(step, slot)
        elif name in SETS:
            made = self._set(step)
        elif reads := reads_of(step):
            made = self._read_parts(step, reads)
        targets = list(targets_of(step))
        source = step.instruction[2] if name == "move" else None
        for register in targets if name != "free" else ():
            self._wrote(register)
        if name == "move":
            assert isinstance(source, int)
            self._types[targets[0]] = self._types.get(source)
        else:
            self._know(step)
        if path:
            self._paths[targets[0]] = path
        elif slot is not None:
            self._know_in_front(slot, made[0])
        return made

    def _path_of(self, step: Step, name: str) -> str:
        """From where a step reads an object; empty if it does no such thing."""
        is_read = name == "get_slot" and is_object(step.node.output.type)
        if not is_read:
            return ""
        owner = self._owner(step.instruction[2])
        return owner and f"{owner}.slots[{step.instruction[3]}]"

    def _owner(self, register: object) -> str:
        """The text of an object in a register; empty if it is not known which it is."""
        assert isinstance(register, int)
        if register in self._own:
            return self._paths.get(register, "")
        return self._front.get(register) or f"r{register}"

    def _read_parts(self, step: Step, reads: Sequence[tuple[int, str]]) -> list[Step]:
        """Moves from registers of their own in the place of a step that reads parts of a dict or
        tuple, which is there in front of the stretch: dicts have to be."""
        (source, *_) = read_numbers(step.instruction)
        if source in self._lifting.held:
            reads = reads_of(step, self._lifting.held)
        elif source in self._own:
            self._is_known = self._is_known and not reads_dict(step)
            return [step]
        made = list[Step]()
        for target, text in reads:
            number = self._reads.setdefault(text, self._next_register)
            made.append(Step((_MOVE, target, number), step.node))
        return made

    def _slot_of(self, step: Step, register: object) -> Slot | None:
        """The slot that a step reads or sets; None if it is not known whose it is."""
        owner = self._owner(register)
        if not owner:
            self._is_known = False
            return None
        slot = slot_of(step, owner)
        self._slots.know(slot)
        return slot

    def _read(self, step: Step, slot: Slot) -> list[Step]:
        number = self._reads.setdefault(slot.text, self._next_register)
        if step.node.output.type.list_of == TENSOR:
            self._read_lists.add(number)
        made = Step((_MOVE, step.instruction[1], number), step.node)
        self._idle.add(id(made))
        return [made]

    def _know_in_front(self, slot: Slot, made: Step) -> None:
        """What a step reads of a module is there in front, where steps may be lifted to: a tensor,
        or a number that would make the stretch another one each time it is set."""
        _, target, number = made.instruction
        assert isinstance(target, int)
        assert isinstance(number, int)
        if slot.holds_tensor and not self._slots.is_set(slot):
            self._lifting.of_modules[target] = number
        elif (slot.of, slot.number) in self._changing:
            self._lifting.held[target] = self._slots.numbers.get(slot.text, number)
            self._turning.add(target)

    def _set(self, step: Step) -> list[Step]:
        """A move to the register that stands for a slot, in the place of a step that sets it."""
        _, register, _, value = step.instruction
        slot = self._slot_of(step, register)
        if slot is None:
            return []
        number = self._reads.setdefault(slot.text, self._next_register)
        self._slots.tensors[slot.text] = number
        self._types[number] = TENSOR
        return [Step((_MOVE, number, value), step.node)]

    def _set_in_front(self, step: Step) -> Region:
        """The same where it is set to a number, which has to be known in front of the stretch."""
        _, register, _, value = step.instruction
        slot, known = self._slot_of(step, register), self._lifting.held
        assert isinstance(value, int)
        if slot is None or not (value < 0 or value in known or value not in self._own):
            self._is_known = False
            return []
        number = self._reads.setdefault(slot.text, self._next_register)
        self._slots.numbers[slot.text] = known.get(value, value)
        made = Step((_MOVE, number, value), step.node)
        self._idle.add(id(made))
        return [made]
