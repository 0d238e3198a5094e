"""How the operands of a product are read: rows as they lie or gathered first, columns packed into a
thread's own memory, numbers in words of two bfloat16 where they shall be rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from ..language.named_counts import named_counts
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, INT64, POINTER, Code, Value
from ..language.tiles import CHUNK, Tile, turned
from .pairs import beside, joined

__all__ = [
    *("ALONG", "AS_THEY_LIE", "BYTES", "KINDS", "PLACES", "ROUNDED", "SIDE_BY_SIDE"),
    *("Operands", "Rows", "gathers_rows", "panels_together", "rows_together"),
]

_ROWS: Final = 126
_MORE_ROWS: Final = 256
"""Rows of a unit, at most, where columns are packed: some whole tiles.  There are more where rows
are not gathered, which is done on the stack, or become half as long as that is done."""

_STEPS: Final = 32
"""Lines of rows that lie side by side which are gathered for all tiles in turn, while near caches
and the tables of pages hold them."""
_AHEAD: Final = 8
"""Rows of columns that are packed, from those that are brought near meanwhile."""
_LINE: Final = 16
"""Elements that lie in a line of memory, at least."""
BYTES: Final = 64
"""The size of a vector."""

_ROUNDED_ROW: Final = CHUNK + 16
"""Words from one rounded row to the next: whole vectors, some rows of which near caches hold."""

AS_THEY_LIE: Final = 0
ALONG: Final = 1
SIDE_BY_SIDE: Final = 2
ROUNDED: Final = 3
"""How rows are read: as they lie, or gathered first, be each in one piece or all side by side, or
as words that each row's numbers are rounded to."""

PLACES: Final = ("a", "b", "out", "bias")
_COUNTS: Final = (
    *("rows", "columns", "depth", "a_row", "a_column", "b_step"),
    *("a_outer", "a_inner", "b_outer", "b_inner", "inner", "block", "biased", "wide", "gathered"),
    "numbers",
)
"""What a kernel takes besides matrices, in an array of int64.  `b_step` lies between rows of b, or
between columns where those are in one piece.  A batch has `inner` matrices one step apart, and
`outer` steps lead to others.  `block` rows, or fewer, make a unit, where columns are packed with
`wide` columns, and rows are packed too where `gathered` says how.  Rows of a, or columns of b, have
so many `numbers`: the depth, or about twice that where they become words."""

KINDS: Final = {
    "float": (FLOAT, 4),
    "double": (DOUBLE, 8),
    "pair": (FLOAT, 4),
    "rounded columns": (FLOAT, 4),
    "rounded rows": (FLOAT, 4),
}


def gathers_rows(target: Target) -> bool:
    """Whether kernels can gather rows that each are in one piece."""
    return Tile.of(target).vectors == 1


def rows_together(target: Target, gathered: int = AS_THEY_LIE) -> int:
    """Rows of a unit, at most, where columns are packed."""
    is_copied = gathered in (ALONG, SIDE_BY_SIDE)
    return _ROWS if is_copied or gathers_rows(target) else _MORE_ROWS


def panels_together(target: Target) -> int:
    """How many panels of columns are packed at once: several narrow ones, so that what is read of
    a row is long."""
    return 4 if Tile.of(target).vectors == 1 else 1


class Rows(NamedTuple):
    """How rows lie: where they begin, and the steps to the next row of a tile, to the next tile,
    and along the depth."""

    begin: Value
    next_row: Value
    next_tile: Value
    step: Value


class Operands:
    """The operands of a kernel, and their parts as units read them."""

    def __init__(self, target: Target, element: str) -> None:
        self.code = code = Code(target)
        self.tile = Tile.of(target)
        self.kind, size = KINDS[element]
        self.multiply_add: Callable[[Value, Value, Value], Value] = (
            code.multiply_add if element in ("float", "double") else code.add_pairs
        )
        self.is_rounded, self.rounds_rows = (
            element == f"rounded {part}" for part in ("columns", "rows")
        )
        self.together = 2 if self.is_rounded else 1
        self.lanes = BYTES // size
        self.vector = self.kind.of_lanes(self.lanes)
        counts = code.argument(POINTER, "counts")
        self.count = named_counts(code, counts, _COUNTS)
        self.place = {name: code.argument(POINTER, name) for name in PLACES}
        self.zero = code.constant(INT64, 0)

    def at(self, address: Value, index: Value | int) -> Value:
        """The address of an element."""
        return self.code.at(address, index, self.kind)

    def rows(self, row: Value, last: Value, piece: tuple[Value, Value]) -> Rows:
        """How rows of a unit are read: as they lie, or gathered, where the elements that a tile
        takes at once lie side by side."""
        code, tall, count = self.code, self.tile.rows, self.count
        if self.rounds_rows:
            return self._rounded_rows()
        chunk, depth = piece
        begin = self.at(self.place["a"], row * count["a_row"] + chunk * count["a_column"])
        lying = Rows(begin, count["a_row"], count["a_row"] * tall, count["a_column"])
        made = code.room(self.kind, (_ROWS + tall) * CHUNK)
        if gathers_rows(code.target):
            is_along = count["gathered"].equals(ALONG)
            with code.when(is_along), code.counted(row, last, tall) as here:
                places = [code.lesser(here + i, last - 1) - row for i in range(tall)]
                lines = [self.at(begin, place * count["a_row"]) for place in places]
                self._gather(lines, depth, self.at(made, (here - row) * CHUNK))
        with code.when(count["gathered"].equals(SIDE_BY_SIDE)):
            self._gather_beside(begin, last - row, depth, made)
        steps = (code.constant(INT64, step) for step in (1, tall * CHUNK, tall))
        pairs = zip(Rows(made, *steps), lying, strict=True)
        is_gathered = count["gathered"] > 0
        return Rows(*(code.choose(is_gathered, *pair) for pair in pairs))

    def _rounded_rows(self) -> Rows:
        """Where rows of a unit are words, each in one piece, as `round` leaves them."""
        code, tall = self.code, self.tile.rows
        made = code.room(self.kind, (_MORE_ROWS + tall) * _ROUNDED_ROW)
        steps = (_ROUNDED_ROW, tall * _ROUNDED_ROW, 1)
        return Rows(made, *(code.constant(INT64, step) for step in steps))

    def round(self, row: Value, rows: int, piece: tuple[Value, Value], goal: Value) -> None:
        """Rows as words."""
        code, lanes, (chunk, depth) = self.code, self.lanes, piece
        numbers = self.count["numbers"] - chunk * 2
        whole = code.lesser(depth, numbers >> 1) & -lanes
        lines = [self.numbers(row + i, chunk) for i in range(rows)]
        goals = [self.at(goal, i * _ROUNDED_ROW) for i in range(rows)]

        def go(at: Value, left: Value | None) -> None:
            for line, place in zip(lines, goals, strict=True):
                code.store(self._rounded(numbers, line, at, left), self.at(place, at))

        with code.counted(self.zero, whole, lanes) as at:
            go(at, None)
        with code.when(whole < depth):
            go(whole, depth - whole)

    def numbers(self, row: Value, chunk: Value) -> Value:
        """Where numbers of a row lie that become words."""
        return self.at(self.place["a"], row * self.count["a_row"] + chunk * 2)

    def _gather_beside(self, begin: Value, rows: Value, depth: Value, goal: Value) -> None:
        """Rows that lie side by side, of tile after tile: what lies in a line of memory, which a
        tile is too small for, and what pages hold, is used while it is near."""
        code, tall = self.code, self.tile.rows
        parts = [part for part in (8, 4, 2, 1) if tall & part]
        with code.counted(self.zero, depth, _STEPS) as first:
            until = code.lesser(first + _STEPS, depth)
            with code.counted(self.zero, rows, tall) as row:
                masks = [code.first(rows - row - (tall & -2 * part), part) for part in parts]
                with code.counted(first, until) as at:
                    source = self.at(begin, at * self.count["a_column"] + row)
                    here = self.at(goal, row * CHUNK + at * tall)
                    for part, mask in zip(parts, masks, strict=True):
                        far = code.constant(INT64, tall & -2 * part)
                        vector = self.kind.of_lanes(part)
                        seen = code.load_if(vector, self.at(source, far), mask)
                        code.store(seen, self.at(here, far))

    def _gather(self, lines: list[Value], depth: Value, goal: Value) -> None:
        """The rows of a tile; what is written behind a place, the next one is written over."""
        tall = len(lines)
        whole = 1 << (tall - 1).bit_length()
        lines = lines + lines[-1:] * (whole - tall)
        self._turn(lines, (depth & -self.lanes, depth), self._lying, goal, tall)

    def _lying(self, line: Value, at: Value, left: Value | None) -> Value:
        """A vector of elements as they lie; so many are left."""
        mask = None if left is None else self.code.first(left, self.lanes)
        return self.code.load_if(self.vector, self.at(line, at), mask)

    def _turn(
        self,
        lines: list[Value],
        until: tuple[Value, Value],
        seen: Callable[[Value, Value, Value | None], Value],
        goal: Value,
        width: int,
    ) -> None:
        """Elements of so many lines, a power of two, side by side; places of the depth lie so far
        apart, and are gone through in order, in whole vectors as far as the first place says, and
        up to the second.  A line's vectors are `seen` from a place on, where the number of those
        that are left is said unless all are there."""
        code, lanes, count = self.code, self.lanes, len(lines)
        whole, depth = until

        def turn(at: Value, left: Value | None) -> None:
            found = turned(code, [seen(line, at, left) for line in lines])
            for place in range(lanes):
                run, i = divmod(place, count)
                some = code.shuffled(found[i], found[i], range(run * count, (run + 1) * count))
                code.store(some, self.at(goal, (at + place) * width))

        with code.counted(self.zero, whole, lanes) as at:
            turn(at, None)
        with code.when(whole < depth):
            turn(whole, depth - whole)

    def next_panel(
        self, after: Value, bounds: tuple[Value, Value], piece: tuple[Value, Value]
    ) -> tuple[Value, Value]:
        """What is packed next, behind some columns of a unit with such bounds: the column and the
        place in the depth.  It is further down for the first columns when all have been there, and
        in those beside the unit at last."""
        code, (first, stop), (chunk, depth) = self.code, bounds, piece
        is_last = chunk + depth > self.count["depth"] - 1
        below = code.choose(is_last, self.zero, chunk + CHUNK)
        beside = first + code.choose(is_last, self.count["wide"], 0)
        is_within = after < stop
        return code.choose(is_within, after, beside), code.choose(is_within, chunk, below)

    def ahead(
        self, tiles: Value, following: tuple[Value, Value], width: int, *, is_turned: bool
    ) -> Callable[[Value, Value], Value]:
        """Where the numbers lie that are packed next, of so many columns; each tile of rows has
        some brought near, a line for each step along the depth."""
        code, step = self.code, self.count["b_step"]
        first, begin = following[0], following[1] * self.together
        columns = _LINE // self.together  # whose lines are brought near in turn
        if is_turned:
            source, several = self.at(self.place["b"], first * step + begin), tiles + (width - 1)
        else:
            source = self.at(self.place["b"], begin * step + first)
            several = tiles + (CHUNK * self.together - 1)
        most = several / tiles - 1

        def place(tile: Value, at: Value) -> Value:
            if is_turned:  # lines of columns
                own, far = at & (columns - 1), (at & -columns) * self.together * self.together
            else:  # some lines of each row
                own, far = at >> 2, (at & 3) * _LINE
            which = tile * (most + 1) + code.lesser(own, most)
            return self.at(source, which * step + far)

        return place

    def left(self, lying: Rows, rows: int) -> Callable[[int, Value], Value]:
        """What gives elements of so many rows."""
        lines = [self.at(lying.begin, lying.next_row * i) for i in range(rows)]
        return lambda i, at: self.code.load(self.kind, self.at(lines[i], at * lying.step))

    def pack_rows(self, column: Value, end: Value, chunk: Value, depth: Value, room: Value) -> None:
        """Vectors of columns of rows that are in one piece: panels one after the other."""
        code, vectors, lanes = self.code, self.tile.vectors, self.lanes
        width = vectors * lanes
        step = self.count["b_step"]
        source = self.at(self.place["b"], chunk * self.together * step + column)
        whole = column + (end - column) / width * width
        masks = [code.first(end - whole - j * lanes, lanes) for j in range(vectors)]

        def pack(at: Value, begin: Value, masks: Sequence[Value | None]) -> None:
            line = self.at(source, at * self.together * step + (begin - column))
            goal = self.at(room, (begin - column) * CHUNK + at * width)
            lines = [line]
            if self.is_rounded:
                is_pair = (chunk + at) * 2 + 1 < self.count["numbers"]
                lines.append(self.at(line, code.choose(is_pair, step, 0)))
            for each in lines:
                code.prefetch(self.at(each, step * (_AHEAD * self.together)))
            for j, mask in enumerate(masks):
                far = code.constant(INT64, j * lanes)
                seen = [code.load_if(self.vector, self.at(each, far), mask) for each in lines]
                made = seen[0]
                if self.is_rounded:
                    made = joined(code, made, code.choose(is_pair, seen[1], 0.0))
                code.store(made, self.at(goal, far))

        with code.counted(self.zero, depth) as at:
            with code.counted(column, whole, width) as begin:
                pack(at, begin, [None] * vectors)
            with code.when(whole < end):
                pack(at, whole, masks)

    def pack_turned(
        self, column: Value, chunk: Value, depth: Value, left: Value, room: Value
    ) -> None:
        """Columns that are in one piece, some at a time; after the last it is taken again."""
        code, lanes = self.code, self.lanes
        several = lanes if code.target.has_scaling else lanes // 2  # which the registers hold
        source = self.at(self.place["b"], chunk * self.together)
        most = self.count["columns"] - 1
        width = self.tile.vectors * lanes
        end = code.choose(left > width, width, left)
        with code.counted(self.zero, (end + (lanes - 1)) & -lanes, several) as first:
            lines = []
            for i in range(several):
                here = column + first + i
                near = code.choose(here > most, most, here)
                lines.append(self.at(source, near * self.count["b_step"]))
            goal = self.at(room, first)
            if self.is_rounded:
                numbers = self.count["numbers"] - chunk * 2
                whole = code.lesser(depth, numbers >> 1) & -lanes
                self._turn(lines, (whole, depth), partial(self._rounded, numbers), goal, width)
            else:
                self._turn(lines, (depth & -lanes, depth), self._lying, goal, width)

    def _rounded(self, numbers: Value, line: Value, at: Value, left: Value | None) -> Value:
        """A vector of words made of a line that has so many numbers."""
        code, lanes, first = self.code, self.lanes, at * 2
        masks: list[Value | None] = [None, None]
        if left is not None:
            masks = [code.first(numbers - first - half, lanes) for half in (0, lanes)]
        low, high = (
            code.load_if(self.vector, self.at(line, first + half * lanes), mask)
            for half, mask in enumerate(masks)
        )
        return beside(code, low, high).bits(self.vector)
