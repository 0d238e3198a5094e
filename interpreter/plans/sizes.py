"""Runs of a stretch for sizes that have not been looked at, found from those that have.

Where one size alone changes from call to call (boxes that are left, tokens so far), or one number
that says which element is meant, the runs of calls with three such sizes tell those with sizes
between them: the same kernels, whose numbers and places change in proportion.  Whoever takes them
tries them before they are trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...ops.kernels import family
from ...ops.memory.dtype import Array
from ...ops.memory.storage import address, bounds_of, root_of

__all__ = ["Call", "Looked", "Sizes"]

ndarray: Final = np.ndarray
MOST: Final = 8
"""Kinds of calls that are told apart, by all but one size of their arrays."""
MOST_MET: Final = 1000
"""Sizes of a kind that are remembered."""
MOST_TRIED: Final = 7
"""Sizes of a kind below which calls run otherwise, each further from the smallest, before none is
found from others any more."""
MOST_FAILED: Final = 2
"""Times that a size is looked at in vain before none with it is looked at, if others are known."""
LONGEST_TABLE: Final = 64
_ALONE: Final = 1 << 40
"""More than any run has to do: it is not shared among threads."""

Word = tuple[str, Any, int]
"""What a kernel is given: a `number`, or what begins so many bytes behind the begin of an operand
(`given`), of a `result`, or of memory `made` on the way, by their number; or what nobody can write
to, the `same` in all calls or a `table` of sizes and steps; or a `flag`."""


class Looked(NamedTuple):
    """The runs of a call: for each its kernel, its words, and the bytes of what it makes; and the
    strides of its operands."""

    runs: tuple[tuple[int, tuple[Word, ...]], ...]
    made: tuple[int, ...]
    strides: tuple[int, ...]

    @staticmethod
    def of(
        notes: Sequence[tuple[object, ...]], values: Sequence[object], results: Sequence[Array]
    ) -> Looked | None:
        """The same of notes over operands and the memory of results; None where it is not plain
        what a kernel is given."""
        return _Reader(values, results).read(notes, _strides_of(values))


class _Reader:
    def __init__(self, values: Sequence[object], results: Sequence[Array]) -> None:
        arrays = [(i, each) for i, each in enumerate(values) if type(each) is ndarray]
        given = {id(root_of(each)) for _, each in arrays}
        named = ((number, each) for number, each in enumerate(results) if id(each) not in given)
        self._results = {id(each): number for number, each in named}
        self._given = [(i, *bounds_of(each), each) for i, each in arrays]
        self._made = dict[int, tuple[int, Array]]()

    def read(self, notes: Sequence[tuple[object, ...]], strides: tuple[int, ...]) -> Looked | None:
        runs = []
        for kernel, *rest in notes:
            words = tuple(map(self._word, rest))
            if None in words:
                return None
            runs.append((kernel, words))
        made = tuple(int(root.nbytes) for _, root in self._made.values())
        return Looked(tuple(runs), made, strides)  # type: ignore[arg-type]

    def _word(self, word: object) -> Word | None:
        if type(word) is not ndarray:
            return "number", word, 0
        root, place = root_of(word), address(word)
        if not word.flags.writeable:
            return "same", word, place
        if id(root) in self._results:
            return "result", self._results[id(root)], place - address(root)
        found = [
            ("given", i, place - address(each))
            for i, begin, end, each in self._given
            if begin <= place < end
        ]
        if found:
            return found[0] if len(found) == 1 else None
        if family("calls.pieces").is_flag(root):
            return "flag", root.dtype, 0
        number, _ = self._made.setdefault(id(root), (len(self._made), root))
        return "made", number, place - address(root)


_RunOfRule = tuple[int, tuple[tuple[str, Any, int, int], ...]]
"""A kernel, and its words: what is added to where each begins stands last."""


class _Rule(NamedTuple):
    """What the runs of calls with sizes from `low` to `high` are, and the strides of operands: each
    number at `low`, and what is added for each one more."""

    low: int
    high: int
    runs: tuple[_RunOfRule, ...]
    places: tuple[int, ...]
    room: int
    strides: tuple[tuple[int, int], ...]

    def may_be_tried(self, size: int, values: Sequence[object]) -> bool:
        """Whether operands lie as those of other sizes, and none holds one number alone: else what
        is tried with them might be right for these numbers only."""
        more = size - self.low
        if tuple(n + more * step for n, step in self.strides) != _strides_of(values):
            return False
        arrays = (each for each in values if type(each) is ndarray)
        return not any(each.dtype.kind == "f" and _is_of_one_number(each) for each in arrays)

    def notes(
        self, size: int, values: Sequence[object], results: Sequence[Array]
    ) -> tuple[list[tuple[object, ...]], Array | None]:
        """The notes of a call, and the memory that is made on the way."""
        arena = np.empty(self.room, np.uint8) if self.room else None
        more = size - self.low

        def word(kind: str, what: Any, begin: int, step: int) -> object:
            at = begin + more * step
            match kind:
                case "number":
                    return what if what is not None else at
                case "same":
                    return what
                case "table":
                    table = np.array([first + more * each for first, each in what], np.int64)
                    table.setflags(write=False)
                    return table
                case "flag":
                    return np.zeros(1, what)
                case "made":
                    assert arena is not None
                    return arena[self.places[what] + at :]
            whole = values[what] if kind == "given" else results[what]
            return _from(whole, at)

        return [(kernel, *(word(*each) for each in words)) for kernel, words in self.runs], arena


def _from(whole: Any, behind: int) -> object:
    """What begins so many bytes behind the begin of an array, where it has an element."""
    if not behind:
        return whole
    index = [0] * whole.ndim
    for dim in sorted(range(whole.ndim), key=lambda d: whole.strides[d], reverse=True):
        step = whole.strides[dim]
        index[dim] = min(behind // step, whole.shape[dim] - 1) if step > 0 else 0
        behind -= index[dim] * step
    return whole[(*index, ...)]


def _rule(sizes: Sequence[int], looked: Sequence[Looked]) -> _Rule | None:
    """The rule that three calls with rising sizes follow; None if they follow none."""
    low, _, high = sizes
    if len({(len(each.runs), len(each.made)) for each in looked}) > 1:
        return None
    runs = []
    for several in zip(*(each.runs for each in looked), strict=True):
        kernels, lengths = {kernel for kernel, _ in several}, {len(words) for _, words in several}
        if len(kernels) > 1 or len(lengths) > 1:
            return None
        count, least, *others = zip(*(words for _, words in several), strict=True)
        if any(one[1] >= other[1] for one, other in zip(count, least, strict=True)):
            return None  # threads share it, by rules of their own
        words = [_in_proportion(sizes, each) for each in (count, *others)]
        if None in words:
            return None
        words.insert(1, ("number", None, _ALONE, 0))
        runs.append((several[0][0], tuple(words)))
    steps = [_step(sizes, each) for each in zip(*(each.strides for each in looked), strict=True)]
    if None in steps:
        return None
    made = [max(each) for each in zip(*(each.made for each in looked), strict=True)]
    places, room = _placed(runs, made)
    strides = tuple(zip(looked[0].strides, steps, strict=True))
    return _Rule(low, high, tuple(runs), places, room, strides)  # type: ignore[arg-type]


def _in_proportion(
    sizes: Sequence[int], words: Sequence[Word]
) -> tuple[str, object, int, int] | None:
    """The kind of words, what they are of, where they begin for the first size, and what is added
    for each one more."""
    kind, what, _ = words[0]
    if any(each[0] != kind for each in words):
        return None
    numbers = [each[2] for each in words]
    if kind == "number":
        if {type(each[1]) for each in words} != {int}:
            same = len({repr(each[1]) for each in words}) == 1
            return (kind, what, 0, 0) if same and what is not None else None
        numbers, what = [each[1] for each in words], None
    elif kind == "same" and len(set(numbers)) > 1:
        arrays = [each[1] for each in words]
        alike = {(each.dtype.char, each.shape, each.tobytes()) for each in arrays}
        return (kind, what, 0, 0) if len(alike) == 1 else _table(sizes, arrays)
    elif kind != "same" and any(each[1] != what for each in words):
        return None
    step = _step(sizes, numbers)
    return None if step is None else (kind, what, numbers[0], step)


def _step(sizes: Sequence[int], numbers: Sequence[int]) -> int | None:
    """What is added to a number for each one more; None if it does not rise in proportion."""
    low, middle, high = sizes
    step, rest = divmod(numbers[2] - numbers[0], high - low)
    return None if rest or numbers[1] != numbers[0] + step * (middle - low) else step


def _table(sizes: Sequence[int], tables: Sequence[Array]) -> tuple[str, object, int, int] | None:
    """The same of short rows of whole numbers."""
    shapes = {(each.dtype.char, each.ndim, each.size) for each in tables}
    if len(shapes) > 1 or tables[0].dtype.char != "l" or tables[0].ndim != 1:
        return None
    if tables[0].size > LONGEST_TABLE:
        return None
    several = list(zip(*(each.tolist() for each in tables), strict=True))
    steps = [_step(sizes, each) for each in several]
    if None in steps:
        return None
    return "table", tuple(zip((each[0] for each in several), steps, strict=True)), 0, 0


def _placed(runs: Sequence[Any], made: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Where the memory that runs make lies in one piece, and how large that is."""
    arena = family("calls.arena")
    pieces = [arena.Piece(each) for each in made]
    seen = set[int]()
    for number, (_, words) in enumerate(runs):
        for kind, what, *_ in words:
            if kind == "made":
                if what not in seen:
                    pieces[what].first = number
                    seen.add(what)
                pieces[what].last = number
    room = int(arena.placed(pieces))
    return tuple(each.at for each in pieces), room


class _Kind:
    """Calls that differ in one size alone; of the first two it shows in which."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._first = sizes
        self._changing: tuple[int, ...] = ()
        self._met, self._left_out, self._tried = set[int](), Counter[int](), 0
        self._least, self._most = -1 << 62, 1 << 62
        self._looked = dict[int, Looked]()
        self._rule: _Rule | None = None
        self.is_over = False

    def size_of(self, sizes: tuple[int, ...]) -> int | None:
        """The size that changes; None if the call is of another kind."""
        if sizes == self._first:
            return sizes[self._changing[0]] if self._changing else 0
        changing = tuple(i for i, n in enumerate(sizes) if n != self._first[i])
        if self._changing and changing != self._changing:
            return None
        if len({(sizes[i], self._first[i]) for i in changing}) > 1:
            return None
        if not self._changing:
            self._changing = changing
            first = self._first[changing[0]]
            self._met.add(first)
            if 0 in self._looked:
                self._looked[first] = self._looked.pop(0)
        return sizes[changing[0]]

    def asks_for(self, size: int) -> bool | None:
        """Whether a call with this size shall be looked at; None if that is not said."""
        if self.is_over or not (self._least <= size <= self._most and self._changing):
            return None
        if len(self._met) < MOST_MET:
            self._met.add(size)
        if size in self._looked:
            return None
        among = [each for each in self._met if self._least <= each <= self._most] or [size]
        low, high = min(among), max(among)
        if size in (low, high):
            return True
        return low in self._looked and high in self._looked and self._rule is None

    def learn(self, size: int, looked: Looked | None) -> None:
        """A call with this size was looked at."""
        if looked is None:
            self.is_over = True
            return
        self._looked[size] = looked
        sizes = sorted(each for each in self._looked if self._least <= each <= self._most)
        if len(sizes) < 3 or not self._changing:
            return
        chosen = [sizes[0], sizes[len(sizes) // 2], sizes[-1]]
        rule = _rule(chosen, [self._looked[each] for each in chosen])
        if rule is not None:
            self._rule = rule
        elif self._rule is None:  # the smallest are the ones that are special
            self._least = sizes[0] + (1 << self._tried)
            self._tried += 1
            self.is_over = self._tried > MOST_TRIED
        elif size > self._rule.high:
            self._most = self._rule.high
        else:
            self._least = self._rule.low

    def leave_out(self, size: int) -> None:
        """Calls with this size are more than kernels, or were: these may be compiled by now."""
        if len(self._left_out) < MOST_MET:
            self._left_out[size] += 1
        if size == min(self._met, default=size):
            self._least = max(self._least, size + 1)
        else:
            self._most = min(self._most, size - 1)

    def is_left_out(self, size: int) -> bool:
        """Whether calls with this size were looked at in vain too often."""
        return self._left_out[size] >= MOST_FAILED

    def rule_for(self, size: int) -> _Rule | None:
        """The rule that tells the runs of a size."""
        rule = self._rule
        return rule if rule is not None and rule.low < size < rule.high else None


class Call(NamedTuple):
    """Of which kind a call is, and the size that changes."""

    kind: _Kind
    size: int


class Sizes:
    """The kinds of calls of one stretch."""

    def __init__(self) -> None:
        self._kinds = dict[object, list[_Kind]]()

    def kind_of(self, values: Sequence[object]) -> Call | None:
        """Of which kind a call is, and its size; None if there are too many kinds."""
        form = tuple(map(_form, values))
        sizes = tuple(n for each in values for n in _sizes(each))
        kinds = self._kinds.get(form)
        if kinds is None:
            if len(self._kinds) >= MOST:
                return None
            kinds = self._kinds[form] = []
        for kind in kinds:
            size = kind.size_of(sizes)
            if size is not None:
                return Call(kind, size)
        if len(kinds) >= MOST:
            return None
        kinds.append(_Kind(sizes))
        return Call(kinds[-1], 0)


def _sizes(value: object) -> tuple[int, ...]:
    """The sizes of an array; a whole number is one, too."""
    if type(value) is ndarray:
        return value.shape  # type: ignore[no-any-return]
    return (value,) if type(value) is int else ()


def _strides_of(values: Sequence[object]) -> tuple[int, ...]:
    """The strides of arrays, in bytes; 0 along dimensions of one element, which nobody takes."""
    arrays = (each for each in values if type(each) is ndarray)
    pairs = (pair for each in arrays for pair in zip(each.shape, each.strides, strict=True))
    return tuple(stride if size > 1 else 0 for size, stride in pairs)


def _is_of_one_number(array: Array) -> bool:
    return array.size > 1 and bool((array == array.flat[0]).all())


def _form(value: Any) -> object:
    """What is the same of operands but for sizes."""
    if type(value) is ndarray:
        return value.dtype, value.ndim, value.flags.c_contiguous
    if type(value) is int:
        return int
    return (type(value), tuple(value)) if type(value) in (list, tuple) else (type(value), value)
