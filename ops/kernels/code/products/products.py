"""Products of matrices, `a @ b + bias`, in forms that sizes and the place of b's elements decide:

    packed   columns of b are packed into a thread's own memory, then multiplied with blocks of rows
    direct   few rows times a matrix whose rows are in one piece, from where it lies
    row      one row times such a matrix, some rows of which are added up at once
    dots     few rows times columns that are in one piece: vectors go along the depth

A range is one of units: some columns of some rows of a product of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ..language.named_counts import named_counts
from ..language.target import Target, host
from ..language.text import DOUBLE, FLOAT, INT64, POINTER, Code, Value, Variable
from ..language.tiles import CHUNK, Tile, add_products, turned
from ..loading.objects import kernel
from .dots import DOTS, Dots
from .pairs import beside, joined

if TYPE_CHECKING:
    from ..loading.assemble import Care

__all__ = [
    *("ALONG", "AS_THEY_LIE", "SIDE_BY_SIDE", "gathers_rows", "panels_together"),
    *("product_kernel", "product_text", "rows_together", "strip"),
]

_ROWS: Final = 126
_MORE_ROWS: Final = 256
"""Rows of a unit, at most, where columns are packed: some whole tiles.  There are more where rows
are not gathered, which is done on the stack."""

_DIRECT: Final = 6
"""Vectors of columns that few rows are multiplied with at once."""
_WIDE: Final = 32
"""Vectors of columns that one row is multiplied with, one after the other."""
_STEPS: Final = 32
"""Lines of rows that lie side by side which are gathered for all tiles in turn, while near caches
and the tables of pages hold them."""
_AHEAD: Final = 8
"""Rows of columns that are packed, from those that are brought near meanwhile."""
_LINE: Final = 16
"""Elements that lie in a line of memory, at least."""
_BYTES: Final = 64
"""The size of a vector."""

AS_THEY_LIE: Final = 0
ALONG: Final = 1
SIDE_BY_SIDE: Final = 2
"""How rows are read: as they lie, or gathered first, be each in one piece or all side by side."""

_PLACES: Final = ("a", "b", "out", "bias")
_COUNTS: Final = (
    *("rows", "columns", "depth", "a_row", "a_column", "b_step"),
    *("a_outer", "a_inner", "b_outer", "b_inner", "inner", "block", "biased", "wide", "gathered"),
    "numbers",
)
"""What a kernel takes besides matrices, in an array of int64.  `b_step` lies between rows of b, or
between columns where those are in one piece.  A batch has `inner` matrices one step apart, and
`outer` steps lead to others.  `block` rows, or fewer, make a unit, where columns
are packed with `wide` columns, and rows are packed too where `gathered` says how.  Columns
of b have so many `numbers`: the depth, or about twice that where they are rounded to words."""


def product_kernel(form: str, element: str) -> int:
    """A kernel of `a, b, out, bias` and the counts, for units from `start` to `stop`.

    The forms: "packed", "packed turned" (where b's columns are in one piece), "direct", "row",
    "dots".  The elements: "float", "double", and "pair" for words of two bfloat16 of a row of a
    and of a column of b (see `pairs`), whose products are summed as float32; "rounded" where
    columns of b are float32, and become such words as they are packed.
    """
    text = partial(product_text, form=form, element=element)
    care: Care = "usual" if form == "direct" else "ordered"  # which has registers left
    return kernel("product", (form, element), text, care)


def strip(form: str, element: str, target: Target | None = None) -> int:
    """Columns of a unit, or of a panel where they are packed, by the kernel for a CPU; for this
    one unless it is given."""
    if form == "dots":
        return DOTS
    lanes = _BYTES // _KINDS[element][1]
    return _VECTORS.get(form, Tile.of(target or host()).vectors) * lanes


_VECTORS: Final = {"direct": _DIRECT, "row": _WIDE}
_KINDS: Final = {
    "float": (FLOAT, 4),
    "double": (DOUBLE, 8),
    "pair": (FLOAT, 4),
    "rounded": (FLOAT, 4),
}


def gathers_rows(target: Target) -> bool:
    """Whether kernels can gather rows that each are in one piece."""
    return Tile.of(target).vectors == 1


def rows_together(target: Target, gathered: int = AS_THEY_LIE) -> int:
    """Rows of a unit, at most, where columns are packed."""
    return _ROWS if gathered or gathers_rows(target) else _MORE_ROWS


def panels_together(target: Target) -> int:
    """How many panels of columns are packed at once: several narrow ones, so that what is read of
    a row is long."""
    return 4 if Tile.of(target).vectors == 1 else 1


def product_text(target: Target, form: str, element: str) -> str:
    """What `product_kernel` compiles."""
    made = _Product(target, element)
    if form == "dots":
        made.write_dots()
    elif form == "direct":
        made.write_direct()
    elif form == "row":
        made.write_row()
    else:
        made.write_packed(is_turned=form == "packed turned")
    return made.code.kernel("product", [(POINTER, name) for name in (*_PLACES, "counts")])


class _Rows(NamedTuple):
    """How rows lie: where they begin, and the steps to the next row of a tile, to the next tile,
    and along the depth."""

    begin: Value
    next_row: Value
    next_tile: Value
    step: Value


class _Product:
    """The parts of all forms: a unit's place, and how a block of sums is written."""

    def __init__(self, target: Target, element: str) -> None:
        self.code = code = Code(target)
        self.tile = Tile.of(target)
        self.kind, size = _KINDS[element]
        self.multiply_add: Callable[[Value, Value, Value], Value] = (
            code.add_pairs if element in ("pair", "rounded") else code.multiply_add
        )
        self.is_rounded = element == "rounded"
        self.together = 2 if self.is_rounded else 1
        self.lanes = _BYTES // size
        self.vector = self.kind.of_lanes(self.lanes)
        counts = code.argument(POINTER, "counts")
        self.count = named_counts(code, counts, _COUNTS)
        self.place = {name: code.argument(POINTER, name) for name in _PLACES}
        self.zero = code.constant(INT64, 0)

    def at(self, address: Value, index: Value) -> Value:
        """The address of an element."""
        return self.code.at(address, index, self.kind)

    @contextmanager
    def units(self, width: Value | int) -> Iterator[tuple[Value, Value, Value]]:
        """Each unit of the range: the column and the rows it begins with, and where those end.

        Meanwhile `place` leads to the matrices of its batch.
        """
        code, count, whole = self.code, self.count, dict(self.place)
        strips = (count["columns"] + width - 1) / width
        blocks = (count["rows"] + count["block"] - 1) / count["block"]
        with code.units() as unit:
            line = unit / strips
            batch = line / blocks
            outer = batch / count["inner"]
            inner = batch - outer * count["inner"]
            for name in ("a", "b"):
                far = outer * count[f"{name}_outer"] + inner * count[f"{name}_inner"]
                self.place[name] = self.at(whole[name], far)
            size = count["rows"] * count["columns"]
            self.place["out"] = self.at(whole["out"], batch * size)
            row = (line - batch * blocks) * count["block"]
            after, rows = row + count["block"], count["rows"]
            last = code.choose(after < rows, after, rows)
            yield (unit - line * strips) * width, row, last
        self.place = whole

    @contextmanager
    def chunks(self) -> Iterator[tuple[Value, Value]]:
        """The pieces of the depth: where each begins, and how deep it is."""
        depth = self.count["depth"]
        with self.code.counted(self.zero, depth, CHUNK) as chunk:
            rest = depth - chunk
            yield chunk, self.code.choose(rest > CHUNK, CHUNK, rest)

    def block(
        self,
        shape: tuple[int, int],
        row: Value,
        column: Value,
        piece: tuple[Value, Value],
        vector: Callable[[int, Value], Value],
        mask: Value | None,
        left: Callable[[int, Value], Value] | None = None,
    ) -> None:
        """Rows and vectors of the result for a piece of the depth; `vector` gives those of b, and
        `left` elements of a unless they are read as they lie."""
        chunk, depth = piece
        if left is None:
            step, far = self.count["a_column"], self.count["a_row"]
            begin = self.at(self.place["a"], row * far + chunk * step)
            left = self._left(_Rows(begin, far, far, step), shape[0])
        for i in range(shape[0]):
            self.code.prefetch(self._goal(row + i, column))
        sums = add_products(self.code, shape, left, vector, depth, self.multiply_add)
        self.finish(row, column, sums, mask, chunk)

    def finish(
        self,
        row: Value,
        column: Value,
        sums: dict[tuple[int, int], Variable],
        mask: Value | None,
        chunk: Value,
    ) -> None:
        """Add a block's sums to what is there of earlier pieces, and the bias after the last."""
        code, lanes = self.code, self.lanes
        goals = {(i, j): self._goal(row + i, column + j * lanes) for i, j in sums}
        with code.when(chunk > 0):
            for place, total in sums.items():
                total.set(code.load_if(self.vector, goals[place], mask) + total.now)
        is_last = chunk + CHUNK > self.count["depth"] - 1
        with code.when(is_last & self.count["biased"].equals(1)):
            for (_, j), total in sums.items():
                bias = self.at(self.place["bias"], column + j * lanes)
                total.set(total.now + code.load_if(self.vector, bias, mask))
        for place, total in sums.items():
            code.store_if(total.now, goals[place], mask)

    def _goal(self, row: Value, column: Value) -> Value:
        return self.at(self.place["out"], row * self.count["columns"] + column)

    # ----------------------------------------------------------------------------------- packed

    def write_packed(self, *, is_turned: bool) -> None:
        """Blocks of rows times packed columns, piece by piece along the depth."""
        code, count, lanes = self.code, self.count, self.lanes
        vectors = self.tile.vectors
        width = vectors * lanes
        most = panels_together(code.target) * width
        room = code.room(self.kind, CHUNK * most)
        with self.units(count["wide"]) as (first, row, last), self.chunks() as piece:
            rows = self._rows(row, last, piece)
            stop = code.lesser(first + count["wide"], count["columns"])
            with code.counted(first, stop, most) as begin:
                end = code.lesser(begin + most, stop)
                if not is_turned:
                    self._pack_rows(begin, end, *piece, room)
                with code.counted(begin, end, width) as column:
                    left = count["columns"] - column
                    panel = self.at(room, (column - begin) * CHUNK)
                    if is_turned:
                        self._pack_turned(column, *piece, left, panel)
                    tiles = (last - row + (self.tile.rows - 1)) / self.tile.rows
                    ahead = self._ahead(tiles, first, piece, is_turned=is_turned)
                    multiply = partial(self._packed, row, last, rows, panel, piece, ahead)
                    whole = code.choose(left > width - 1, width, self.zero)
                    with code.when(whole > 0):
                        multiply(column, self.zero, vectors, None)
                    rest = code.choose(left > width, width, left)
                    with code.counted(whole, rest, lanes) as at:
                        multiply(column + at, at, 1, code.first(left - at, lanes))

    def _rows(self, row: Value, last: Value, piece: tuple[Value, Value]) -> _Rows:
        """How rows of a unit are read: as they lie, or gathered, where the elements that a tile
        takes at once lie side by side."""
        code, tall, count = self.code, self.tile.rows, self.count
        chunk, depth = piece
        begin = self.at(self.place["a"], row * count["a_row"] + chunk * count["a_column"])
        lying = _Rows(begin, count["a_row"], count["a_row"] * tall, count["a_column"])
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
        pairs = zip(_Rows(made, *steps), lying, strict=True)
        is_gathered = count["gathered"] > 0
        return _Rows(*(code.choose(is_gathered, *pair) for pair in pairs))

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

    def _packed(
        self,
        row: Value,
        last: Value,
        lying: _Rows,
        panel: Value,
        piece: tuple[Value, Value],
        ahead: Callable[[Value, Value], Value],
        column: Value,
        within: Value,
        vectors: int,
        mask: Value | None,
    ) -> None:
        """All rows of a unit times vectors of packed columns, the most at a time."""
        code, begin = self.code, row
        tall = code.constant(INT64, self.tile.rows)
        columns, width = self.at(panel, within), self.tile.vectors * self.lanes

        def vector(tile: Value, j: int, at: Value) -> Value:
            if j == 0:
                code.prefetch(ahead(tile, at))
            return code.load(self.vector, self.at(columns, at * width + j * self.lanes))

        for rows in sorted({self.tile.rows, 4, 2, 1}, reverse=True):
            until = row + (last - row) / rows * rows
            with code.counted(row, until, rows) as here:
                tile, first = code.split(here - begin, tall)
                place = self.at(lying.begin, tile * lying.next_tile + first * lying.next_row)
                left = self._left(lying._replace(begin=place), rows)
                seen = partial(vector, tile)
                self.block((rows, vectors), here, column, piece, seen, mask, left)
            row = until

    def _ahead(
        self, tiles: Value, column: Value, piece: tuple[Value, Value], *, is_turned: bool
    ) -> Callable[[Value, Value], Value]:
        """Where the numbers lie that are packed next, of the same columns further down or of those
        beside; each tile of rows has some brought near, a line for each step along the depth."""
        code, count = self.code, self.count
        wide, step, (chunk, depth) = count["wide"], count["b_step"], piece
        is_last = chunk + depth > count["depth"] - 1
        first = column + code.choose(is_last, wide, 0)
        begin = code.choose(is_last, 0, chunk + CHUNK) * self.together
        columns = _LINE // self.together  # whose lines are brought near in turn
        if is_turned:
            source, several = self.at(self.place["b"], first * step + begin), (wide + tiles - 1)
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

    def _left(self, lying: _Rows, rows: int) -> Callable[[int, Value], Value]:
        """What gives elements of so many rows."""
        lines = [self.at(lying.begin, lying.next_row * i) for i in range(rows)]
        return lambda i, at: self.code.load(self.kind, self.at(lines[i], at * lying.step))

    def _pack_rows(
        self, column: Value, end: Value, chunk: Value, depth: Value, room: Value
    ) -> None:
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

    def _pack_turned(
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

    # ----------------------------------------------------------------------------------- direct

    def write_direct(self) -> None:
        """Few rows times vectors of columns, as they lie."""
        code, lanes = self.code, self.lanes
        with self.units(_DIRECT * lanes) as (column, first, last):
            left = self.count["columns"] - column
            end = column + code.choose(left > _DIRECT * lanes, _DIRECT * lanes, left)
            row = first
            if self.tile.vectors == 1:  # several vectors of as many rows do not fit
                row = first + (last - first) / self.tile.rows * self.tile.rows
                whole = column + ((end - column) & -lanes)
                with code.counted(column, whole, lanes) as at:
                    self._direct(first, row, at, 1, None)
                with code.counted(whole, end, lanes) as at:
                    self._direct(first, row, at, 1, code.first(end - at, lanes))
            for vectors in (_DIRECT, _DIRECT // 2):
                after = column + ((end - column) / (vectors * lanes)) * (vectors * lanes)
                with code.counted(column, after, vectors * lanes) as at:
                    self._direct(row, last, at, vectors, None)
                column = after
            with code.counted(column, end, lanes) as at:
                self._direct(row, last, at, 1, code.first(end - at, lanes))

    def _direct(
        self, row: Value, last: Value, column: Value, vectors: int, mask: Value | None
    ) -> None:
        """Rows times vectors of columns: in blocks of the most, half as many, and one by one."""
        code = self.code
        source = self.at(self.place["b"], column)
        most = min(8, self.tile.rows * self.tile.vectors // vectors)
        for rows in sorted({most, most // 2, 1} - {0}, reverse=True):
            until = row + (last - row) / rows * rows
            with code.counted(row, until, rows) as here, self.chunks() as piece:
                vector = partial(self._vector, source, piece[0], mask)
                self.block((rows, vectors), here, column, piece, vector, mask)
            row = until

    def _vector(self, source: Value, chunk: Value, mask: Value | None, j: int, at: Value) -> Value:
        """A vector of b, as it lies, of a row of a piece."""
        line = self.at(source, (chunk + at) * self.count["b_step"] + j * self.lanes)
        return self.code.load_if(self.vector, line, mask)

    # -------------------------------------------------------------------------------------- row

    def write_row(self) -> None:
        """One row times some columns: of as many vectors as registers hold at once, since rows of b
        come sooner the longer the pieces are that lie together."""
        code, lanes = self.code, self.lanes
        most = self.tile.rows * self.tile.vectors
        with self.units(_WIDE * lanes) as (column, _, _):
            left = self.count["columns"] - column
            end = column + code.choose(left > _WIDE * lanes, _WIDE * lanes, left)
            for vectors in (each for each in (16, 8, 4, 2) if each <= most):
                after = column + ((end - column) / (vectors * lanes)) * (vectors * lanes)
                with code.counted(column, after, vectors * lanes) as at:
                    self._row(at, vectors, None)
                column = after
            with code.counted(column, end, lanes) as at:
                self._row(at, 1, code.first(end - at, lanes))

    def _row(self, column: Value, vectors: int, mask: Value | None) -> None:
        """The row times some vectors of columns."""
        code = self.code
        source = self.at(self.place["b"], column)
        sums = add_products(
            code,
            (1, vectors),
            lambda _, at: code.load(
                self.kind, self.at(self.place["a"], at * self.count["a_column"])
            ),
            partial(self._vector, source, self.zero, mask),
            self.count["depth"],
            self.multiply_add,
        )
        whole = {place: self._goal(self.zero, column + place[1] * self.lanes) for place in sums}
        with code.when(self.count["biased"].equals(1)):
            for (_, j), total in sums.items():
                bias = self.at(self.place["bias"], column + j * self.lanes)
                total.set(total.now + code.load_if(self.vector, bias, mask))
        for place, total in sums.items():
            code.store_if(total.now, whole[place], mask)

    # ------------------------------------------------------------------------------------- dots

    def write_dots(self) -> None:
        """Rows times columns which both are in one piece, a vector of the depth at a time."""
        code, is_one = self.code, self.count["columns"].equals(1)
        with self.units(DOTS) as (column, first, last):
            with code.when(is_one):
                self._dots(column, (first, last), 1)
            with code.when(is_one.equals(0)):
                self._dots(column, (first, last), DOTS)

    def _dots(self, column: Value, rows: tuple[Value, Value], beside: int) -> None:
        """Rows times so many columns."""
        code, count = self.code, self.count
        dots = Dots(code, self.kind, self.lanes, self.multiply_add)
        mask = code.first(count["columns"] - column, beside)
        columns = dots.columns(self.place["b"], count["b_step"], column, count["columns"], beside)
        for row, several in dots.rows(*rows):
            a = [self.at(self.place["a"], (row + i) * count["a_row"]) for i in range(several)]
            found = [code.variable(each) for each in dots.sums(a, columns, count["depth"])]
            with code.when(count["biased"].equals(1)):
                bias = self.at(self.place["bias"], column)
                for total in found:
                    total.set(total.now + code.load_if(total.now.kind, bias, mask))
            for i, total in enumerate(found):
                goal = self.at(self.place["out"], (row + i) * count["columns"] + column)
                code.store_if(total.now, goal, mask)
