"""Doing a stretch of code again by the kernels that it ran.

What a stretch does with arrays of some dtypes, sizes and strides, and some numbers, is found out
once: it runs on the machine, and each operator is asked which kernels give its result.  All these
runs are then one call of native code, with one piece of memory for what they make on the way.
Nothing of it may depend on what is in arrays: where a stretch asks for that, or where an operator
is more than kernels, it stays with the plan's lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ...ops.kernels import LARGE, family
from ...ops.memory.dtype import Array, default_dtype
from ...ops.memory.storage import address, root_of
from ...ops.table.direct import formulas_of, is_compiling, last_compiled
from ...ops.table.noticing import Unforeseen, arrays_in, notes_of_copy, noticed
from ...ops.table.record import Operator
from ..code.code import Code, Step
from ..code.machine import Invoke, Machine, MachineFailure
from ..code.outside import comes_from_outside
from .looking import (
    MOST_RUNS,
    Looking,
    NotNew,
    bytes_of,
    lies_forward,
    roots_of,
    seen_class,
    with_parts,
)
from .networks import Function, Network, Telling
from .numerals import is_numeral
from .registers import readers_of
from .sizes import Call, Looked, Sizes
from .stretch import Stretch
from .taken import can_be_taken

if TYPE_CHECKING:
    from ...ops.kernels.code.calls.prepared import Known
    from ...ops.kernels.code.calls.watching import Seen

__all__ = ["Replay"]

LARGEST: Final = 1 << 22
"""Bytes of all that is made on the way."""

MOST_LEARNED: Final = 250
MOST_RUNS_LEARNED: Final = 64_000
"""Sizes of operands that a stretch is known for, and kernels of all these calls."""

MOST_TRIED: Final = 10
"""Calls that are looked at without success."""

SURE: Final = 3
"""Such calls, one after the other, in which the same steps were more than kernels: they always
will be."""

FEWEST_MET: Final = 3
"""Calls with operands of some sizes, when nothing is learned yet, before one is learned from."""

FEWEST_BY_RULE: Final = 2
"""Such calls where those with other sizes tell which runs they are."""

BETWEEN: Final = 32
SOONEST: Final = 0.005
"""Calls, and seconds, twice as many each time, between two that are looked at without success;
where kernels are being compiled, that is waited for."""

LONG: Final = 4000
"""Calls that are not known, after which operators are known one by one."""

MOST_MET: Final = 500
"""Sizes of operands that are counted at a time."""

FRUITLESS: Final = 200
"""Calls in a row whose sizes had not come before, after which they never will."""

MOST_MISSES: Final = 2000
"""Calls from which nothing is learned, for each from which something is, before nobody asks."""

_FOR_EVER: Final = 1 << 62

ndarray: Final = np.ndarray

_Note = tuple[object, ...]
"""The arguments of a call of `run`."""


class Replay:
    """A stretch as a function of what it takes, to be known beforehand: `look` does one call and
    says which runs it is.  `cool` is called when that will never be, `drag` when it takes long.

    `known` is what native code knows of it, once it is asked; `why_not` says why not more.  Steps
    that are more than kernels are told to `cut`, if nothing is known by then.
    """

    def __init__(
        self, stretch: Stretch, invoke: Invoke, make: Callable[[Telling], Function] | None = None
    ) -> None:
        """A plan of the stretch that calls operators in some way is made by `make`."""
        self.stretch = stretch
        self._invoke = invoke
        code = stretch.code
        self._network: Network | None = None
        if make is not None and any(each.makes_networks for each in code.operators):
            self._network = Network(stretch.own, code.constants, make)
        self._left = MOST_TRIED
        self._met = Counter[object]()
        self._misses = self._new_in_a_row = self._runs = 0
        self._last: tuple[object, ...] = ()
        self._turning = Counter[int]()
        self.known: Known | None = None
        self._not_before = 0.0
        self._waits = False
        self.cool: Callable[[], object] = lambda: None
        self.drag: Callable[[], object] = lambda: None
        self.cut: Callable[[Collection[Step]], object] = lambda steps: None
        self.why_not = ""
        self._faulty = Counter[frozenset[object]]()
        self._sizes = Sizes()
        self._machine: Machine | None = None

    def cooled(self) -> None:
        """Nothing more will be learned."""
        self.cool()

    @property
    def learned(self) -> int:
        """For how many sizes of operands it is known."""
        return 0 if self.known is None else self.known.count

    def look(self, values: Sequence[object]) -> Seen:
        """The results of a call, as one tuple, and its runs; neither where it could not be done."""
        wait, call = self._wait_for(values)
        if wait is not None:
            return seen_class()(None, None, wait=wait)
        before = last_compiled()
        try:
            taken = family("calls.reaches").apart(values)
            found = self._by_rule(taken, call) or self._seen(taken, call)
            found = with_parts(found, taken, values)
        except MachineFailure as failed:
            if comes_from_outside(failed.cause):
                raise failed.cause from None
            if isinstance(failed.cause, Unforeseen):
                failed.cause.where |= {failed.step}
            self._failed(failed.cause, call, before)
        except Unforeseen as cause:
            self._failed(cause, call, before)
            if isinstance(cause, NotNew):
                self._met[tuple(map(_form, values))] = -_FOR_EVER
        else:
            self._left, self.why_not = MOST_TRIED, ""
            self._runs += len(found.notes or ())
            return found
        return seen_class()(None, None, wait=BETWEEN)

    def _by_rule(self, values: Sequence[object], call: Call | None) -> Seen | None:
        """The results of a call, and its runs as those of other sizes tell them; None if they do
        not."""
        rule = None if call is None else call.kind.rule_for(call.size)
        if rule is None or call is None or not rule.may_be_tried(call.size, values):
            return None
        if not self.learned or default_dtype.float != np.float32:
            self._sizes = Sizes()  # what was learned is out of date
            return None
        if self._machine is None:
            self._machine = Machine(self.stretch.code, self._invoke)
        results = _results(self.stretch, self._machine, self.stretch.held(values))
        given = {id(root_of(each)) for each in arrays_in(values)}
        new = [each for each in results if id(root_of(each)) not in given]
        if not all(map(lies_forward, new)):
            return None
        wholes = list(map(root_of, results))
        notes, arena = rule.notes(call.size, values, wholes)
        return seen_class()(tuple(results), notes, arena, roots=roots_of(new))

    def _seen(self, values: Sequence[object], call: Call | None) -> Seen:
        looking = _Looking(self.stretch, values)
        try:
            found = looking.seen(self._invoke)
            if call is not None:
                call.kind.learn(call.size, looking.looked)
            return found
        except MachineFailure as failed:
            if self._network is None or not isinstance(failed.cause, _OverLarge):
                raise
        return self._network.seen(values, self.stretch.gathered)

    def _wait_for(self, values: Sequence[object]) -> tuple[int | None, Call | None]:
        """How long to wait until a call is learned from, None if it is this one, and of which kind
        this one is."""
        if self.learned >= MOST_LEARNED or self._runs >= MOST_RUNS_LEARNED:
            return _FOR_EVER, None
        self._waits = self._waits and is_compiling()
        if self._waits or (self._left < MOST_TRIED and perf_counter() < self._not_before):
            return BETWEEN, None
        if not all(map(can_be_taken, values)):
            self._failed(_TooLarge("it takes what is no tensor or number"), None)
            return _FOR_EVER, None
        if any(type(each) is ndarray and not each.size for each in values):
            return 0, None  # for which operators run nothing
        form = tuple(map(_form, values))
        if self.learned and self._met[form] < 0:
            return 0, None
        self._misses += 1
        if self._misses == LONG:
            self.drag()
        self._compare(form)
        is_fruitless = self._new_in_a_row > FRUITLESS
        if is_fruitless and not self.learned and (turned := self._turned()):
            self.cut(turned)
        if is_fruitless or self._misses > MOST_MISSES * (1 + self.learned):
            self.cool()
            return _FOR_EVER, None
        if form not in self._met and len(self._met) >= MOST_MET:
            self._met.clear()
        self._met[form] += 1
        call = self._sizes.kind_of(values)
        return self._wait_for_size(call, self._met[form]), call

    def _compare(self, form: tuple[object, ...]) -> None:
        """Whether operands are new ones, and in what."""
        if form in self._met:
            self._new_in_a_row = 0
            self._turning.clear()
            return
        self._new_in_a_row += 1
        pairs = enumerate(zip(self._last, form, strict=False))
        self._turning.update(place for place, (one, other) in pairs if one != other)
        self._last = form

    def _turned(self) -> frozenset[Step]:
        """The steps that are given a number which is another one in each call."""
        single = len(self.stretch.given) - self.stretch.lists
        often = [place for place, n in self._turning.items() if n > FRUITLESS // 2]
        numbers = [i for i in often if i < single and self._last[i][0] in (int, float)]  # type: ignore[index]
        return readers_of(self.stretch.code, {self.stretch.given[each] for each in numbers})

    def _wait_for_size(self, call: Call | None, times: int) -> int | None:
        """How long to wait with operands of sizes that have come so many times.

        To learn takes as long as many calls, so they have to come several times, oftener the more
        have been learned; but for those that others tell of, or that tell of others.
        """
        if call is not None and call.kind.rule_for(call.size) is not None:
            return None if times >= FEWEST_BY_RULE else 0
        if self.learned and call is not None and call.kind.is_left_out(call.size):
            return 0
        is_wanted = None if call is None else call.kind.asks_for(call.size)
        if is_wanted is not None:
            return None if is_wanted and times >= FEWEST_MET else 0
        # not every n-th call is looked at, which might always be the same of several in a round
        return self._misses % 5 if times < FEWEST_MET + self.learned // 4 else None

    def _failed(self, cause: BaseException, call: Call | None, before: object = None) -> None:
        """A look was in vain, when it began after the kernel `before` had been compiled."""
        self.why_not = str(cause)
        if isinstance(cause, Unforeseen) and cause.result is not None and is_compiling(before):
            self._waits = True
            return
        if call is not None:
            call.kind.leave_out(call.size)
        self._left = 0 if isinstance(cause, _TooLarge) else self._left - 1
        if isinstance(cause, Unforeseen) and not isinstance(cause, _TooLarge) and cause.where:
            self._faulty[cause.where] += 1
            if self._faulty[cause.where] >= SURE and not self.learned:
                self._left = 0
                self.cut(cast(Collection[Step], cause.where))
        self._met.clear()
        self._not_before = perf_counter() + SOONEST * (1 << (MOST_TRIED - self._left))
        if self._left <= 0:
            self.cool()


def _form(value: Any) -> object:
    """What is the same of operands that are done alike."""
    if isinstance(value, ndarray):
        return value.dtype, value.shape, value.strides, getattr(value, "quantizer", None)
    return (type(value), tuple(value)) if type(value) in (list, tuple) else (type(value), value)


class _TooLarge(Unforeseen):
    """A stretch that gains nothing, or cannot be known."""


class _OverLarge(_TooLarge):
    """A stretch whose operators join others."""

    def __init__(self) -> None:
        super().__init__("it is over large tensors")


class _Looking(Looking):
    """One call, on the machine, whose operators are called by way of this."""

    def __init__(self, stretch: Stretch, values: Sequence[object]) -> None:
        super().__init__()
        self._stretch = stretch
        self._values = stretch.held(values)
        self._taken = values
        self._notes: list[list[_Note]] = []
        self._given = {id(root_of(each)) for each in arrays_in(values)}
        self._constant = {
            id(root_of(each)): bytes_of(root_of(each)) for each in arrays_in(stretch.code.constants)
        }
        self._thawing: dict[int, tuple[Array, Array, list[_Note]]] = {}
        self._made: dict[int, Array] = {}
        self._patterns: dict[object, list[_Pattern] | None] = {}
        self._count = self._bytes = 0
        self._cause: Unforeseen | None = None
        self.looked: Looked | None = None
        self._faulty = set[Step]()
        self.doing: Step | None = None

    def look(self, entry: Operator, values: Sequence[object]) -> object:
        """The result of an operator, whose runs are kept; where it is more than runs, something
        that others may be looked at with: all such steps are found in one call."""
        try:
            return self._looked_at(entry, values)
        except _TooLarge:
            raise
        except Unforeseen as cause:
            if cause.result is None and self.doing is None:
                raise
            self._cause = self._cause or cause
            if self.doing is not None:
                self._faulty.add(self.doing)
            if cause.result is not None:
                return cause.result
            if entry.changes and not entry.is_in_place:
                raise  # that is done once, by the plan
            return values[0] if entry.changes else entry.forward(*values)

    def _looked_at(self, entry: Operator, values: Sequence[Any]) -> object:
        operands = list(arrays_in(values))
        if not entry.may_write and all(map(self._is_settled, operands)):
            return self._made_of_numbers(entry.forward(*values))
        if entry.is_in_place:
            self._thaw(root_of(values[0]))
        result, notes = self._noticed(entry, values)
        if notes:
            self._count += len(notes)
            if self._count > MOST_RUNS:
                raise _TooLarge("it is too long")
            self._notes.append(notes)
            for each in arrays_in(result):
                joins = type(each) is ndarray and (formulas_of(entry) or entry.later is not None)
                if joins and each.size >= LARGE:
                    raise _OverLarge
                self._make(root_of(each))
        return result

    def _is_settled(self, array: Array) -> bool:
        """Whether an array follows from numbers alone."""
        root = id(root_of(array))
        return root in self._thawing or (root in self._constant and is_numeral(array))

    def _noticed(self, entry: Operator, values: Sequence[object]) -> tuple[object, list[_Note]]:
        """The result of an operator and its runs: a loop does the same in each round."""
        operands = list(map(id, arrays_in(values)))
        form = entry, tuple(map(operands.index, operands)), *map(_deep_form, values)
        pattern = self._patterns.get(form)
        if pattern is not None:
            result = entry.forward(*values)
            parts = [*arrays_in(values), *arrays_in(result)]
            return result, [tuple(parts[i] if of is _PART else of for of, i in p) for p in pattern]
        result, notes = noticed(entry, values)
        parts = [*arrays_in(values), *arrays_in(result)]
        self._patterns[form] = _pattern(notes, parts) if notes else None
        return result, notes

    def _make(self, root: Array) -> None:
        """Memory of its own."""
        if id(root) not in self._made:
            self._made[id(root)] = root
            self._bytes += int(root.nbytes)
            if self._bytes > LARGEST:
                raise _OverLarge

    def _made_of_numbers(self, result: object) -> object:
        """What follows from numbers alone is the same in each call."""
        for each in arrays_in(result):
            root, notes = root_of(each), list[_Note]()
            if id(root) in self._thawing:
                continue
            self._notes.append(notes)
            copy = root.copy("K")
            self._constant[id(root)] = bytes_of(copy)
            self._thawing[id(root)] = root, copy, notes
        return result

    def _thaw(self, root: Array) -> None:
        """Memory is written in place: what was a constant is a copy of one then."""
        if id(root) in self._thawing:
            _, copy, notes = self._thawing.pop(id(root))
            copy.flags.writeable = False
            try:
                notes += notes_of_copy(copy, root)
            except Unforeseen as cause:
                self._cause = self._cause or cause
            del self._constant[id(root)]
            self._make(root)
        elif id(root) not in self._made:
            raise Unforeseen("it writes to what is outside")

    def seen(self, invoke: Invoke) -> Seen:
        """The results and runs.

        Raises:
            Unforeseen: it is more than runs of kernels.
            MachineFailure: an operator failed, or is more than that.
        """
        if default_dtype.float != np.float32:
            raise Unforeseen("the default dtype is another one")
        stretch, machine = self._stretch, _Stepping(self._stretch.code, invoke, self)
        try:
            results = _results(stretch, machine, self._values, self._check_cause)
        except MachineFailure as failed:
            if not comes_from_outside(failed.cause):
                self._check_cause()  # what was not written may be why
            raise
        new = self._new_of(results)
        notes, scratch, fresh = self._settled(results)
        roots = roots_of(new)
        return seen_class()(tuple(results), notes, scratch, fresh=fresh, roots=roots)

    def _new_of(self, results: Sequence[Any]) -> list[Array]:
        """The results that lie in new memory; the others are given, or lie in what is."""
        found = list[Array]()
        for each in results:
            root = id(root_of(each)) if type(each) is ndarray else 0
            if root in self._made and lies_forward(each):
                found.append(each)
            elif root not in self._given:
                raise NotNew
        return found

    def _check_cause(self) -> None:
        if self._cause is not None:
            self._cause.where = frozenset(self._faulty)
            raise self._cause

    def _settled(
        self, results: Sequence[Array]
    ) -> tuple[list[_Note], object, list[tuple[int, int, int]]]:
        """The runs, with constants that nobody can write to and one piece of memory, and what runs
        use of that first."""
        kept = {id(root_of(each)) for each in results}
        notes = [tuple(map(self._word, note)) for part in self._notes for note in part]
        for note in notes:
            for word in note:
                if type(word) is ndarray:
                    root = root_of(word)
                    if id(root) not in self._given and _is_scratch(word, root):
                        self._made.setdefault(id(root), root)
        self.looked = Looked.of(notes, self._taken, list(map(root_of, results)))
        roots = [root for number, root in self._made.items() if number not in kept]
        module: ModuleType = family("calls.arena")
        notes, arena, fresh = module.in_one_piece(notes, roots)
        return notes, arena, fresh

    def _word(self, word: object) -> object:
        """A word of a run; where it reads a constant, that of one which cannot be written to."""
        if type(word) is not ndarray:
            return word
        root = root_of(word)
        constant = self._constant.get(id(root))
        if constant is None:
            return word
        return constant[address(word) - address(root) :]


class _Stepping(Machine):
    """A machine that says which step calls an operator that is looked at."""

    def __init__(self, code: Code, invoke: Invoke, looking: _Looking) -> None:
        self._looking = looking
        super().__init__(code, invoke, looking)

    def forward(self, number: int, step: Step) -> Callable[..., object]:
        """What is called in the place of an operator, by its number, in a step."""
        looking, forward = self._looking, super().forward(number, step)

        def call(*values: object) -> object:
            looking.doing = step
            return forward(*values)

        return call


def _results(
    stretch: Stretch,
    machine: Machine,
    values: Sequence[object],
    check: Callable[[], object] = lambda: None,
) -> list[Any]:
    """What a stretch gives, the elements of a list one by one; `check` is called when it is done.

    Raises:
        Unforeseen: it changes a list, or gives none.
        MachineFailure: a step failed.
    """
    frame = machine.empty([None] * stretch.code.argument_count)
    for register, value in zip(stretch.given, values, strict=True):
        frame[register] = value
    lists = [(each, list(map(id, each))) for each in values if type(each) is list]
    for number in range(len(stretch.code.body) - 1):
        machine.do(number, frame)
    check()
    if any(list(map(id, after)) != before for after, before in lists):
        raise Unforeseen("it changes a list that it is given")
    results = [frame[register] for register in stretch.results]
    if stretch.ends_in_list:
        last = results.pop()
        if type(last) is not list:
            raise Unforeseen("a result is no list")
        results += last
    return results


_PART: Final = object()
_Pattern = list[tuple[object, int]]
"""The words of a run: what they are, or that they are a part, and its number."""


def _pattern(notes: Sequence[_Note], parts: Sequence[Array]) -> list[_Pattern] | None:
    """Runs with the places of operands and results among `parts`; None if there is more in them."""
    numbers = {id(each): number for number, each in reversed(list(enumerate(parts)))}
    found = []
    for note in notes:
        words = _Pattern()
        for word in note:
            if id(word) in numbers:
                words.append((_PART, numbers[id(word)]))
            elif type(word) is ndarray and word.flags.writeable:
                return None
            else:
                words.append((word, 0))
        found.append(words)
    return found


def _deep_form(value: object) -> object:
    """The same of lists of tensors too."""
    if type(value) is list or type(value) is tuple:
        return (type(value), *map(_deep_form, value))
    return _form(value)


def _is_scratch(word: Array, root: Array) -> bool:
    """Whether a word is memory of a kernel's own, and no flag or counter."""
    is_free = word.flags.writeable and root.flags.owndata
    return is_free and not family("calls.pieces").is_flag(root)
