"""What the kernels of convolutions have in common: their arguments, and who works on what.

A kernel works for a range of slots, pieces of memory of `slot` numbers; with each it takes items of
the work until none is left: every second slot takes the last ones first, so that a thread mostly
works on the numbers that it made itself in the kernel before.  What comes after the sums is an
expression, whose first operand they are; nothing else of them is ever stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, NamedTuple

from ..elementwise.loops import NUMBER_LETTERS, Expression
from ..functions.formulas import (
    FORMULAS,
    HALVES,
    as_kind,
    rounded,
    stored_as,
    stored_kind,
    taken_from,
)
from ..language.named_counts import named_counts
from ..language.target import Target
from ..language.text import FLOAT, INT64, LANES, POINTER, Code, Kind, Value
from ..products.pairs import nearest_half
from .padded_planes import copy_part

__all__ = ["COPIED", "PLAIN", "PLAIN_HALVES", "After", "Convolving"]

COPIED: Final = (
    *("channels", "pitch", "planes_seen", "rows_seen", "columns_seen"),
    *("planes_made", "rows_made", "columns_made", "front", "top", "left"),
)
"""The numbers that tell what is copied for windows (see `Convolving.fill`): where it begins lies so
many planes, rows and columns before the input's first ones."""

_ARRAYS: Final = ("turn", "sizes", "offsets", "x", "weight", "bias", "out", "slots")


class After(NamedTuple):
    """What is done to the sums: an expression, without steps if nothing is.

    `places` tells how its operands lie: `o` are the sums themselves, a `v` has a number for each
    channel, an `a` lies like the result, a `k` is a number.  The result is of the dtype of its
    first operand, to which sums are rounded, as each step is: float32 or bfloat16.
    """

    expression: Expression
    places: str

    @property
    def letter(self) -> str:
        """The dtype of the result."""
        return self.expression.operands[0]

    @property
    def words(self) -> list[str]:
        """The names of its operands, without the sums."""
        return [f"a{number}" for number in range(1, len(self.places))]


PLAIN: Final = After(Expression("f", (), ()), "o")
PLAIN_HALVES: Final = After(Expression("E", (), ()), "o")


class Convolving(ABC):
    """The parts of a kernel that is given arrays, and numbers by the names `sizes`."""

    def __init__(self, target: Target, sizes: Sequence[str], after: After) -> None:
        self.code = code = Code(target)
        self.after = after
        self.at = {name: code.argument(POINTER, name) for name in _ARRAYS}
        self.size = named_counts(code, self.at["sizes"], sizes)
        self.zero = code.constant(INT64, 0)
        kinds = (NUMBER_LETTERS.get(letter, POINTER) for letter in after.expression.operands[1:])
        self._words = list(zip(kinds, after.words, strict=True))
        self.given = {
            number: code.argument(kind, name) for number, (kind, name) in enumerate(self._words, 1)
        }

    backwards: Value
    """Whether a slot takes the last items first."""

    @abstractmethod
    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""

    def fill(self, goal: Value, x: Value, before: Sequence[Value]) -> None:
        """Copy what windows see, with zeros where the input has ended: `channels` planes, `pitch`
        numbers apart, with so many planes, rows and columns `made` of those `seen`, of which the
        first ones stand at the places `before`.  Those of the next channel are brought near
        meanwhile."""
        code, size = self.code, self.size
        area = size["rows_seen"] * size["columns_seen"]
        until = code.lesser(before[1] + size["rows_made"], size["rows_seen"])
        rows = [code.choose(row < 0, 0, row) * size["columns_seen"] for row in (before[1], until)]
        with (
            code.counted(self.zero, size["channels"]) as channel,
            code.counted(self.zero, size["planes_made"]) as plane,
        ):
            source = plane + before[0]
            is_plane = source.below(size["planes_seen"])
            seen = code.at(x, (channel * size["planes_seen"] + source) * area, FLOAT)
            place = channel * size["pitch"] + plane * size["rows_made"] * size["columns_made"]
            here = code.at(goal, place, FLOAT)
            beside = code.at(seen, area * size["planes_seen"], FLOAT)
            with code.counted(rows[0], rows[1], LANES) as ahead:
                code.prefetch(code.at(beside, ahead, FLOAT))
            with code.counted(self.zero, size["rows_made"]) as row:
                above = row + before[1]
                is_row = is_plane & above.below(size["rows_seen"])
                copy_part(
                    *(code, code.at(seen, above * size["columns_seen"], FLOAT)),
                    code.choose(is_row, size["columns_seen"], 0),
                    code.at(here, row * size["columns_made"], FLOAT),
                    *(size["columns_made"], -before[2]),
                )

    def handed_out(self, count: Value) -> AbstractContextManager[Value]:
        """A loop over items that no thread has taken yet."""
        return self.code.handed_out(self.at["turn"], count, self.backwards)

    @contextmanager
    def handed_out_parts(self, block: Value, count: Value) -> Iterator[Value]:
        """The same over so many parts, of which an item is a block."""
        code = self.code
        with self.handed_out(self.size["items"]) as item:
            first = item * block
            with code.counted(first, code.lesser(first + block, count)) as part:
                yield part

    def operands(self, place: str) -> list[int]:
        """The operands of what comes after that lie so."""
        return [number for number, each in enumerate(self.after.places) if each == place]

    def first_channel(self, panel: Value) -> Value:
        """Where a panel of a group begins: they are as even as vectors let them be."""
        vectors = (self.size["made"] + (LANES - 1)) / LANES
        return panel * vectors / self.size["panels"] * LANES

    def number_of(self, channel: Value, array: str | int) -> Value:
        """A vector of what an array has for a channel."""
        whole = self.at[array] if isinstance(array, str) else self.given[array]
        return self.code.spread(self.code.load(FLOAT, self.code.at(whole, channel, FLOAT)))

    @property
    def made(self) -> Kind:
        """A number of the result, and of what lies like it, in memory."""
        return stored_kind(self.after.letter)

    def seen_there(self, address: Value, mask: Value | None) -> Value:
        """A vector of what lies like the result."""
        kind = self.made.of_lanes(LANES)
        return taken_from(self.after.letter, self.code.load_if(kind, address, mask))

    def written(self, made: Value, place: Value, mask: Value | None) -> None:
        """Write a vector of the result to a place of it."""
        goal = self.code.at(self.at["out"], place, self.made)
        self.code.store_if(stored_as(self.after.letter, made), goal, mask)

    def finished(self, sums: Value, seen: Callable[[int], Value]) -> Value:
        """What becomes of a vector of sums; `seen` gives the vector of an array's numbers."""
        letters = self.after.expression.operands
        values = {0: sums if self.after.letter == "f" else nearest_half(self.code, sums)}
        for number in self.given:
            if self.after.places[number] != "k":
                values[number] = seen(number)
        for place_made, step in enumerate(self.after.expression.steps, len(letters)):
            formula = FORMULAS[step.formula]
            made = formula.compute(
                *(
                    values[number]
                    if number in values
                    else self._same[number, step.letter_at(i, letters)]
                    for i, number in enumerate(step.operands)
                )
            )
            values[place_made] = made if formula.keeps else _rounded(step.letter, made)
        return values[max(values)]

    def _find_numbers(self) -> None:
        """Round and spread the numbers that come after, which are the same for all sums."""
        after = self.after
        letters = after.expression.operands
        self._same = dict[tuple[int, str], Value]()
        for step in after.expression.steps:
            for place, number in enumerate(step.operands):
                if number < len(letters) and after.places[number] == "k":
                    letter = step.letter_at(place, letters)
                    one = _rounded(letter, as_kind(self.given[number], FLOAT))
                    self._same[number, letter] = self.code.spread(one)

    def finished_at(
        self, sums: Value, place: Value, mask: Value | None, of_channel: Callable[[int], Value]
    ) -> Value:
        """The same of sums of one channel at a place of the result, where arrays are read that lie
        as it does; `of_channel` gives those that have one number a channel."""
        code, numbers = self.code, self.operands("v")

        def seen(number: int) -> Value:
            if number in numbers:
                return of_channel(number)
            return self.seen_there(code.at(self.given[number], place, self.made), mask)

        return self.finished(sums, seen)

    def text(self, name: str) -> str:
        """The module of the kernel."""
        code = self.code
        self._find_numbers()
        with code.units() as slot:
            self.backwards = (slot & 1).differs(0)
            self.work(code.aligned(code.at(self.at["slots"], slot * self.size["slot"], FLOAT)))
        return code.kernel(name, [*((POINTER, each) for each in _ARRAYS), *self._words])


def _rounded(letter: str, number: Value) -> Value:
    """A number as it is in a dtype."""
    return rounded(letter, number) if letter in HALVES else number
