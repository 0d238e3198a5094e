"""Islands: loops over numbers, texts and containers amid code over tensors, natively by themselves.
Of tensors they read sizes and single numbers.

What a plan of such code spends in an island is added up as for a whole code (`native`).  Until it
is native, and where that gives up, the plan does its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from time import thread_time
from typing import Final

import numpy as np

from ...ir.graphs.graph import Node, Value
from ...ops.memory.dtype import DTYPES
from ...typecheck.types.types import BOOL, DEVICE, FLOAT, INT, NUMBER, TENSOR, TupleType, Type
from ..code.code import Branch, Code, Region, Repeat, Step, parts_of
from ..code.instructions import opcode, row
from ..plans.loop_tests import test_spans
from ..plans.plan import NativePart
from ..plans.registers import (
    Part,
    Registers,
    Row,
    emptied_by,
    operands_read,
    results_of,
    targets_of,
)
from ..plans.source import FoundIsland, Island
from ..plans.stretches import spans_together
from .kinds import NotNative, holds_arrays, kind_of, lists_tensors
from .native import NEVER, ROUNDS, Native, is_native_possible, native_island
from .program import FAILED, STOPPED
from .reads import ReadsInFront, is_read_of_tensor, names_set
from .refusals import LONGEST
from .written import is_maker, is_of_few, written_places

__all__ = ["ISLANDS", "find_islands"]

_REFUSED: Final = frozenset(("tensor_dict", "method", "function", "return"))
_MOVE, _TUPLE, _RETURN = map(opcode, ("move", "tuple", "return"))

_READ: Final = (TENSOR, NUMBER, DEVICE)
"""The types of what is read on: parts of tensors, their numbers, and where they lie."""

MOST_GIVEN: Final = 50
"""Values that an island takes or gives."""

_MOST_CUT: Final = 4
"""Loops at the end of a row that an island is tried without."""


def find_islands(
    code: Code,
    taken: Mapping[int, Mapping[int, int]],
    *,
    records: bool = False,
    left_out: Collection[Step] = (),
) -> dict[int, dict[int, FoundIsland]]:
    """The islands of a code: of each region, by its identity, where they begin.

    Args:
        taken: of each region the parts that islands leave alone: from where up to where.
        left_out: steps that they leave alone, too.
        records: whether somebody records operators, who hears of none in islands: then they write
            to no tensors, and make none of others.
    """
    if not code.has_loop or not is_native_possible():
        return {}
    finder = _Finder(code, taken, records, frozenset(left_out))
    finder.region(code.body, frozenset())
    return finder.found


class _Finder:
    """The search through one code."""

    def __init__(
        self,
        code: Code,
        taken: Mapping[int, Mapping[int, int]],
        records: bool,
        left_out: frozenset[Step],
    ) -> None:
        self._code, self._taken, self._records = code, taken, records
        self._left_out = left_out
        self._registers, self._moved = Registers(), dict(_moved(code.body))
        self._set = names_set(code)
        self.found: dict[int, dict[int, FoundIsland]] = {}

    def region(self, region: Region, live: frozenset[int]) -> None:
        """Find those of a region, behind which the registers `live` are needed, and those inside
        its other parts."""
        needed = self._registers.needed(region, live)
        islands: dict[int, FoundIsland] = {}
        for first, *ends in self._rows(region):
            begin = first
            while begin < ends[-1]:
                found = self._longest(region, begin, ends, needed)
                if found is None:
                    begin = next(self._behind_loops(region, begin, ends[-1]), ends[-1])
                else:
                    begin, island = found
                    islands[begin] = island
                    begin = island.stop
        if islands:
            self.found[id(region)] = islands
        done = {place for begin, each in islands.items() for place in range(begin, each.stop)}
        for position in set(range(len(region))) - done:
            for inner, at_end in self._registers.inside(region[position], needed[position + 1]):
                self.region(inner, at_end)

    def _longest(
        self, region: Region, first: int, ends: Sequence[int], needed: Sequence[frozenset[int]]
    ) -> tuple[int, FoundIsland] | None:
        """The longest island from some place on: one that ends where the row's last loop does, or
        the row, or else behind a loop before."""
        first = max([first, *(b for a, b in test_spans(region) if a < first < b)])
        loops = list(self._behind_loops(region, first, min(ends)))
        for end in dict.fromkeys((*ends, *reversed(loops[-_MOST_CUT:]), *loops[:1])):
            begin = _without_idle(self._registers, region, first, end)
            parts = region[begin:end]
            if any(isinstance(part, Repeat) for part in parts):
                live = needed[end]
                island = _island(
                    self._code, self._registers, self._moved, parts, live, self._records, self._set
                )
                if island is not None:
                    return begin, FoundIsland(end, *island)
        return None

    @staticmethod
    def _behind_loops(region: Region, begin: int, end: int) -> Iterator[int]:
        """The places behind loops of a region, from one up to another."""
        for place in range(begin, end):
            if isinstance(region[place], Repeat):
                yield place + 1

    def _rows(self, region: Region) -> Iterator[tuple[int, int, int]]:
        """Where rows of parts that native code may do begin, where the last of their loops, and
        tensors that are made or written of what these give, end, and where they end themselves."""
        if not any(isinstance(part, Repeat) and self._takes(part) for part in region):
            return
        spans = [*self._taken.get(id(region), {}).items(), *spans_together(self._code, region)]
        others = {place for span in spans for place in range(*span)}
        begin = end = 0
        for position, part in enumerate(region):
            is_taken = position not in others and self._takes(part)
            if not is_taken or (_changes([part]) and _changes_others(region[begin : position + 1])):
                if end > begin:
                    yield begin, end, position
                begin = end = position + 1
            elif isinstance(part, Repeat) or (end > begin and self._leaves_tensor(part)):
                end = position + 1
        if end > begin:
            yield begin, end, len(region)

    def _leaves_tensor(self, part: Part) -> bool:
        """Whether a part makes a tensor of a list, or writes to one."""
        entry = self._code.called(part) if isinstance(part, Step) else None
        return _makes_tensor(self._code, part) or (entry is not None and entry.is_in_place)

    def _takes(self, part: Part) -> bool:
        """Whether native code may do a part."""
        if not _takes(self._code, part):
            return False
        steps = [each for each in parts_of([part]) if isinstance(each, Step)]
        if not self._left_out.isdisjoint(steps):
            return False
        return not self._records or not any(map(self._is_recorded, steps))

    def _is_recorded(self, step: Step) -> bool:
        """Whether those who record would have to hear of a step."""
        entry = self._code.called(step)
        if entry is not None:
            return entry.is_in_place or is_of_few(self._code, step)
        name = str(step.node.attributes.get("name", ""))
        return row(step.instruction).name == "set_tensor" or (
            is_read_of_tensor(step) and name in self._set
        )


def _without_idle(registers: Registers, region: Region, begin: int, end: int) -> int:
    """Where parts begin without steps in front of which nothing there reads."""
    while begin < end:
        part = region[begin]
        if not isinstance(part, Step):
            break
        uses = Row(registers)
        for each in region[begin + 1 : end]:
            uses.add(each)
        if not uses.exposed.isdisjoint(targets_of(part)):
            break
        begin += 1
    return begin


def _takes(code: Code, part: Part) -> bool:
    """Whether native code may do a part, as far as its operators and the types of values tell."""
    is_read = isinstance(part, Step) and part.node.kind in _READING
    if isinstance(part, Step) and (
        lists_tensors(part.node) or row(part.instruction).name == "free"
    ):
        return True
    if isinstance(part, Step) and _changes_tensors_kept(part):
        return _is_made(part) and _has_native(code, part)
    for each in part.node.outputs:
        if not (each.type in _READ or _has_kind(each.type) or (is_read and _enters(each.type))):
            return False
    if isinstance(part, Branch):
        return all(_takes(code, each) for each in (*part.then, *part.otherwise))
    if isinstance(part, Repeat):
        return all(_takes(code, each) for each in part.body)
    return _has_native(code, part)


def _has_native(code: Code, step: Step) -> bool:
    """Whether there is native code for what a step does."""
    called = code.called(step)
    return bool(called.native) if called else row(step.instruction).name not in _REFUSED


_READING: Final = frozenset(("aten::__getitem__", "prim::TupleUnpack", "prim::TupleIndex"))
"""What takes parts of containers with tensors, which nothing else may do."""


def _changes_tensors_kept(step: Step) -> bool:
    """Whether a step changes a container with tensors."""
    signature = step.node.signature
    is_free = row(step.instruction).name == "free"
    if is_free or signature is None or not signature.is_mutable:
        return False
    type = step.node.inputs[0].type
    return type != TENSOR and _enters(type) and not _has_kind(type)


def _is_made(step: Step) -> bool:
    """Whether what a step changes is a list that the code makes there."""
    return step.node.inputs[0].node.kind == "prim::ListConstruct"


def _changes(region: Region) -> list[Value]:
    """The containers with tensors that parts change."""
    steps = (part for part in parts_of(region) if isinstance(part, Step))
    return [each.node.inputs[0] for each in steps if _changes_tensors_kept(each)]


def _changes_others(region: Region) -> bool:
    """Whether parts change lists of tensors that they have not made."""
    changed = _changes(region)
    made = {value for part in parts_of(region if changed else ()) for value in part.node.outputs}
    return not made.issuperset(changed)


def _enters(type: Type) -> bool:
    """Whether values of a type go in."""
    try:
        kind_of(type)
    except NotNative:
        return False
    return True


def _has_kind(type: Type) -> bool:
    """Whether values of a type are native ones without tensors, which go in and out."""
    try:
        kind = kind_of(type)
    except NotNative:
        return False
    return kind.may_cross and not holds_arrays(kind)


def _island(
    code: Code,
    registers: Registers,
    moved: Moved,
    region: Region,
    live: frozenset[int],
    records: bool,
    changing: frozenset[str],
) -> tuple[Island, tuple[int, ...]] | None:
    """The island that parts are, behind which the registers `live` are needed, and the registers
    that it empties; None if what it takes or gives is no native value."""
    whole = region
    reads = ReadsInFront(registers, region, code.register_count + 1, changing)
    region, texts = reads.region, reads.texts
    if (records and any(map(is_read_of_tensor, parts_of(region)))) or _changes_others(region):
        return None
    uses = Row(registers)
    for part in region:
        uses.add(part)
    results = sorted(uses.written & live)
    given, made = sorted(uses.given(results)), _types_written(region)
    types = {**made, **_types_read(region, moved), **dict.fromkeys(texts, TENSOR)}
    if len(given) + len(results) > MOST_GIVEN:
        return None
    if not all(each in types and _enters(types[each]) for each in given):
        return None
    own = _tensors_made(code, registers, region, records)
    if not all(each in made and (_has_kind(made[each]) or each in own) for each in results):
        return None
    node = Node(code.nodes[0].graph, "prim::TupleConstruct", region[-1].node.span)
    constants, body = [*code.constants, True], list(region)
    if results:
        node.add_output(TupleType(tuple(made[each] for each in results)))
        body.append(Step((_TUPLE, code.register_count, tuple(results)), node))
    body.append(Step((_RETURN, code.register_count if results else -len(constants)), node))
    part_of = Code(
        code.name,
        body,
        len(given),
        code.register_count + 1 + len(texts),
        constants,
        code.operators,
        code.types,
        code.names,
    )
    written = _written(part_of, given)
    if len(part_of.instructions) > LONGEST or written is None:
        return None
    if written and any(made[each].list_of == TENSOR for each in results):
        return None
    arguments = tuple(types[each] for each in given)
    told = tuple(texts.get(each, f"r{each}") for each in given)
    island = Island(part_of, tuple(given), told, arguments, tuple(results))
    return island, tuple(sorted(emptied_by(registers, whole) - set(results)))


def _tensors_made(code: Code, registers: Registers, region: Region, records: bool) -> set[int]:
    """The registers in which parts leave tensors that native code makes, or lists of tensors that
    it fills: not for those who record operators, since parts of tensors may be in there."""
    made = set[int]()
    for part in region:
        if isinstance(part, Step) and _makes(code, part, records):
            made.update(targets_of(part))
        else:
            made -= registers.written([part])
    return made


def _makes(code: Code, step: Step, records: bool) -> bool:
    if is_maker(code, step):
        return True
    return lists_tensors(step.node) and step.node.output.type.list_of == TENSOR and not records


def _makes_tensor(code: Code, part: Part) -> bool:
    """Whether a part makes a tensor of a list, of a dtype that native code has."""
    if not isinstance(part, Step) or part.node.kind != "aten::tensor" or not is_maker(code, part):
        return False
    data, dtype, *_ = part.node.inputs
    element = data.type
    while element.list_of is not None:
        element = element.list_of
    known = (None, *(DTYPES[name].number for name in _MADE.get(element, ())))
    return dtype.node.is_constant and dtype.node.value in known


_MADE: Final[dict[Type, tuple[str, ...]]] = {
    INT: ("int64", "float32", "float64"),
    BOOL: ("bool", "int64", "float32", "float64"),
    FLOAT: ("float32", "float64"),
}
"""The dtypes of tensors that are made of lists of numbers."""


def _written(code: Code, given: Sequence[int]) -> list[int] | None:
    """The places of the tensors that an island is given and writes; None if it writes others that
    it has not made."""
    try:
        return written_places(code, given)
    except NotNative:
        return None


Moved = Mapping[tuple[Node, int], Type]
"""The types of what is moved to a register for a branch or loop: its results, what it carries."""


def _moved(region: Region) -> Iterator[tuple[tuple[Node, int], Type]]:
    for part in region:
        if isinstance(part, Branch):
            for register, value in zip(part.results, part.node.outputs, strict=False):
                yield (part.node, register), value.type
            yield from _moved(part.then)
            yield from _moved(part.otherwise)
        elif isinstance(part, Repeat):
            for register, value in zip(part.carried, _carried(part), strict=False):
                yield (part.node, register), value.type
            yield from _moved(part.body)


def _carried(part: Repeat) -> Sequence[Value]:
    return part.node.blocks[0].inputs[1:]


def _types_read(region: Region, moved: Moved) -> dict[int, Type]:
    """The types of what parts read from registers that they have not written; one that may be None,
    if that is what any reader takes."""
    found = dict[int, Type]()
    for register, type in _reads(region, moved, set()):
        before = found.setdefault(register, type)
        if type.optional_of is not None and before.optional_of is None:
            found[register] = type
    return found


def _reads(region: Region, moved: Moved, own: set[int]) -> Iterator[tuple[int, Type]]:
    """What parts read from registers that are not their `own`, which they write as they go."""
    for part in region:
        read = _read_by_step(part, moved) if isinstance(part, Step) else _read_at_head(part)
        yield from ((register, type) for register, type in read if register not in own)
        if isinstance(part, Step):
            own.update(targets_of(part))
        elif isinstance(part, Branch):
            yield from _reads(part.then, moved, own)
            yield from _reads(part.otherwise, moved, own)
        else:
            own.add(part.index)
            yield from _reads(part.body, moved, own)


def _read_by_step(step: Step, moved: Moved) -> Iterator[tuple[int, Type]]:
    if step.instruction[0] != _MOVE:
        yield from ((number, value.type) for number, value in operands_read(step))
        return
    _, goal, source = step.instruction
    assert isinstance(goal, int)
    assert isinstance(source, int)
    type = moved.get((step.node, goal))
    if type is not None:
        yield source, type


def _read_at_head(part: Branch | Repeat) -> Iterator[tuple[int, Type]]:
    """What decides of a branch or loop, and what a loop begins with."""
    if isinstance(part, Branch):
        yield part.condition, BOOL
        return
    yield from ((each, INT) for each in (part.count,) if each is not None)
    yield from ((each, BOOL) for each in (part.condition,) if each is not None)
    pairs = zip(part.carried, _carried(part), strict=False)
    yield from ((register, value.type) for register, value in pairs)


def _types_written(region: Region) -> dict[int, Type]:
    """The types of what a row of parts leaves in registers, as far as they are known."""
    found = dict[int, Type]()
    for part in region:
        for register, value in results_of(part):
            if value is None:
                found.pop(register, None)
            else:
                found[register] = value.type
    return found


class _Part:
    """An island at work: called with what it takes, it gives a tuple of its results, or None where
    the plan has to do it; then the plan tells when it began, behind it."""

    def __init__(self, native: Native, island: Island, cool: Callable[[], object]) -> None:
        self.code = island.code
        self._island, self._native, self.cool = island, native, cool
        self._how, self._run = native.how, native.quick_run()
        self._tensors = [place for place, type in enumerate(island.types) if type == TENSOR]
        if _gives_lists(island):  # in which a tensor that is given is the very one
            self._tensors = []

    def is_of(self, island: Island) -> bool:
        """Whether it does what an island does that begins and ends where its own does."""
        return self._island[1:] == island[1:]

    @property
    def is_native(self) -> bool:
        return self._native.is_ready

    @property
    def why_not(self) -> str:
        return self._native.refusal

    @property
    def small(self) -> list[Step]:
        """Its steps that make tensors of few numbers, which may prove to be many."""
        steps = (part for part in parts_of(self.code.body) if isinstance(part, Step))
        return [each for each in steps if is_of_few(self.code, each)]

    def __call__(self, *values: object) -> object:
        held = self._held(values) if self._tensors else values
        run = self._run
        if run is not None:
            found = run(ROUNDS, NEVER, self._how, *held)
            if found is not FAILED and found is not STOPPED:
                return () if found is True else found
        found = self._native.attempt(held)
        self._run = self._native.quick_run()
        if found is FAILED:
            if self._native.refusal:
                self.cool()
            return None
        return () if found is True else found

    def _held(self, values: Sequence[object]) -> Sequence[object]:
        """The same with views of our own: other threads may give tensors other sizes meanwhile."""
        found = list(values)
        for place in self._tensors:
            value = values[place]
            if type(value) is np.ndarray:
                found[place] = value[...]
        return found

    def spent(self, since: float) -> None:
        """The plan did it, from a time of `thread_time` up to now."""
        self._native.count_in_plan(thread_time() - since)


def _gives_lists(island: Island) -> bool:
    """Whether lists of tensors are among the results of an island."""
    if not island.results:
        return False
    types = island.code.body[-2].node.output.type.tuple_of or ()
    return any(each.list_of == TENSOR for each in types)


class _Islands:
    """Finds islands, and has them run natively when they are hot."""

    find = staticmethod(find_islands)

    def at_work(self, island: Island, cool: Callable[[], object], known: object) -> NativePart:
        """One at work, that which is `known` if it is one; `cool` is called when it never will be
        native."""
        if isinstance(known, _Part) and known.is_of(island):
            known.cool = cool
            return known
        native = native_island(island.code, island.types, island.given)
        return _Part(native, island, cool)


ISLANDS: Final = _Islands()
