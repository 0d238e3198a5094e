"""Finding stretches of register code that may be done again by the kernels that they ran.

A stretch is a row of steps, branches and loops whose way depends on sizes and numbers alone, as far
as its operators tell.  It takes tensors and numbers, and gives new tensors, and a list of them at
most.  What it reads of modules it is given, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from ...ir.graphs.graph import Value
from ...ops.table.record import Operator
from ...typecheck.types.types import TENSOR, Type
from ..code.code import Branch, Code, Region, Repeat, Step, parts_of
from ..code.instructions import opcode, operator_number, read_numbers, row
from .chains import find_chains
from .given import (
    is_only_read,
    lists_read,
    may_be_given,
    may_be_lifted,
    reads_dict,
    reads_of,
    types_given,
    written_by,
    written_lists,
)
from .groups import find_runs
from .lifting import Lifting, is_item, reads_element, single_steps, without_unread
from .loop_tests import test_spans
from .masks import Masks
from .numerals import Numerals
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
from .replaying import Stretch
from .slots import is_plain_slot
from .taken import is_object, takes_operator

__all__ = ["Found", "find_stretches", "spans_together"]

FEWEST: Final = 3
"""Operators over tensors, each round of a loop counted as three."""

_REFUSED: Final = frozenset(
    "set_slot set_tensor create method function return enum_name enum_value dict tensor_dict "
    "is_instance".split()
)
_MOVE, _RETURN = map(opcode, ("move", "return"))
_MOST_GIVEN: Final = 500
_MOST_LEFT_OUT: Final = 10
_MOST_BEGUN: Final = 4
"""Parts at the end of a row that are left out, and parts at its begin that are tried as the first,
before the row is left alone."""

LONGEST: Final = 1000
LONGEST_NETWORK: Final = 4000
"""Instructions of a code that is looked at, and of one with convolutions."""


class Found(NamedTuple):
    """A stretch from one position of a region up to another, and the text of what it is given.

    `objects` are the registers that hold objects behind it, with the text of each, `lifted` steps
    that are done in front of it, `read` the registers that these read, with the text of each.
    """

    stop: int
    stretch: Stretch
    given: tuple[str, ...]
    emptied: tuple[int, ...]
    objects: tuple[tuple[int, str], ...]
    lifted: tuple[Step, ...] = ()
    read: tuple[tuple[int, str], ...] = ()


def find_stretches(code: Code, left_out: Collection[Step] = ()) -> dict[int, dict[int, Found]]:
    """The stretches of a code without the steps that are left out: of each region, by its identity,
    where they begin."""
    finder = _Finder(code, left_out)
    if len(code.instructions) <= (LONGEST_NETWORK if finder.is_network else LONGEST):
        finder.region(code.body, frozenset())
    return finder.found


class _Finder:
    """The search through one code."""

    def __init__(self, code: Code, left_out: Collection[Step]) -> None:
        self.code = code
        self.is_network = any(each.makes_networks for each in code.operators)
        self._left_out = frozenset(left_out)
        self.found: dict[int, dict[int, Found]] = {}
        self._indices: set[int] = set()
        self._registers, self._masks = Registers(), Masks(code)
        written = {whole for part in parts_of(code.body) for whole in written_by(code, part)}
        self._numerals = Numerals(code, written)
        creates = opcode("create")  # an object may lack what is read on a way that is not gone
        self._reads_slots = all(each[0] != creates for each in code.instructions)
        values = (value for node in code.nodes for value in (*node.inputs, *node.outputs))
        self._has_lists = any(value.type.list_of == TENSOR for value in values)
        self._writes = any(each.is_in_place for each in code.operators)
        self._makes = not self._writes and not any(map(self._numerals.read_by, code.nodes))

    def region(self, region: Region, live_end: frozenset[int]) -> None:
        """Find those of a region, behind which the registers `live_end` are needed."""
        if _worth(self.code, region) < FEWEST:  # nor is any part of it worth more
            return
        position, failed, tried = 0, -1, 0
        joined, tests = spans_together(self.code, region), test_spans(region)
        begins, together = {begin for begin, _ in tests}, [*joined, *tests]
        needed = self._registers.needed(region, live_end)
        latest = self._latest_begins(region)
        worth = [0, *accumulate(_worth(self.code, [part]) for part in region)]
        views = [0, *accumulate(_makes_view(self.code, part) for part in region)]
        while position < len(region):
            is_begin = position in begins or not _is_idle(region[position])
            is_begin = is_begin and position <= latest[position]
            is_begin = is_begin and not any(a < position < b for a, b in together)
            stop = position
            while is_begin and stop < len(region) and position <= latest[stop]:
                stop += 1
            found = None
            if is_begin and stop != failed:
                ends = _ends(position, stop, joined, tests, worth, views)
                found = self._longest(region, ends, needed)
            if found is not None:
                self.found.setdefault(id(region), {})[position] = found
                stop = found.stop
            else:
                tried += is_begin
                failed, tried = (stop, 0) if tried >= _MOST_BEGUN else (failed, tried)
                stop = position + 1
                self._inside(region[position], needed[position + 1])
            self._indices -= self._registers.written(region[position:stop])
            position = stop

    def _inside(self, part: Part, after: frozenset[int]) -> None:
        """Look into a loop or branch, behind which the registers `after` are needed."""
        before = set(self._indices)
        if isinstance(part, Repeat):
            self._indices.add(part.index)
        for region, live in self._registers.inside(part, after):
            self.region(region, live)
        self._indices = before

    def _longest(
        self, region: Region, ends: list[int], needed: Sequence[frozenset[int]]
    ) -> Found | None:
        """The longest stretch that begins at the first of the `ends` and reaches up to another."""
        building, built = None, list[tuple[int, _Building]]()
        for begin, end in pairwise(ends):
            building = _Building(
                *(self.code, self._registers, building), writes=self._writes, makes=self._makes
            )
            for part in region[begin:end]:
                building.take(part)
            built.append((end, building))
        for end, building in reversed(built):
            found = building.found(end, needed[end])
            if found is not None and self._indices.isdisjoint(found.stretch.given):
                return found  # one that takes another number in each round would never be known
        return None

    def _latest_begins(self, region: Region) -> list[int]:
        """Of each part of a region, the last position where a stretch with it may begin, and -1 if
        none may.  Lists of tensors that it reads come from the stretch: no call is known that takes
        one.  So do tensors that it writes, and, of a network, the numbers that a loop over numbers
        alone reads: they follow from sizes then."""
        found, origins, made = list[int](), dict[int, int](), dict[Value, int]()
        written = dict[int, int]()
        for position, part in enumerate(region):
            made.update(dict.fromkeys(made_by([part]), position))
            latest = list[int]()
            if self._has_lists and not may_be_lifted(part, origins):
                read = lists_read(part).items()
                latest += [
                    origins.get(register, -1)
                    for register, value in read
                    if register in origins or not self._may_be_passed(part, value)
                ]
            if self._writes:
                latest += [made.get(whole, -1) for whole in written_by(self.code, part)]
            latest += [made.get(each, -1) for each in self._numerals.read_by(part.node)]
            is_of_numbers = self.is_network and self._is_loop_over_numbers(part)
            if is_of_numbers:
                latest += [written.get(number, -1) for number in self._numbers_read(part)]
            takes = self._takes(part, is_on_a_way=is_of_numbers)
            found.append(min([position, *latest]) if takes else -1)
            written.update(dict.fromkeys(self._registers.uses(part).written, position))
            for register, is_list in written_lists(part) if self._has_lists else ():
                origins[register] = position if is_list else -1
        return found

    def _may_be_passed(self, part: Part, value: Value) -> bool:
        """Whether all tensors of a list are given for a part: a loop goes through it."""
        is_loop = isinstance(part, Repeat) and not self.is_network
        return is_loop and is_only_read(value)

    def _is_loop_over_numbers(self, part: Part) -> bool:
        return isinstance(part, Repeat) and not _worth(self.code, part.body)

    def _numbers_read(self, part: Part) -> frozenset[int]:
        """The registers without tensors that a part reads before it writes to them."""
        read = self._registers.uses(part).read
        steps = (each for each in parts_of([part]) if isinstance(each, Step))
        values = (each for step in steps for each in values_read(step))
        return read - {number for number, value in values if value.type == TENSOR}

    def _takes(self, part: Part, *, is_on_a_way: bool = False) -> bool:
        """Whether a part can belong to a stretch; loops over numbers alone are none, but those on a
        way of a branch, such as that of modules that train, and some of networks."""
        if isinstance(part, Branch):
            parts = (*part.then, *part.otherwise)
            return all(self._takes(each, is_on_a_way=True) for each in parts)
        if isinstance(part, Repeat):
            is_taken = is_on_a_way or not self._is_loop_over_numbers(part)
            inside = (self._takes(each, is_on_a_way=is_on_a_way) for each in part.body)
            return is_taken and all(inside)
        if part in self._left_out or (reads_dict(part) and not reads_of(part)):
            return False
        entry = self.code.called(part)
        if entry is not None:
            is_cut = entry.data_dependent is not None and self._masks.are_among(part.node)
            is_taken = takes_operator(entry) or bool(self._numerals.read_by(part.node))
            is_taken = is_taken or self._reads_of_module(part, entry)
            return is_taken and not is_cut
        name = row(part.instruction).name
        if name in ("get_slot", "get_tensor"):
            return self._reads_slots
        return name not in _REFUSED

    def _reads_of_module(self, step: Step, entry: Operator) -> bool:
        """Whether a step reads the scale or zero point that a tensor of a module has, which it may
        do in front: other numbers may be new ones in each call."""
        if not (self._reads_slots and reads_element(entry)):
            return False
        users = (self.code.called_by.get(use.user) for use in step.node.output.uses)
        is_setting = all(each is not None and each.quantized_prepared for each in users)
        return is_setting and step.node.inputs[0].node.kind == "prim::GetAttr"


def _ends(
    start: int,
    stop: int,
    joined: Sequence[tuple[int, int]],
    tests: Sequence[tuple[int, int]],
    worth: Sequence[int],
    views: Sequence[int],
) -> list[int]:
    """`start`, and where stretches that begin there and reach up to `stop` at most may end; what is
    `joined`, and loops with their `tests`, may not be cut, `worth` is that of all in front of each
    position, and `views` how many views are made there."""
    found = list[int]()
    for last in range(stop, max(start, stop - _MOST_LEFT_OUT), -1):
        here = worth[last] - worth[start]
        if here < FEWEST:
            break
        if any(a < last < b for a, b in (*joined, *tests)):
            continue
        is_group = any(worth[b] - worth[a] == here for a, b in joined if start <= a < last)
        if is_group and views[last] == views[start]:
            break  # it is one group, and better so where nobody makes views for it
        found.append(last)
    return [start, *reversed(found)]


def spans_together(code: Code, region: Region) -> list[tuple[int, int]]:
    """The chains and groups of a region, none of which may be cut: from where to where."""
    chains = find_chains(code, region)
    chained = {place for begin, each in chains.items() for place in (begin, *each.links)}
    found = [(begin, each.links[-1] + 1) for begin, each in chains.items()]
    runs = find_runs(code, region, chained)
    return [*found, *((begin, run.stop) for begin, run in runs.items())]


def _is_idle(part: Part) -> bool:
    """Whether a stretch need not begin with a part: it makes no tensor."""
    if not isinstance(part, Step):
        return False
    instruction = part.instruction
    return operator_number(instruction) is None and row(instruction).name != "list"


def _makes_view(code: Code, part: Part) -> bool:
    """Whether a part is a step that makes a view."""
    entry = code.called(part) if isinstance(part, Step) else None
    return entry is not None and entry.is_view


def _worth(code: Code, region: Sequence[Part], weight: int = 1) -> int:
    """How many operators over tensors make something there."""
    count = 0
    for part in region:
        if isinstance(part, Step):
            entry = code.called(part)
            if entry is not None:
                makes = "Tensor" in entry.schema and not (entry.is_view or entry.asks_form)
                count += weight * makes
        elif isinstance(part, Branch):
            count += _worth(code, part.then, weight) + _worth(code, part.otherwise, weight)
        else:
            count += _worth(code, part.body, 3 * weight)
    return count


# -------------------------------------------------------------------------------------- building


class _Building:
    """A stretch whose reads of modules are put in front of it, part by part."""

    def __init__(
        self,
        code: Code,
        registers: Registers,
        before: _Building | None,
        *,
        writes: bool,
        makes: bool,
    ) -> None:
        """No parts yet, or those of another one; `writes` says whether the code has operators
        that write tensors, `makes` whether tensors of numbers may be made in front."""
        self._code, self._registers, self._writes = code, registers, writes
        self._region: Region = [*before._region] if before else []
        self._body: Region = [*before._body] if before else []
        self._all: Row = Row(registers, before._all if before else None)
        self._row: Row = Row(registers, before._row if before else None)
        self._paths: dict[int, str] = dict(before._paths) if before else {}
        self._own: set[int] = set(before._own) if before else set()
        self._reads: dict[str, int] = dict(before._reads) if before else {}
        self._read_lists: set[int] = set(before._read_lists) if before else set()
        self._types: dict[int, Type | None] = dict(before._types) if before else {}
        self._views: set[int] = set(before._views) if before else set()
        self._lifting: Lifting = Lifting(before._lifting if before else None, makes=makes)
        self._numbers: set[int] = set(before._numbers) if before else set()
        self._made: set[Value] = set(before._made) if before else set()
        self._is_known: bool = before is None or before._is_known

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

        Numbers are made in both places: whether the stretch needs them shows at its end.
        """
        if not isinstance(part, Step):
            return []
        lifting, entry = self._lifting, self._code.called(part)
        made: Region = []
        if lifting.takes_number(part, self._own):
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
            self._numbers.update(map(id, made))
        else:
            self._numbers.add(id(part))
        is_number = made == [part]
        for target in held:
            self._wrote(target)
            if not is_number:
                self._views.add(target)
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
        objects = {number: path for number, path in self._paths.items() if number in live}
        body, uses, lifted = self._without_lifted(live)
        results = sorted((uses.written & live) - objects.keys())
        lists = [each for each in results if self._types.get(each) != TENSOR]
        if not results or len(lists) > 1 or any(not self._is_list(each) for each in lists):
            return None
        if not self._views.isdisjoint(results):
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
        read = tuple((number, texts[number]) for number in sorted(asked & texts.keys()))
        return Found(stop, stretch, texts_given, heavy, tuple(objects.items()), lifted, read)

    def _without_lifted(self, live: frozenset[int]) -> tuple[Region, Row, tuple[Step, ...]]:
        """The body, behind which the registers `live` are needed, what it uses, and the steps that
        are lifted out of it: without numbers of which nothing is needed but those steps."""
        if not self._lifting.steps:
            return self._body, self._row, ()
        body = without_unread(self._registers, self._body, live, lambda p: id(p) in self._numbers)
        uses = Row(self._registers)
        for part in body:
            uses.add(part)
        return body, uses, self._lifting.needed(uses.exposed)

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
        self._views.discard(register)
        self._lifting.held.pop(register, None)
        self._lifting.of_modules.pop(register, None)

    def _step(self, step: Step) -> list[Step]:
        name = row(step.instruction).name
        path = self._path_of(step, name)
        made: list[Step] = [step]
        if name in ("get_slot", "get_tensor"):
            made = [] if path else self._read(step, name)
        elif reads := reads_of(step):
            made = self._read_parts(step, reads)
        targets = list(targets_of(step))
        source = step.instruction[2] if name == "move" else None
        for register in targets if name != "free" else ():
            self._wrote(register)
        called = self._code.called(step)
        if called is not None and called.is_view:
            self._views.update(targets)
        if name == "move":
            assert isinstance(source, int)
            self._types[targets[0]] = self._types.get(source)
            if source in self._views:
                self._views.add(targets[0])
        else:
            self._know(step)
        if path:
            self._paths[targets[0]] = path
        elif name == "get_tensor" and made:
            number = made[0].instruction[2]
            assert isinstance(number, int)
            self._lifting.of_modules[targets[0]] = number
        return made

    def _path_of(self, step: Step, name: str) -> str:
        """From where a step reads an object; empty if it does no such thing."""
        is_read = name == "get_slot" and is_object(step.node.output.type)
        return self._place(step) if is_read else ""

    def _place(self, step: Step) -> str:
        """The text of a slot that is read; empty if it is not known whose it is."""
        _, _, owner, slot = step.instruction
        assert isinstance(owner, int)
        before = self._paths.get(owner) or ("" if owner in self._own else f"r{owner}")
        return before and f"{before}.slots[{slot}]"

    def _read_parts(self, step: Step, reads: Sequence[tuple[int, str]]) -> list[Step]:
        """Moves from registers of their own in the place of a step that reads parts of a dict or
        tuple, which is there in front of the stretch: dicts have to be."""
        (source, *_) = read_numbers(step.instruction)
        if source in self._own:
            self._is_known = self._is_known and not reads_dict(step)
            return [step]
        made = list[Step]()
        for target, text in reads:
            number = self._reads.setdefault(text, self._next_register)
            made.append(Step((_MOVE, target, number), step.node))
        return made

    def _read(self, step: Step, name: str) -> list[Step]:
        target, text = step.instruction[1], self._place(step)
        if not text:
            self._is_known = False
            return []
        ask = "{}" if is_plain_slot(step) else "read_slot({})"
        text = ("{}._array" if name == "get_tensor" else ask).format(text)
        number = self._reads.setdefault(text, self._next_register)
        if step.node.output.type.list_of == TENSOR:
            self._read_lists.add(number)
        return [Step((_MOVE, target, number), step.node)]
