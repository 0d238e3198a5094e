"""Which registers the parts of register code read and write, each part looked at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final, NamedTuple

from ...ir.graphs.graph import Value
from ..code.code import Branch, Code, Region, Repeat, Step, parts_of
from ..code.instructions import read_numbers, row, written_numbers

__all__ = [
    *("Part", "Registers", "Row", "emptied_by", "made_by", "operands_read", "readers_of"),
    *("results_of", "targets_of", "values_read"),
]

Part = Step | Branch | Repeat


class Uses(NamedTuple):
    """The registers that a part reads and has not written itself, those that it may write, and
    those that it writes in any case."""

    read: frozenset[int]
    written: frozenset[int]
    surely: frozenset[int]


_NONE: Final = frozenset[int]()


class Registers:
    """What the parts of a code do to registers.

    A way that raises leads to nothing behind it, so what it writes is left out.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Part, Uses]] = {}  # the part itself, so that it stays alive

    def exposed(self, region: Sequence[Part]) -> set[int]:
        """The registers that are read before the region writes them."""
        row = Row(self)
        for part in region:
            row.add(part)
        return row.exposed

    def written(self, region: Sequence[Part]) -> set[int]:
        """The registers that a region may write."""
        return set[int]().union(*(self.uses(part).written for part in region))

    def needed(self, region: Region, at_end: frozenset[int]) -> list[frozenset[int]]:
        """The registers that are needed at each position of a region, and behind it."""
        found = [at_end]
        for part in reversed(region):
            uses = self.uses(part)
            found.append(uses.read | (found[-1] - uses.surely))
        return found[::-1]

    def inside(self, part: Part, after: frozenset[int]) -> Iterator[tuple[Region, frozenset[int]]]:
        """The regions inside a part behind which the registers `after` are needed, each with those
        that are needed behind it."""
        if isinstance(part, Branch):
            yield from ((way, after) for way in (part.then, part.otherwise))
        elif isinstance(part, Repeat):
            # the number of a round is there anew at the head of the next
            live = after | (self.exposed(part.body) - {part.index}) | set(part.carried)
            yield part.body, live | ({part.condition} if part.condition is not None else set())

    def uses(self, part: Part) -> Uses:
        """What a part does."""
        known = self._known.get(id(part))
        if known is None:
            known = self._known[id(part)] = part, self._look(part)
        return known[1]

    def _look(self, part: Part) -> Uses:
        if isinstance(part, Step):
            read = frozenset(number for number in read_numbers(part.instruction) if number >= 0)
            is_free = row(part.instruction).name == "free"
            written = _NONE if is_free else frozenset(targets_of(part))
            return Uses(read, written, written)
        if isinstance(part, Branch):
            own = (part.condition,) if part.condition >= 0 else ()
            read = frozenset(self.exposed(part.then) | self.exposed(part.otherwise)).union(own)
            ways = [way for way in (part.then, part.otherwise) if not any(map(_raises, way))]
            surely = frozenset.intersection(*map(self._surely, ways)) if ways else _NONE
            return Uses(read, _NONE.union(*map(self.written, ways)), surely)
        asked = (number for number in (part.count, part.condition) if number is not None)
        read = frozenset(self.exposed(part.body) - {part.index})
        written = frozenset(self.written(part.body) | {part.index})
        return Uses(read.union(number for number in asked if number >= 0), written, _NONE)

    def _surely(self, region: Region) -> frozenset[int]:
        return _NONE.union(*(self.uses(part).surely for part in region))


class Row:
    """Parts that stand one after the other: the registers that they read before they write them,
    those that they may write, and those that they write in any case."""

    def __init__(self, registers: Registers, before: Row | None = None) -> None:
        """No parts yet, or those of another row."""
        self._registers = registers
        self.exposed: set[int] = set(before.exposed) if before else set()
        self.written: set[int] = set(before.written) if before else set()
        self.surely: set[int] = set(before.surely) if before else set()

    def given(self, results: Iterable[int]) -> set[int]:
        """The registers that something is needed of: also that of a result which may stay as it
        is."""
        return self.exposed.union(results) - (self.surely - self.exposed)

    def add(self, part: Part) -> None:
        """Take one more at the end."""
        uses = self._registers.uses(part)
        self.exposed |= uses.read - self.surely
        self.written |= uses.written
        self.surely |= uses.surely


def targets_of(step: Step) -> Sequence[int]:
    """The registers that a step gives something new, or empties."""
    return written_numbers(step.instruction)


def values_read(step: Step) -> list[tuple[int, Value]]:
    """The operands that a step reads, each with the value of its node that it is; none of a step
    that reads something else than its node does."""
    numbers, values = read_numbers(step.instruction), step.node.inputs
    return list(zip(numbers, values, strict=True)) if len(numbers) == len(values) else []


def operands_read(step: Step) -> list[tuple[int, Value]]:
    """The same, with the tuple that a step takes a part of."""
    if row(step.instruction).name in ("item", "slice"):
        return list(zip(read_numbers(step.instruction), step.node.inputs, strict=False))
    return values_read(step)


def results_of(part: Part) -> list[tuple[int, Value | None]]:
    """The registers that a part leaves something else in, each with the value of its node that
    this is, or None where that is not known."""
    if isinstance(part, Step):
        registers, is_free = targets_of(part), row(part.instruction).name == "free"
    else:
        registers = [*(part.results if isinstance(part, Branch) else part.carried)]
        is_free = False
    values = part.node.outputs
    if is_free or len(registers) != len(values):
        return [(register, None) for register in registers]
    return list(zip(registers, values, strict=True))


def readers_of(code: Code, numbers: Set[int]) -> frozenset[Step]:
    """The steps with operators over tensors that read a number which is in one of these registers
    in front, or one that is made of it."""
    held, found = set(numbers), set[Step]()
    for step in parts_of(code.body):
        if not isinstance(step, Step):
            continue
        reads = not held.isdisjoint(read_numbers(step.instruction))
        entry = code.called(step)
        is_end = entry is not None and "Tensor" in entry.schema
        if reads and is_end:
            found.add(step)
        (held.update if reads and not is_end else held.difference_update)(targets_of(step))
    return frozenset(found)


def made_by(region: Sequence[Part]) -> Iterator[Value]:
    """The values that parts of a region make, and those that their loops carry."""
    for part in parts_of(region):
        yield from part.node.outputs
        if isinstance(part, Repeat):
            yield from part.node.blocks[0].inputs


def _raises(part: Part) -> bool:
    return isinstance(part, Step) and row(part.instruction).name == "raise"


def emptied_by(registers: Registers, region: Sequence[Part]) -> set[int]:
    """The registers that a region empties at its end."""
    found = set[int]()
    for part in region:
        if isinstance(part, Step) and row(part.instruction).name == "free":
            found.update(targets_of(part))
        else:
            found -= registers.written([part])
    return found
