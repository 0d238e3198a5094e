"""The text of a plan: Python source, one line an instruction, registers as local variables.

The text is made from this file's own templates, numbers of registers and table entries, and
decimal digits of whole-number constants.  No name or text of a program ever gets into it:
operators, types and other constants are reached by number (`o3`, `t1`, `c2`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeGuard

from ...ir.graphs.graph import Node
from ...ops.kernels import LARGE as JOINED
from ..bounds.guard import REGION
from ..code.code import Branch, Code, Region, Repeat, Step, place_of
from ..code.instructions import read_numbers, row
from ..code.invariant import constant_reads
from .building import Found as FoundStretch
from .chains import Found, find_chains
from .groups import Run, find_runs
from .loop_tests import loop_test
from .number_writes import COUNT, number_write
from .paths import with_paths_once
from .plan_steps import StepWriter
from .registers import targets_of
from .row_groups import RowGroup
from .slot_writes import lines_of
from .slots import is_plain_slot
from .source import FoundIsland, PlanSource
from .stretch import Stretch
from .stretches import Search, find_stretches

__all__ = ["FindIslands", "write_plan"]

FindIslands = Callable[[Code, Mapping[int, Mapping[int, int]]], dict[int, dict[int, FoundIsland]]]
"""What finds the islands of a code, of which other parts are taken."""

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
    find_islands: FindIslands | None = None,
    stretch: Stretch | None = None,
    left_out: Collection[Step] = (),
    search: Search | None = None,
    is_draft: bool = False,
) -> PlanSource | None:
    """The source of a code's plan; None if the code nests too deeply for one.

    In one that `calls_all` a line follows operators with the numbers `noted` that tells what they
    did; other operators over tensors are called, none is written out.  One that `counts` tells
    `count` what it has run, at least whenever that is more than `MANY`, as the machine does.  Where
    it is the code of a `stretch` the plan is called with what that takes, and gives a tuple of its
    results.  Stretches do without the steps `left_out`; where there are none, `search` may have
    found them.  A draft takes every step by itself.
    """
    if _depth(code.body) > DEEPEST:
        return None
    writer = _Writer(code, calls_all, noted, counts, stretch, left_out, search, is_draft)
    if find_islands is not None:
        writer.find_islands(find_islands)
    given = range(code.argument_count) if stretch is None else stretch.given
    arguments = ", ".join(f"r{i}" for i in given)
    writer.source.add(0, f"def plan({arguments}):")
    if noted:
        writer.source.add(1, "note = running.record.steps.append")
    if counts:
        writer.source.add(1, "used = 0")
    begin = len(writer.source.lines)
    if stretch is not None:
        writer.region(code.body[:-1], 1, code.nodes[-1])
        writer.source.add(1, f"return ({''.join(f'r{i}, ' for i in stretch.results)})")
        return writer.source
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

    def __init__(
        self,
        code: Code,
        calls_all: bool,
        noted: frozenset[int],
        counts: bool,
        stretch: Stretch | None = None,
        left_out: Collection[Step] = (),
        search: Search | None = None,
        is_draft: bool = False,
    ) -> None:
        self.code = code
        self.source = PlanSource()
        self._counts = counts
        over_tensors = [i for i, each in enumerate(code.operators) if "Tensor" in each.schema]
        called = frozenset(i for i in over_tensors if i not in noted) if calls_all else frozenset()
        self._steps = StepWriter(
            code,
            self.source,
            called=called,
            noted=noted,
            counts=counts,
            left_out=left_out,
            is_draft=is_draft,
        )
        self._joins = bool(over_tensors) and (not (called or noted) or stretch is not None)
        self._joins = self._joins and not is_draft
        # who looks at a stretch is told what operators by themselves write to
        writes = stretch is not None and any(each.signature.is_mutable for each in code.operators)
        self._has_groups = self._joins and not writes
        self._named_slots = 0
        self._tests: dict[int, tuple[Step, Step]] = {}
        self._written: set[int] = set()
        self._ends: dict[int, str] = {}
        self._whole: dict[int, tuple[str, Found]] = {}
        self._stretches: dict[int, dict[int, FoundStretch]] = {}
        if self._joins and not (counts or stretch):
            if left_out or search is None:
                self._stretches = find_stretches(code, left_out)
            else:
                self._stretches = search.taken()
        self._islands: dict[int, dict[int, FoundIsland]] = {}

    def find_islands(self, find: FindIslands) -> None:
        """Find what may run natively by itself, beside the stretches."""
        taken = {
            region: {begin: each.stop for begin, each in found.items()}
            for region, found in self._stretches.items()
        }
        self._islands = find(self.code, taken)

    def region(self, region: Region, depth: int, node: Node, *, is_round: bool = False) -> None:
        """Write the parts of a region; there is at least one line."""
        if not self._counts:
            self._parts(region, depth)
            return
        before, self._steps.used, line = self._steps.used, REGION, len(self.source.lines)
        self.source.add(depth, "", place_of(node))
        if is_round:
            self.source.add(depth, f"if used > {MANY}: count(used); used = 0", place_of(node))
        self._parts(region, depth)
        self.source.lines[line] += f"used += {self._steps.used:d}"
        self._steps.used = before

    def _parts(self, region: Region, depth: int) -> None:
        lines = len(self.source.lines)
        for position in range(len(region)):
            test = loop_test(region, position)
            if test is not None:
                self._tests[id(region[position])] = test
                self._written.update(map(id, test))
        position = 0
        stretches = self._stretches.get(id(region), {})
        islands = self._islands.get(id(region), {})
        for start in sorted((*stretches, *islands)):
            self._row(region[position:start], depth)
            if start in stretches:
                position = stretches[start].stop
                self._stretch(stretches[start], region[start:position], depth)
            else:
                position = islands[start].stop
                self._island(islands[start], region[start:position], depth)
        self._row(region[position:], depth)
        if len(self.source.lines) == lines:
            self.source.add(depth, "pass")

    def _stretch(self, found: FoundStretch, region: Region, depth: int) -> None:
        """Parts that are one call where native code knows what they run."""
        name = f"s{len(self.source.stretches)}"
        self.source.stretches[name] = found.stretch
        self.source.spans[name] = id(region[0]), id(region[-1])
        first = region[0] if isinstance(region[0], Step) else place_of(region[0].node)
        warm = " and ".join((f"warm{name}", *(f"differ({', '.join(e)})" for e in found.apart)))
        test = "made" if found.lifted or found.read else warm
        call = f"d{name}({', '.join(with_paths_once(found.given))}) if {test} else None"
        goals = [f"r{register}, " for register in found.stretch.results]
        if found.stretch.ends_in_list:
            goals[-1] = f"*{goals[-1]}"
        goals += [f"r{register}, " for register, _ in found.objects]
        paths = ", ".join(path for _, path in found.objects)
        values = f"*made, {paths}" if paths else "made"
        kept = f"{''.join(goals)} = {values}"
        own = [each for step in found.lifted for each in targets_of(step)]
        own += [register for register, _ in found.read]
        if own:
            self._lifted(found, warm, depth, first)
        results = [*found.stretch.results, *(register for register, _ in found.objects)]
        goal = [*lines_of(found.kept, self._steps.value), kept]
        held = [found.stretch.results[e.result] for e in found.kept if e.result is not None]
        self._if_made(call, goal, results, [*found.emptied, *own, *held], depth, first)
        if own:
            self.source.add(depth + 1, "".join(f"r{n} = " for n in own) + "None", first)
        lines, self.source.within = len(self.source.lines), name
        self._row(region, depth + 1)
        self.source.within = ""
        if len(self.source.lines) == lines:
            self.source.add(depth + 1, "pass")

    def _lifted(self, found: FoundStretch, test: str, depth: int, first: Step) -> None:
        """Steps that are done in front, and whether they could be, as `made`."""
        self.source.add(depth, f"made = {test}", first)
        self.source.add(depth, "if made:", first)
        self.source.add(depth + 1, "try:", first)
        self._steps.freed = frozenset()
        for register, text in found.read:
            self.source.add(depth + 2, f"r{register} = {text}", first)
        for step in found.lifted:
            self._steps.write(step, depth + 2)
        self.source.add(depth + 1, "except faults: made = False", first)

    def _island(self, found: FoundIsland, region: Region, depth: int) -> None:
        """Parts that native code may do; how long the plan takes for them is told behind them."""
        name = f"i{len(self.source.islands)}"
        self.source.islands[name] = found.island
        self.source.spans[name] = id(region[0]), id(region[-1])
        first = region[0] if isinstance(region[0], Step) else place_of(region[0].node)
        given = ", ".join(found.island.texts)
        goals = "".join(f"r{register}, " for register in found.island.results)
        call, kept = (
            f"{name}({given}) if warm{name} else None",
            [f"{goals} = made"] if goals else [],
        )
        self._if_made(call, kept, found.island.results, found.emptied, depth, first)
        self.source.add(depth + 1, f"since{name} = clock() if warm{name} else None", first)
        self._row(region, depth + 1)
        last = place_of(region[-1].node)
        told = f"if since{name} is not None: spent{name}(since{name})"
        self.source.add(depth + 1, told, last)

    def _if_made(
        self,
        call: str,
        kept: Sequence[str],
        results: Sequence[int],
        emptied: Sequence[int],
        depth: int,
        step: Step,
    ) -> None:
        """The lines where a call gives something, `kept` by lines in slots and in the registers of
        its `results`; what stands for it where the call gives None is to follow."""
        self.source.add(depth, f"if (made := {call}) is not None:", step)
        for line in kept:
            self.source.add(depth + 1, line, step)
        if kept:
            self._steps.name_slots(results, depth + 1, step)
        for register in emptied:
            self.source.add(depth + 1, f"r{register} = None", step)
        self.source.add(depth + 1, "made = None", step)
        self.source.add(depth, "else:", step)

    def _row(self, region: Region, depth: int, *, folds: bool = True) -> None:
        """Parts that stand one after the other; `folds` are those of rows that may be joined."""
        chained = self._find_chains(region) if self._joins else {}
        runs, folded = dict[int, Run](), dict[int, Run]()
        if self._has_groups:
            runs = find_runs(self.code, region, chained)
            folded = find_runs(self.code, region, chained, folds=True) if folds else {}
        position = 0
        while position < len(region):
            run = folded.get(position) or runs.get(position)
            if id(region[position]) in self._whole:
                position = self._whole_chain(region, position, depth, chained)
            elif run is None and self._number_write(region, position, depth):
                position += COUNT
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
            self.source.chains.append(each.chain)
            self.source.named[name] = each.chain.begin
            found[position] = name
            for index, place in enumerate(each.links):
                found[place] = f"{name}_{index}"
                self.source.named[found[place]] = partial(each.chain.join, index)
            between = set(range(position + 1, each.links[-1])) - set(each.links)
            if all(_is_free(region[place]) for place in between):
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
            values = map(self._steps.value, read_numbers(step.instruction))
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
                self._steps.write(step, depth + 1)
        self.source.add(depth + 1, f"{self._steps.value(goal)} = made", head)
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
        goal = self._steps.value(register)
        given = ", ".join(map(self._steps.value, read_numbers(step.instruction)))
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

    def _number_write(self, region: Region, position: int, depth: int) -> bool:
        """Write a number into a tensor at once where that gives the same; whether these are such
        steps."""
        found = number_write(self.code, region, position) if self._joins else None
        if found is None:
            return False
        first, last = region[position], region[position + COUNT - 1]
        assert isinstance(first, Step)
        assert isinstance(last, Step)
        target, number = self._steps.value(found.target), self._steps.value(found.number)
        test = found.test(target, number, self._steps.constant(found.number))
        if not test:
            return False
        self.source.add(depth, f"if {test}:", first)
        self.source.add(depth + 1, f"{target}[...] = {number}", last)
        self.source.add(depth, "else:", first)
        for place in range(position, position + COUNT):
            self._part(region, place, depth + 1)
        return True

    def _part(self, region: Region, position: int, depth: int) -> None:
        part = region[position]
        following = region[position + 1] if position + 1 < len(region) else None
        before = region[position - 1] if position else None
        if isinstance(part, Branch):
            self._branch(part, depth, before if self._decides(before, part) else None)
        elif isinstance(part, Repeat):
            self._repeat(part, depth)
        elif not self._decides(part, following) and id(part) not in self._written:
            self._steps.freed = self._freed_by(following)
            if not self._forwarded(part, before, depth):
                self._steps.write(part, depth)

    def _group(self, run: Run, region: Region, begin: int, depth: int) -> None:
        """Operators that are computed together: where the operands are large by what makes ready
        for each call, else where native code knows calls beforehand."""
        name = f"g{len(self.source.named)}"
        self.source.named[name] = run.group
        first = region[begin]
        assert isinstance(first, Step)
        small, is_folded = "None", isinstance(run.group, RowGroup)
        least = 2 * JOINED if is_folded else JOINED
        sizes = " or ".join(self._is_large(register, least) for register in run.tested)
        given = ", ".join(map(self._given, run.given))
        if not is_folded:
            self.source.groups[name] = run.group
            small = f"d{name}({given}) if warm{name} else None"
        goals = [*run.results, *(register for register, _ in run.passed)]
        values = ["*made" if len(run.results) > 1 and run.passed else "made"] if run.results else []
        values += [self._given(step) for _, step in run.passed]  # from what a result may overwrite
        goal = ", ".join(f"r{register}" for register in goals)
        kept = [f"{goal} = {', '.join(values)}"] if goals else []
        call = f"{name}({given}) if {sizes} else {small}"
        self._if_made(call, kept, goals, run.emptied, depth, first)
        if is_folded:
            return self._row(region[begin : run.stop], depth + 1, folds=False)
        for position in range(begin, run.stop):
            self._part(region, position, depth + 1)

    def _is_large(self, register: int, least: int) -> str:
        """A test of an operand's size; an argument that was left out is None, as operators say."""
        test = f"r{register}.size >= {least}"
        return (
            f"r{register} is not None and {test}" if register < self.code.argument_count else test
        )

    def _given(self, source: int | Step) -> str:
        """What a group takes."""
        if isinstance(source, int):
            return f"r{source}"
        return f"({self._steps.line(source).partition(' = ')[2]})"

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
        self.source.add(depth, f"{self._steps.value(target)} = {self._steps.value(value)}", step)
        return True

    def _freed_by(self, part: Step | Branch | Repeat | None) -> frozenset[str]:
        """The registers that a part of code empties, if that is what it does."""
        if not _is_free(part):
            return frozenset()
        registers = part.instruction[1]
        assert isinstance(registers, tuple)
        return frozenset(map(self._steps.value, registers))

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
        condition = self._steps.value(part.condition)
        if test is not None:
            condition = self._steps.line(test).partition(" = ")[2]
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
        before = dict(self._steps.kept)
        for step in constant_reads(part):
            _, _, owner, slot = step.instruction
            assert isinstance(owner, int)
            assert isinstance(slot, int)
            if (owner, slot) not in self._steps.kept:
                name = self._steps.kept[owner, slot] = f"held{self._named_slots}"
                self._named_slots += 1
                self.source.add(depth, f"{name} = read_slot(r{owner}.slots[{slot}])", step)
        self._loop(part, depth)
        self._steps.kept = before

    def _loop(self, part: Repeat, depth: int) -> None:
        test = None if part.condition is None else self._steps.value(part.condition)
        if id(part) in self._tests:
            _, last = self._tests[id(part)]
            test = self._steps.line(last).partition(" = ")[2]
        if part.count is None:
            self.source.add(depth, f"while {test or True}:")
        else:
            self.source.add(depth, f"for r{part.index} in range({self._steps.value(part.count)}):")
            if test is not None:
                self.source.add(depth + 1, f"if not {test}: break")
        self.region(part.body, depth + 1, part.node, is_round=True)


def _is_free(part: Step | Branch | Repeat | None) -> TypeGuard[Step]:
    """Whether a part of code does nothing but empty registers."""
    return isinstance(part, Step) and row(part.instruction).name == "free"
