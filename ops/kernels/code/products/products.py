"""Products of matrices, `a @ b + bias`, in forms that sizes and the place of b's elements decide:

    packed   columns of b are packed into a thread's own memory, then multiplied with blocks of rows
    direct   few rows times a matrix whose rows are in one piece, from where it lies
    row      one row times such a matrix, some rows of which are added up at once
    dots     few rows times columns that are in one piece: vectors go along the depth

A range is one of units: some columns of some rows of a product of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from ..language.target import Target, host
from ..language.text import INT64, POINTER, Value, Variable
from ..language.tiles import CHUNK, Tile, add_products
from ..loading.objects import kernel
from .dots import DOTS, Dots
from .operands import BYTES, KINDS, PLACES, Operands, Rows, panels_together

if TYPE_CHECKING:
    from ..loading.assemble import Care

__all__ = ["product_kernel", "product_text", "strip"]

_DIRECT: Final = 6
"""Vectors of columns that few rows are multiplied with at once."""
_WIDE: Final = 32
"""Vectors of columns that one row is multiplied with, one after the other."""


def product_kernel(form: str, element: str) -> int:
    """A kernel of `a, b, out, bias` and the counts, for units from `start` to `stop`.

    The forms: "packed", "packed turned" (where b's columns are in one piece), "direct", "row",
    "dots".  The elements: "float", "double", and "pair" for words of two bfloat16 of a row of a
    and of a column of b (see `pairs`), whose products are summed as float32; "rounded columns"
    where columns of b are float32, and become such words as they are packed; "rounded rows" where
    rows of a become such words before columns are packed.
    """
    text = partial(product_text, form=form, element=element)
    care: Care = "usual" if form == "direct" else "ordered"  # which has registers left
    return kernel("product", (form, element), text, care)


def strip(form: str, element: str, target: Target | None = None) -> int:
    """Columns of a unit, or of a panel where they are packed, by the kernel for a CPU; for this
    one unless it is given."""
    if form == "dots":
        return DOTS
    lanes = BYTES // KINDS[element][1]
    return _VECTORS.get(form, Tile.of(target or host()).vectors) * lanes


_VECTORS: Final = {"direct": _DIRECT, "row": _WIDE}


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
    return made.code.kernel("product", [(POINTER, name) for name in (*PLACES, "counts")])


class _Product(Operands):
    """The parts of all forms: a unit's place, and how a block of sums is written."""

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
            left = self.left(Rows(begin, far, far, step), shape[0])
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
            rows = self.rows(row, last, piece)
            stop = code.lesser(first + count["wide"], count["columns"])
            with code.counted(first, stop, most) as begin:
                end = code.lesser(begin + most, stop)
                if not is_turned:
                    self.pack_rows(begin, end, *piece, room)
                with code.counted(begin, end, width) as column:
                    left = count["columns"] - column
                    panel = self.at(room, (column - begin) * CHUNK)
                    if is_turned:
                        self.pack_turned(column, *piece, left, panel)
                    tiles = (last - row + (self.tile.rows - 1)) / self.tile.rows
                    after = column + width if is_turned else begin + most
                    following = self.next_panel(after, (first, stop), piece)
                    ahead = self.ahead(tiles, following, width, is_turned=is_turned)
                    is_begun = column > first
                    multiply = partial(self._packed, row, last, rows, panel, piece, ahead, is_begun)
                    whole = code.choose(left > width - 1, width, self.zero)
                    with code.when(whole > 0):
                        multiply(column, self.zero, vectors, None)
                    rest = code.choose(left > width, width, left)
                    with code.counted(whole, rest, lanes) as at:
                        multiply(column + at, at, 1, code.first(left - at, lanes))

    def _packed(
        self,
        row: Value,
        last: Value,
        lying: Rows,
        panel: Value,
        piece: tuple[Value, Value],
        ahead: Callable[[Value, Value], Value],
        is_begun: Value,
        column: Value,
        within: Value,
        vectors: int,
        mask: Value | None,
    ) -> None:
        """All rows of a unit times vectors of packed columns, the most at a time.  Rows become
        words where the first ones are, before which they have been brought near."""
        code, begin = self.code, row
        tall = code.constant(INT64, self.tile.rows)
        columns, width = self.at(panel, within), self.tile.vectors * self.lanes

        def vector(tile: Value, below: Value | None, j: int, at: Value) -> Value:
            if j == 0:
                near = ahead(tile, at)
                code.prefetch(near)
                if below is not None:
                    line = self.at(below, (at & 7) * self.count["a_row"] + (at & -8) * 2)
                    code.prefetch(code.choose(is_begun, near, line))
            return code.load(self.vector, self.at(columns, at * width + j * self.lanes))

        for rows in sorted({self.tile.rows, 4, 2, 1}, reverse=True):
            until = row + (last - row) / rows * rows
            with code.counted(row, until, rows) as here:
                tile, first = code.split(here - begin, tall)
                place = self.at(lying.begin, tile * lying.next_tile + first * lying.next_row)
                below = None
                if self.rounds_rows:
                    below = self.numbers(here + rows, piece[0])
                    with code.when(is_begun.equals(0)):
                        self.round(here, rows, piece, place)
                left = self.left(lying._replace(begin=place), rows)
                seen = partial(vector, tile, below)
                self.block((rows, vectors), here, column, piece, seen, mask, left)
            row = until

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
