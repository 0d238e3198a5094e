"""Finding stretches of register code that may be done again by the kernels that they ran.

A stretch is a row of steps, branches and loops whose way depends on sizes and numbers alone, as far
as its operators tell.  It takes tensors and numbers, and gives new tensors, and a list of them at
most.  What it reads of modules it is given, too, and what it leaves in their attributes is given
like results.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from typing import Final

from ...frontend.foundations.made_once import made_once
from ...ir.graphs.graph import Value
from ...ops.table.record import Operator
from ...typecheck.types.types import TENSOR
from ..code.code import Branch, Code, Region, Repeat, Step, parts_of
from ..code.instructions import opcode, operator_number, row
from .building import Building, Found
from .chains import find_chains
from .given import (
    changes_list_of_module,
    is_only_read,
    lists_read,
    may_be_lifted,
    reads_dict,
    reads_of,
    written_by,
    written_lists,
)
from .groups import find_runs
from .lifting import makes_tensor, reads_element
from .loop_tests import test_spans
from .masks import Masks
from .numerals import Numerals
from .registers import Part, Registers, made_by, values_read
from .slot_writes import SETS, changing_numbers, know_objects, may_be_set
from .taken import takes_operator

__all__ = ["Search", "Stretches", "find_stretches", "spans_together"]

FEWEST: Final = 8
FEWEST_IN_LOOPS: Final = 12
"""What a stretch is worth at least: four for an operator over tensors that makes something, one for
a view, three times as much in a loop.  In loops, which native code may do as wholes, operators
alone count."""
_OPERATOR, _VIEW = 4, 1

Stretches = dict[int, dict[int, Found]]

_REFUSED: Final = frozenset(
    "create method function return enum_name enum_value dict tensor_dict is_instance".split()
)
_MOST_LEFT_OUT: Final = 10
_MOST_BEGUN: Final = 4
"""Parts at the end of a row that are left out, and parts at its begin that are tried as the first,
before the row is left alone."""

LONGEST: Final = 1000
LONGEST_NETWORK: Final = 4000
"""Instructions of a code that is looked at, and of one with convolutions."""


class Search:
    """The search for the stretches of a code; what it finds is left to the first plan."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._found: Stretches | None = None

    @made_once
    def has_large(self) -> bool:
        """Whether there is a stretch as large as those in loops are."""
        finder = _Finder(self._code, ()).searched()
        self._found = finder.found
        return finder.largest >= FEWEST_IN_LOOPS

    def taken(self) -> Stretches:
        """What it finds, for one plan alone."""
        found, self._found = self._found, None
        return find_stretches(self._code) if found is None else found


def find_stretches(code: Code, left_out: Collection[Step] = ()) -> Stretches:
    """The stretches of a code without the steps that are left out: of each region, by its identity,
    where they begin."""
    return _Finder(code, left_out).searched().found


class _Finder:
    """The search through one code."""

    def __init__(self, code: Code, left_out: Collection[Step]) -> None:
        self.code, self._is_large = code, False
        self.is_network = any(each.makes_networks for each in code.operators)
        self._left_out = frozenset(left_out)
        self.found: Stretches = {}
        self.largest = 0
        """What the largest is worth, its views aside."""
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
        self._changing = changing_numbers(code)
        self._front = dict[int, str]()
        self._sets = any(row(each).name in SETS for each in code.instructions)

    def searched(self) -> _Finder:
        """The same, when it has searched the whole code."""
        longest = LONGEST_NETWORK if self.is_network else LONGEST
        if len(self.code.instructions) <= longest:
            self.region(self.code.body, frozenset())
        return self

    def region(self, region: Region, live_end: frozenset[int]) -> None:
        """Find those of a region, behind which the registers `live_end` are needed."""
        fewest, view = (FEWEST_IN_LOOPS, 0) if self._is_large else (FEWEST, _VIEW)
        if _worth(self.code, region, view) < fewest:  # nor is any part of it worth more
            return
        position, failed, tried = 0, -1, 0
        joined, tests = spans_together(self.code, region), test_spans(region)
        begins, together = {begin for begin, _ in tests}, [*joined, *tests]
        needed = self._registers.needed(region, live_end)
        latest = self._latest_begins(region)
        worth = [0, *accumulate(_worth(self.code, [part], view) for part in region)]
        views = [0, *accumulate(_makes_view(self.code, part) for part in region)]
        empty = list(map(_makes_empty_list, region))
        while position < len(region):
            is_begin = position in begins or not _is_idle(region[position])
            is_begin = is_begin and position <= latest[position]
            is_begin = is_begin and not any(a < position < b for a, b in together)
            stop = position
            while is_begin and stop < len(region) and position <= latest[stop]:
                stop += 1
            found = None
            while found is None and is_begin and stop != failed:
                ends = _ends(position, stop, together, empty, worth, views, joined, fewest)
                found, known = self._longest(region, ends, needed)
                if known >= stop:
                    break
                stop = known  # what lies there is not known, so up to there at most
            if found is not None:
                self.found.setdefault(id(region), {})[position] = found
                stop = found.stop
                self.largest = max(self.largest, _worth(self.code, region[position:stop], 0))
            else:
                tried += is_begin
                failed, tried = (stop, 0) if tried >= _MOST_BEGUN else (failed, tried)
                stop = position + 1
                self._inside(region[position], needed[position + 1])
            self._indices -= self._registers.written(region[position:stop])
            for part in region[position:stop] if self._sets else ():
                know_objects(self._front, part, self._registers.uses(part).written)
            position = stop

    def _inside(self, part: Part, after: frozenset[int]) -> None:
        """Look into a loop or branch, behind which the registers `after` are needed."""
        before, front, is_large = set(self._indices), dict(self._front), self._is_large
        if isinstance(part, Repeat):
            self._is_large = True
            self._indices.add(part.index)
            know_objects(front, part, self._registers.uses(part).written)
        for region, live in self._registers.inside(part, after):
            self._front = dict(front)
            self.region(region, live)
        self._indices, self._front, self._is_large = before, front, is_large

    def _longest(
        self, region: Region, ends: list[int], needed: Sequence[frozenset[int]]
    ) -> tuple[Found | None, int]:
        """The longest stretch that begins at the first of the `ends` and reaches up to another, and
        the last position up to which it is known what parts do."""
        building, built, known = None, list[tuple[int, Building]](), ends[0]
        for begin, end in pairwise(ends):
            building = Building(
                *(self.code, self._registers, building),
                writes=self._writes,
                makes=self._makes,
                changing=self._changing,
                front=self._front,
            )
            for position, part in enumerate(region[begin:end], begin):
                building.take(part)
                known = position + 1 if building.is_known else known
            built.append((end, building))
        for end, building in reversed(built):
            found = building.found(end, needed[end])
            if found is not None and self._indices.isdisjoint(found.stretch.given):
                return found, known  # one that takes another number in each round is never known
        return None, known

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
        return isinstance(part, Repeat) and not _worth(self.code, part.body, 0)

    def _numbers_read(self, part: Part) -> frozenset[int]:
        """The registers without tensors that a part reads before it writes to them."""
        read = self._registers.uses(part).read
        steps = (each for each in parts_of([part]) if isinstance(each, Step))
        values = (each for step in steps for each in values_read(step))
        return read - {number for number, value in values if value.type == TENSOR}

    def _takes(self, part: Part, *, is_on_a_way: bool = False, is_inside: bool = False) -> bool:
        """Whether a part can belong to a stretch; loops over numbers alone are none, but those on a
        way of a branch, such as that of modules that train, and some of networks."""
        if isinstance(part, Branch):
            parts = (*part.then, *part.otherwise)
            return all(self._takes(each, is_on_a_way=True, is_inside=True) for each in parts)
        if isinstance(part, Repeat):
            is_taken = is_on_a_way or not self._is_loop_over_numbers(part)
            inside = (
                self._takes(each, is_on_a_way=is_on_a_way, is_inside=True) for each in part.body
            )
            return is_taken and all(inside)
        if part in self._left_out or (reads_dict(part) and not reads_of(part)):
            return False
        if changes_list_of_module(part):
            return False
        entry = self.code.called(part)
        if entry is not None:
            is_cut = entry.data_dependent is not None and self._masks.are_among(part.node)
            is_taken = takes_operator(entry) or bool(self._numerals.read_by(part.node))
            is_taken = is_taken or self._reads_of_module(part, entry)
            is_cut |= not is_inside and self._writes_to_module(part, entry)
            return is_taken and not is_cut
        name = row(part.instruction).name
        if name in ("get_slot", "get_tensor"):
            return self._reads_slots
        if name in SETS:
            return self._reads_slots and may_be_set(part, is_inside=is_inside)
        return name not in _REFUSED

    def _writes_to_module(self, step: Step, entry: Operator) -> bool:
        """Whether a step writes to a tensor of a module, which is outside."""
        if not entry.is_in_place:
            return False
        return self.code.whole_of(step.node.inputs[0]).node.kind == "prim::GetAttr"

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
    together: Sequence[tuple[int, int]],
    empty: Sequence[bool],
    worth: Sequence[int],
    views: Sequence[int],
    joined: Sequence[tuple[int, int]],
    fewest: int,
) -> list[int]:
    """`start`, and where stretches that begin there and reach up to `stop` at most may end: not
    amid what is `together`, some of it as `joined` operators, nor behind `empty` lists, which
    belong to what fills them.  `worth` is that of all in front of each position, `views` how many
    views are made there, and `fewest` what a stretch is worth at least."""
    found = list[int]()
    for last in range(stop, max(start, stop - _MOST_LEFT_OUT), -1):
        here = worth[last] - worth[start]
        if here < fewest:
            break
        if empty[last - 1] or any(a < last < b for a, b in together):
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
    """Whether a stretch need not begin with a part: it makes no tensor, or one of numbers that are
    other ones in each call, which native code may do behind a loop that gives them."""
    if not isinstance(part, Step):
        return False
    if makes_tensor(part.node):
        return not all(map(_is_of_constants, part.node.inputs))
    instruction = part.instruction
    return operator_number(instruction) is None and row(instruction).name != "list"


def _makes_empty_list(part: Part) -> bool:
    """Whether a part makes a list of tensors that has none yet."""
    return (
        isinstance(part, Step)
        and part.node.kind == "prim::ListConstruct"
        and (not part.node.inputs and part.node.output.type.list_of == TENSOR)
    )


def _is_of_constants(value: Value) -> bool:
    """Whether a value is a constant, or a list of constants of which a tensor is made."""
    node = value.node
    if node.kind != "prim::ListConstruct":
        return node.is_constant
    is_list = all(map(_is_of_constants, node.inputs))
    return is_list and all(makes_tensor(use.user) for use in value.uses)


def _makes_view(code: Code, part: Part) -> bool:
    """Whether a part is a step that makes a view."""
    entry = code.called(part) if isinstance(part, Step) else None
    return entry is not None and entry.is_view


def _worth(code: Code, region: Sequence[Part], view: int, weight: int = 1) -> int:
    """What operators over tensors are worth there, of which `view` is what a view is."""
    count = 0
    for part in region:
        if isinstance(part, Step):
            entry = code.called(part)
            if entry is not None:
                is_counted = "Tensor" in entry.schema and not entry.asks_form
                is_counted = is_counted and not makes_tensor(part.node)
                count += weight * is_counted * (view if entry.is_view else _OPERATOR)
        elif isinstance(part, Branch):
            ways = (part.then, part.otherwise)
            count += sum(_worth(code, way, view, weight) for way in ways)
        else:
            count += _worth(code, part.body, view, 3 * weight)
    return count
