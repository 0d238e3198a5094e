"""Attention with queries side by side in lanes, a tile of the products' width of them.

Scores of a key are vectors, so that no lanes meet for largest ones and sums.  Keys and values are
read number by number, so they may lie in any way; queries are turned once, and what comes of them
is turned back.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Final

from .attention_frame import KEYS, Attention, Form, Head, larger
from .pairs import joined
from .scalars import falling_exp, log
from .target import Target
from .text import INT32, Value, Variable
from .tiles import Tile, add_products, turned

__all__ = ["ROOM", "lanes_text", "vectors_together"]

ROOM: Final = 768
"""Vectors of queries, or of their sums, that a unit may have at most."""
_Tile = dict[tuple[int, int], Variable]


def vectors_together(target: Target) -> int:
    """Vectors of queries that a unit has at most."""
    return Tile.of(target).vectors


def lanes_text(target: Target, form: Form) -> str:
    """The kernel for a CPU; its units are blocks of queries of heads of batches."""
    made = _Lanes(target, form)
    made.write()
    return made.text()


class _Lanes(Attention):
    """The parts of the kernel that do not depend on how many vectors of queries there are."""

    def __init__(self, target: Target, form: Form) -> None:
        super().__init__(target, form)
        self.tall, self.most = Tile.of(target).rows, Tile.of(target).vectors
        room, vector = self.code.room, self.vector
        self.queries, self.made = (room(vector, ROOM + self.most * self.lanes) for _ in range(2))
        self.scores = room(vector, (KEYS + self.tall) * self.most)
        self.hidden = room(vector, (KEYS + self.lanes) * self.most)
        self.factors, self.tops = (room(vector, self.most) for _ in range(2))
        self.multiply_add = self.code.add_pairs if form.letter == "p" else self.code.multiply_add

    def write(self) -> None:
        """All units of the range."""
        code, count = self.code, self.count
        blocks = (count["rows"] + count["block"] - 1) / count["block"]
        with code.units() as unit:
            line, block = code.split(unit, blocks)
            batch, number = code.split(line, count["heads"])
            first = block * count["block"]
            rows = code.lesser(count["rows"] - first, count["block"])
            across = (rows + (self.lanes - 1)) & -self.lanes
            head = self.head(batch, number, first)
            self._take_queries(head, rows, across)
            stop = count["keys"]
            if self.form.is_causal:
                stop = code.lesser(first + rows, stop)
            for several in range(1, self.most + 1):
                with code.when(across.equals(several * self.lanes)):
                    _Vectors(self, head, first, (rows, across), several).meet(stop)
            self._give(head, rows, across)

    def _turned(
        self,
        rows: Value,
        across: Value,
        columns: Value,
        seen: Callable[[Value, Value, Value | None], Value],
        room: Value,
    ) -> None:
        """Numbers of rows, some columns of them, as lines with a vector for each of the columns;
        after the last row it is taken again."""
        code, lanes = self.code, self.lanes
        with code.counted(self.zero, across, lanes) as j:
            near = [code.lesser(j + i, rows - 1) for i in range(lanes)]
            with code.counted(self.zero, columns, lanes) as at:
                mask = code.first(columns - at, lanes)
                lines = [seen(row, at, mask) for row in near]
                for i, each in enumerate(turned(code, lines)):
                    code.store(each, self.at(room, (at + i) * across + j))

    def _take_queries(self, head: Head, rows: Value, across: Value) -> None:
        """Queries side by side, scaled if they are numbers."""
        code, count = self.code, self.count
        scale = code.spread(self.scale, self.lanes)

        def seen(row: Value, at: Value, mask: Value | None) -> Value:
            place = self.at(head.q, row * count["q_row"] + at)
            code.prefetch(self.at(place, count["block"] * count["q_row"]))
            code.prefetch(self.at(head.out, row * count["out_row"] + at))
            found = code.load_if(self.vector, place, mask)
            return found if self.form.letter == "p" else found * scale

        self._turned(rows, across, count["depth"], seen, self.queries)
        nothing = code.constant(self.vector, 0.0)
        with code.counted(self.zero, count["width"] * across, self.lanes) as at:
            code.store(nothing, self.at(self.made, at))

    def take_mask(self, head: Head, sizes: tuple[Value, Value], key: Value, keys: Value) -> None:
        """What is added to scores, a line for each key."""
        code, kind, count = self.code, self.form.mask_kind, self.count
        below = count["block"] * count["mask_row"] - key
        ahead = code.choose(key + KEYS < count["keys"], KEYS, below)

        def seen(row: Value, at: Value, mask: Value | None) -> Value:
            place = code.at(head.mask, row * count["mask_row"] + key + at, kind)
            code.prefetch(code.at(place, ahead, kind))
            return self.added(code.load_if(kind.of_lanes(self.lanes), place, mask))

        self._turned(*sizes, keys, seen, self.hidden)

    def _give(self, head: Head, rows: Value, across: Value) -> None:
        """The results; those of lanes that no query is in are overwritten by the last one's."""
        code, count, lanes = self.code, self.count, self.lanes
        with code.counted(self.zero, across, lanes) as j:
            total = code.load(self.vector, self.at(self.factors, j))
            factor = self.divided(total)
            near = [code.lesser(j + i, rows - 1) * count["out_row"] for i in range(lanes)]
            with code.counted(self.zero, count["width"], lanes) as at:
                places = [self.at(self.made, (at + i) * across + j) for i in range(lanes)]
                seen = [code.load(self.vector, place) * factor for place in places]
                mask = code.first(count["width"] - at, lanes)
                for row, each in reversed([*zip(near, turned(code, seen), strict=True)]):
                    code.store_if(each, self.at(head.out, row + at), mask)
            if self.form.sums:
                top = code.load(self.vector, self.at(self.tops, j))
                made = code.choose(total.equals(0.0), 0.0, log(total) + self.base(top))
                code.store_if(made, self.at(head.sums, j), code.first(rows - j, lanes))


class _Vectors:
    """So many vectors of queries, of which the first is the query `first` of a head."""

    def __init__(
        self, kernel: _Lanes, head: Head, first: Value, sizes: tuple[Value, Value], vectors: int
    ) -> None:
        self.kernel, self.head, self.first, self.sizes = kernel, head, first, sizes
        self.code, self.count, self.lanes = kernel.code, kernel.count, kernel.lanes
        self.vector, self.several = kernel.vector, range(vectors)
        self.across = vectors * self.lanes
        self.nothing = self.code.constant(self.vector, 0.0)
        self.tops = self._variables(-inf)
        self.totals, self.bases, self.factors = (self._variables(0.0) for _ in range(3))

    def _variables(self, number: float) -> list[Variable]:
        begun = self.code.constant(self.vector, number)
        return [self.code.variable(begun) for _ in self.several]

    def meet(self, stop: Value) -> None:
        """All keys before one, some at a time."""
        code, kernel = self.code, self.kernel
        with code.counted(kernel.zero, stop, KEYS) as key:
            keys = code.lesser(stop - key, kernel.zero + KEYS)
            if kernel.form.mask == "whole":
                kernel.take_mask(self.head, self.sizes, key, keys)
            before = [top.now for top in self.tops]
            with code.counted(kernel.zero, keys, kernel.tall) as at:
                self._score(key, keys, at)
            for j in self.several:
                base = kernel.base(self.tops[j].now)
                self.bases[j].set(base)
                self.factors[j].set(falling_exp(before[j] - base))
            self._grow(keys)
            self._weigh(key, keys)
        for j in self.several:
            code.store(self.totals[j].now, kernel.at(kernel.factors, j * self.lanes))
            code.store(self.tops[j].now, kernel.at(kernel.tops, j * self.lanes))

    def _in(self, room: Value, line: Value, j: int) -> Value:
        """The place of one of a line's vectors."""
        return self.kernel.at(room, line * self.across + j * self.lanes)

    def _tile(
        self,
        lines: list[Value],
        step: Value,
        room: Value,
        depth: Value,
        ahead: Callable[[Value], Value],
        begin: Callable[[int, int], Value] | None = None,
    ) -> _Tile:
        """Sums of products of the numbers of lines, some steps apart, and the vectors in a room."""
        code, kernel = self.code, self.kernel

        def left(i: int, place: Value) -> Value:
            return code.load(kernel.number, kernel.at(lines[i], place * step))

        def right(j: int, place: Value) -> Value:
            if j == 0:
                code.prefetch(ahead(place))
            return code.load(self.vector, self._in(room, place, j))

        shape = kernel.tall, len(self.several)
        return add_products(code, shape, left, right, depth, kernel.multiply_add, begin)

    # ------------------------------------------------------------------------------- scores

    def _score(self, key: Value, keys: Value, at: Value) -> None:
        """The scores of a tile of keys; after the last key it is taken again."""
        code, kernel, count = self.code, self.kernel, self.count
        near = [code.lesser(at + i, keys - 1) for i in range(kernel.tall)]
        lines = [kernel.at(self.head.k, (key + each) * count["k_row"]) for each in near]
        after = kernel.at(self.head.k, (key + at + kernel.tall) * count["k_row"])

        def ahead(place: Value) -> Value:
            row = (place >> 1) & (kernel.tall - 1)
            return kernel.at(after, row * count["k_row"] + (place & -16))

        scores = self._tile(lines, count["k_column"], kernel.queries, count["depth"], ahead)
        if kernel.form.letter == "p":
            scale = code.spread(kernel.scale, self.lanes)
            for score in scores.values():
                score.set(score.now * scale)
        if kernel.form.mask != "none":
            for (i, j), score in scores.items():
                score.set(kernel.masked(score.now, self._hidden(key, near[i], j)))
        if kernel.form.is_causal:
            with code.when(key + at + (kernel.tall - 1) > self.first):
                self._hide_later(scores, key, near)
        for (i, j), score in scores.items():
            self.tops[j].set(larger(score.now, self.tops[j].now))
            code.store(score.now, self._in(kernel.scores, at + i, j))

    def _hidden(self, key: Value, at: Value, j: int) -> Value:
        """What a mask adds to the scores of a key."""
        code, kernel = self.code, self.kernel
        if kernel.form.mask == "whole":
            return code.load(self.vector, self._in(kernel.hidden, at, j))
        kind = kernel.form.mask_kind
        place = code.at(self.head.mask, (key + at) * self.count["mask_column"], kind)
        return code.spread(kernel.added(code.load(kind, place)), self.lanes)

    def _hide_later(self, scores: _Tile, key: Value, near: list[Value]) -> None:
        """Keys that come later than a query are not seen by it."""
        code, order = self.code, self.code.order(INT32.of_lanes(self.lanes))
        for (i, j), score in scores.items():
            ahead = (key + near[i] - self.first - j * self.lanes).converted("trunc", INT32)
            is_seen = code.spread(ahead, self.lanes) <= order
            score.set(code.choose(is_seen, score.now, -inf))

    # ------------------------------------------------------------------------------- values

    def _grow(self, keys: Value) -> None:
        """Exponentials in place of scores, in words of two keys where values are; their sums."""
        code, kernel = self.code, self.kernel
        sums = self._variables(0.0)

        def grown(at: Value, j: int) -> Value:
            score = code.load(self.vector, self._in(kernel.scores, at, j))
            made = falling_exp(score - self.bases[j].now)
            sums[j].set(sums[j].now + made)
            return made

        if kernel.form.letter != "p":
            with code.counted(kernel.zero, keys) as at:
                for j in self.several:
                    code.store(grown(at, j), self._in(kernel.scores, at, j))
        else:
            self._in_pairs(keys, grown)
        for total, factor, more in zip(self.totals, self.factors, sums, strict=True):
            total.set(total.now * factor.now + more.now)

    def _in_pairs(self, keys: Value, grown: Callable[[Value, int], Value]) -> None:
        code, scores = self.code, self.kernel.scores

        def keep(at: Value, j: int, other: Value) -> None:
            pair = joined(code, grown(at, j), other).bits(self.vector)
            code.store(pair, self._in(scores, at >> 1, j))

        with code.counted(self.kernel.zero, keys & -2, 2) as at:
            for j in self.several:
                keep(at, j, grown(at + 1, j))
        with code.when((keys & 1).equals(1)):
            for j in self.several:
                keep(keys - 1, j, self.nothing)

    def _weigh(self, key: Value, keys: Value) -> None:
        """Add weighed values to the sums so far, a tile of columns at a time; after the last column
        it is taken again."""
        code, kernel, count = self.code, self.kernel, self.count
        if kernel.form.letter == "p":
            key, keys = key >> 1, (keys + 1) >> 1
        begin = kernel.at(self.head.v, key * count["v_row"])
        with code.counted(kernel.zero, count["width"], kernel.tall) as first:
            columns = [code.lesser(first + i, count["width"] - 1) for i in range(kernel.tall)]
            lines = [kernel.at(begin, column * count["v_column"]) for column in columns]

            def begun(i: int, j: int) -> Value:
                known = code.load(self.vector, self._in(kernel.made, columns[i], j))
                return known * self.factors[j].now

            def ahead(place: Value) -> Value:
                return kernel.at(lines[0], (place + 16) * count["v_row"])

            sums = self._tile(lines, count["v_row"], kernel.scores, keys, ahead, begun)
            for (i, j), total in sums.items():
                code.store(total.now, self._in(kernel.made, columns[i], j))
