"""Attention with queries side by side in lanes, a tile of the products' width of them.

Scores of a key are vectors, so that no lanes meet for largest ones and sums.  Keys and values are
read number by number, so they may lie in any way; queries are turned once, and what comes of them
is turned back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Final

from ..functions.scalars import falling_exp, log
from ..language.target import Target
from ..language.text import INT32, Value, Variable
from ..language.tiles import Tile, add_products, turned
from ..products.pairs import joined
from .frame import ARRAYS, COUNTS, KEYS, Attention, Form, Head, larger

__all__ = ["ROOM", "Lanes", "Queries", "Sums", "Vectors", "lanes_text", "vectors_together"]

ROOM: Final = 768
"""Vectors of queries, or of their sums, that a unit may have at most."""
Sums = dict[tuple[int, int], Variable]
"""The sums of a tile, by rows and vectors."""


def vectors_together(target: Target) -> int:
    """Vectors of queries that a unit has at most."""
    return Tile.of(target).vectors


def lanes_text(target: Target, form: Form) -> str:
    """The kernel for a CPU; its units are blocks of queries of heads of batches."""
    made = _Forward(target, form)
    made.write()
    return made.text()


class Queries:
    """Some queries of a head: how many there are, how many there were before them, and how many
    lanes they are in."""

    def __init__(self, kernel: Attention, head: Head, first: Value) -> None:
        self.head, self.first = head, first
        count, lanes = kernel.count, kernel.lanes
        self.rows = kernel.code.lesser(count["rows"] - first, count["block"])
        self.across = (self.rows + (lanes - 1)) & -lanes


class Lanes(Attention):
    """What does not depend on how many vectors of queries there are; scores have room for so many
    keys."""

    def __init__(
        self,
        target: Target,
        form: Form,
        arrays: Sequence[str] = ARRAYS,
        counts: Sequence[str] = COUNTS,
        most_keys: int = KEYS,
    ) -> None:
        super().__init__(target, form, arrays, counts)
        self.tall, self.most = Tile.of(target).rows, Tile.of(target).vectors
        self.queries, self.made = self.room(ROOM), self.room(ROOM)
        self.scores = self.room(most_keys * self.most)
        self.hidden = self.room(KEYS * self.most)
        self.tops, self.totals = self.room(0), self.room(0)
        self.multiply_add = self.code.add_pairs if form.letter == "p" else self.code.multiply_add

    def room(self, vectors: int) -> Value:
        """Memory for so many vectors, and for those that are written behind the last."""
        return self.code.room(self.vector, vectors + max(self.lanes, self.tall) * self.most)

    @contextmanager
    def vectors(self, queries: Queries) -> Iterator[Value]:
        """Each vector of queries, by its first lane."""
        with self.code.counted(self.zero, queries.across, self.lanes) as lane:
            yield lane

    def turn(
        self,
        queries: Queries,
        columns: Value,
        seen: Callable[[Value, Value, Value | None], Value],
        room: Value,
    ) -> None:
        """Some columns of rows as lines, with the vectors of queries side by side in each; `seen`
        gives a vector of a row.  After the last row it is taken again."""
        code, lanes = self.code, self.lanes
        with self.vectors(queries) as lane:
            near = [code.lesser(lane + i, queries.rows - 1) for i in range(lanes)]
            with code.counted(self.zero, columns, lanes) as at:
                mask = code.first(columns - at, lanes)
                lines = [seen(row, at, mask) for row in near]
                for i, each in enumerate(turned(code, lines)):
                    code.store(each, self.at(room, (at + i) * queries.across + lane))

    def turn_back(
        self, queries: Queries, name: str, columns: Value, factor: Callable[[Value], Value | None]
    ) -> None:
        """Write what was made as rows of an array, times a factor of each lane.  Those of lanes
        that no query is in are overwritten by the last one's."""
        code, lanes, goal = self.code, self.lanes, queries.head[name]
        with self.vectors(queries) as lane:
            rows = [code.lesser(lane + i, queries.rows - 1) for i in range(lanes)]
            places = [self.at(goal, row * self.count[f"{name}_row"]) for row in rows]
            times = factor(lane)
            with code.counted(self.zero, columns, lanes) as at:
                begin = at * queries.across + lane
                near = [self.at(self.made, begin + queries.across * i) for i in range(lanes)]
                seen = [code.load(self.vector, place) for place in near]
                if times is not None:
                    seen = [each * times for each in seen]
                mask = code.first(columns - at, lanes)
                for place, each in reversed([*zip(places, turned(code, seen), strict=True)]):
                    code.store_if(each, self.at(place, at), mask)

    def clear(self, room: Value, size: Value) -> None:
        """Zeros for so many numbers."""
        nothing = self.code.constant(self.vector, 0.0)
        with self.code.counted(self.zero, size, self.lanes) as at:
            self.code.store(nothing, self.at(room, at))

    def take_queries(self, queries: Queries) -> None:
        """Queries side by side, scaled if they are numbers; the next ones are brought near, and
        where results will be."""
        code, count, head = self.code, self.count, queries.head
        scale = code.spread(self.scale, self.lanes)

        def seen(row: Value, at: Value, mask: Value | None) -> Value:
            place = self.at(head["q"], row * count["q_row"] + at)
            code.prefetch(self.at(place, count["block"] * count["q_row"]))
            code.prefetch(self.at(head["out"], row * count["out_row"] + at))
            found = code.load_if(self.vector, place, mask)
            return found if self.form.letter == "p" else found * scale

        self.turn(queries, count["depth"], seen, self.queries)

    def take_mask(self, queries: Queries, key: Value, keys: Value) -> None:
        """What is added to scores, a line for each key."""
        if self.form.mask != "whole":
            return
        code, kind, count = self.code, self.form.mask_kind, self.count
        below = count["block"] * count["mask_row"] - key
        ahead = code.choose(key + KEYS < count["keys"], KEYS, below)

        def seen(row: Value, at: Value, mask: Value | None) -> Value:
            far = row * count["mask_row"] + key + at
            place = code.at(queries.head["mask"], far, kind)
            code.prefetch(code.at(place, ahead, kind))
            return self.added(code.load_if(kind.of_lanes(self.lanes), place, mask))

        self.turn(queries, keys, seen, self.hidden)

    def stop(self, queries: Queries) -> Value:
        """How many keys some of the queries see."""
        keys = self.count["keys"]
        if not self.form.is_causal:
            return keys
        return self.code.lesser(queries.first + queries.rows, keys)


class Vectors:
    """So many vectors of queries."""

    def __init__(self, kernel: Lanes, queries: Queries, vectors: int) -> None:
        self.kernel, self.queries, self.head = kernel, queries, queries.head
        self.code, self.count, self.lanes = kernel.code, kernel.count, kernel.lanes
        self.vector, self.several = kernel.vector, range(vectors)
        self.across = vectors * self.lanes
        self.nothing = self.code.constant(self.vector, 0.0)
        self.tops = self.variables(-inf)

    def variables(self, number: float) -> list[Variable]:
        """One for each vector."""
        begun = self.code.constant(self.vector, number)
        return [self.code.variable(begun) for _ in self.several]

    def place(self, room: Value, line: Value, j: int) -> Value:
        """The place of one of a line's vectors."""
        return self.kernel.at(room, line * self.across + j * self.lanes)

    def tile(
        self,
        lines: list[Value],
        step: Value,
        room: Value,
        depth: Value,
        ahead: Callable[[Value], Value],
        begin: Callable[[int, int], Value] | None = None,
    ) -> Sums:
        """Sums of products of the numbers of lines, some steps apart, and the vectors in a room;
        what lies `ahead` at each step is brought near."""
        code, kernel = self.code, self.kernel

        def left(i: int, at: Value) -> Value:
            return code.load(kernel.number, kernel.at(lines[i], at * step))

        def right(j: int, at: Value) -> Value:
            if j == 0:
                code.prefetch(ahead(at))
            return code.load(self.vector, self.place(room, at, j))

        shape = kernel.tall, len(self.several)
        return add_products(code, shape, left, right, depth, kernel.multiply_add, begin)

    def tile_of_keys(
        self, name: str, key: Value, near: list[Value], room: Value, depth: Value
    ) -> Sums:
        """Rows of keys or values times vectors."""
        kernel, row = self.kernel, self.count[f"{name}_row"]
        lines = [kernel.at(self.head[name], (key + each) * row) for each in near]

        def ahead(at: Value) -> Value:
            beside = ((at >> 1) & (kernel.tall - 1)) + kernel.tall
            return kernel.at(lines[0], beside * row + (at & -16))

        return self.tile(lines, self.count[f"{name}_column"], room, depth, ahead)

    def score(self, key: Value, keys: Value, line: Value) -> None:
        """The scores of some keys, in lines from one on, and the largest of them."""
        with self.code.counted(self.kernel.zero, keys, self.kernel.tall) as at:
            self._score_tile(key, keys, at, line)

    def _score_tile(self, key: Value, keys: Value, at: Value, line: Value) -> None:
        """Those of a tile of keys; after the last key it is taken again."""
        code, kernel = self.code, self.kernel
        near = [code.lesser(at + i, keys - 1) for i in range(kernel.tall)]
        scores = self.tile_of_keys("k", key, near, kernel.queries, self.count["depth"])
        if kernel.form.letter == "p":
            scale = code.spread(kernel.scale, self.lanes)
            for score in scores.values():
                score.set(score.now * scale)
        if kernel.form.mask != "none":
            for (i, j), score in scores.items():
                score.set(kernel.masked(score.now, self._hidden(key, near[i], j)))
        if kernel.form.is_causal:
            with code.when(key + at + (kernel.tall - 1) > self.queries.first):
                self._hide_later(scores, key, near)
        for (i, j), score in scores.items():
            self.tops[j].set(larger(score.now, self.tops[j].now))
            code.store(score.now, self.place(kernel.scores, line + at + i, j))

    def _hidden(self, key: Value, at: Value, j: int) -> Value:
        """What a mask adds to the scores of a key."""
        code, kernel = self.code, self.kernel
        if kernel.form.mask == "whole":
            return code.load(self.vector, self.place(kernel.hidden, at, j))
        kind = kernel.form.mask_kind
        place = code.at(self.head["mask"], (key + at) * self.count["mask_column"], kind)
        return code.spread(kernel.added(code.load(kind, place)), self.lanes)

    def _hide_later(self, scores: Sums, key: Value, near: list[Value]) -> None:
        """Keys that come later than a query are not seen by it."""
        code, order = self.code, self.code.order(INT32.of_lanes(self.lanes))
        for (i, j), score in scores.items():
            far = key + near[i] - self.queries.first - j * self.lanes
            is_seen = code.spread(far.converted("trunc", INT32), self.lanes) <= order
            score.set(code.choose(is_seen, score.now, -inf))

    def weigh(
        self,
        name: str,
        columns: Value,
        key: Value,
        keys: Value,
        room: Value,
        factors: list[Variable] | None,
    ) -> None:
        """Add keys or values, times vectors of weights in a room, to what was made so far, that
        times factors; some columns at a time, of which the last is taken again."""
        code, kernel, row = self.code, self.kernel, self.count[f"{name}_row"]
        begin = kernel.at(self.head[name], key * row)
        with code.counted(kernel.zero, columns, kernel.tall) as first:
            near = [code.lesser(first + i, columns - 1) for i in range(kernel.tall)]
            lines = [kernel.at(begin, each * self.count[f"{name}_column"]) for each in near]

            def begun(i: int, j: int) -> Value:
                known = code.load(self.vector, self.place(kernel.made, near[i], j))
                return known if factors is None else known * factors[j].now

            def ahead(at: Value) -> Value:
                return kernel.at(lines[0], (at + 16) * row)

            sums = self.tile(lines, row, room, keys, ahead, begun)
            for (i, j), total in sums.items():
                code.store(total.now, self.place(kernel.made, near[i], j))


class _Forward(Lanes):
    """Results, and the logarithms of sums."""

    def write(self) -> None:
        """All units of the range."""
        code, count = self.code, self.count
        blocks = (count["rows"] + count["block"] - 1) / count["block"]
        with code.units() as unit:
            line, block = code.split(unit, blocks)
            batch, number = code.split(line, count["heads"])
            first = block * count["block"]
            queries = Queries(self, self.head(batch, number, first), first)
            self.take_queries(queries)
            self.clear(self.made, count["width"] * queries.across)
            for several in range(1, self.most + 1):
                with code.when(queries.across.equals(several * self.lanes)):
                    _Sweep(self, queries, several).meet(self.stop(queries))

            def factor(lane: Value) -> Value:
                return self.divided(code.load(self.vector, self.at(self.totals, lane)))

            self.turn_back(queries, "out", count["width"], factor)
            if self.form.sums:
                self._give_logarithms(queries)

    def _give_logarithms(self, queries: Queries) -> None:
        code = self.code
        with self.vectors(queries) as lane:
            total, top = (
                code.load(self.vector, self.at(x, lane)) for x in (self.totals, self.tops)
            )
            made = code.choose(total.equals(0.0), 0.0, log(total) + self.base(top))
            left = code.first(queries.rows - lane, self.lanes)
            code.store_if(made, self.at(queries.head["sums"], lane), left)


class _Sweep(Vectors):
    """All keys, some at a time."""

    def __init__(self, kernel: Lanes, queries: Queries, vectors: int) -> None:
        super().__init__(kernel, queries, vectors)
        self.totals, self.bases, self.factors = (self.variables(0.0) for _ in range(3))

    def meet(self, stop: Value) -> None:
        """Those before one."""
        code, kernel = self.code, self.kernel
        with code.counted(kernel.zero, stop, KEYS) as key:
            keys = code.lesser(stop - key, kernel.zero + KEYS)
            kernel.take_mask(self.queries, key, keys)
            before = [top.now for top in self.tops]
            self.score(key, keys, kernel.zero)
            for j in self.several:
                base = kernel.base(self.tops[j].now)
                self.bases[j].set(base)
                self.factors[j].set(falling_exp(before[j] - base))
            self._grow(keys)
            if kernel.form.letter == "p":
                key, keys = key >> 1, (keys + 1) >> 1
            self.weigh("v", self.count["width"], key, keys, kernel.scores, self.factors)
        for j in self.several:
            code.store(self.totals[j].now, kernel.at(kernel.totals, j * self.lanes))
            code.store(self.tops[j].now, kernel.at(kernel.tops, j * self.lanes))

    def _grow(self, keys: Value) -> None:
        """Exponentials in place of scores, in words of two keys where values are; their sums."""
        code, kernel = self.code, self.kernel
        sums = self.variables(0.0)

        def grown(at: Value, j: int) -> Value:
            score = code.load(self.vector, self.place(kernel.scores, at, j))
            made = falling_exp(score - self.bases[j].now)
            sums[j].set(sums[j].now + made)
            return made

        if kernel.form.letter != "p":
            with code.counted(kernel.zero, keys) as at:
                for j in self.several:
                    code.store(grown(at, j), self.place(kernel.scores, at, j))
        else:
            self._grow_pairs(keys, grown)
        for total, factor, more in zip(self.totals, self.factors, sums, strict=True):
            total.set(total.now * factor.now + more.now)

    def _grow_pairs(self, keys: Value, grown: Callable[[Value, int], Value]) -> None:
        code, scores = self.code, self.kernel.scores

        def keep(at: Value, j: int, other: Value) -> None:
            pair = joined(code, grown(at, j), other).bits(self.vector)
            code.store(pair, self.place(scores, at >> 1, j))

        with code.counted(self.kernel.zero, keys & -2, 2) as at:
            for j in self.several:
                keep(at, j, grown(at + 1, j))
        with code.when((keys & 1).equals(1)):
            for j in self.several:
                keep(keys - 1, j, self.nothing)
