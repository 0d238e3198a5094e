"""Attention of a few queries, as they come one by one where a text is written: vectors go along the
columns of keys and values, which are read once for all queries of a group of heads."""

from __future__ import annotations

from math import inf
from operator import add as add_up
from typing import Final, NamedTuple

from ..functions.formulas import HALVES, rounded, taken_from
from ..functions.scalars import falling_exp, log
from ..language.lanes import begun, folded
from ..language.target import Target
from ..language.text import LANES, Value, Variable
from ..language.tiles import Tile
from ..products.dots import DOTS, Dots
from .frame import KEYS, Attention, Form, Head, larger

__all__ = ["MOST", "rows_text"]

MOST: Final = 8
"""Queries that meet the same keys, at most."""
_AHEAD: Final = 16
"""Keys and values that are brought near before they are read."""


def rows_text(target: Target, form: Form) -> str:
    """The kernel for a CPU; its units are the heads of keys of batches."""
    made = _Rows(target, form)
    made.write()
    return made.text()


class _Query(NamedTuple):
    """A query: where its head's numbers lie, its row in that head, and what is known of it."""

    head: Head
    row: Value
    top: Value
    total: Value
    scores: Value


class _Rows(Attention):
    """The parts of the kernel."""

    def __init__(self, target: Target, form: Form) -> None:
        super().__init__(target, form)
        room, self.line = self.code.room, KEYS + LANES
        self.scores = room(self.number, self.line * MOST)
        self.tops, self.totals = room(self.number, MOST), room(self.number, MOST)
        self.dots = Dots(self.code, self.number, self.lanes, letter=form.letter)
        self.most = Tile.of(target).rows * Tile.of(target).vectors
        self.wide = self.number.of_lanes(LANES)

    def write(self) -> None:
        """All units of the range."""
        code, count = self.code, self.count
        queries = count["group"] * count["rows"]
        with code.units() as unit:
            batch, keys_of = code.split(unit, count["heads"] / count["group"])
            place = batch, keys_of * count["group"]
            with code.counted(self.zero, queries) as number:
                self._begin(self._query(place, number))
            with code.counted(self.zero, count["keys"], KEYS) as key:
                for number, several in self.dots.rows(self.zero, queries):
                    beside = [self._query(place, number + i) for i in range(several)]
                    self._meet(beside, key)
            with code.counted(self.zero, queries) as number:
                self._end(self._query(place, number))

    def _query(self, place: tuple[Value, Value], number: Value) -> _Query:
        """One of those that meet the keys of a batch's group of heads."""
        head, row = self.code.split(number, self.count["rows"])
        top, total = self.at(self.tops, number), self.at(self.totals, number)
        scores = self.at(self.scores, number * self.line)
        return _Query(self.head(place[0], place[1] + head, row), row, top, total, scores)

    def _begin(self, query: _Query) -> None:
        """Nothing is known of a query yet."""
        code, nothing = self.code, self.code.constant(self.wide, 0.0)
        code.store(code.constant(self.number, -inf), query.top)
        code.store(code.constant(self.number, 0.0), query.total)

        def clear(places: list[Value], mask: Value | None) -> None:
            code.store_if(nothing, self.at(query.head["out"], places[0]), mask)

        code.vectors(self.zero, self.count["width"], 1, clear)

    def _meet(self, queries: list[_Query], key: Value) -> None:
        """Some queries and some keys from one on."""
        code = self.code
        keys = code.lesser(self.count["keys"] - key, self.zero + KEYS)
        seen = [code.lesser(each.row + 1 - key, keys) for each in queries]
        if self.form.is_causal:  # as many as one of them sees
            keys = code.choose(seen[0] > seen[-1], seen[0], seen[-1])
        with code.when(keys > 0):
            factors = []
            tops = self._score(queries, key, keys, seen)
            for each, best in zip(queries, tops, strict=True):
                before = code.load(self.number, each.top)
                top = larger(best, before)
                base = self.base(top)
                factor = falling_exp(code.spread(before - base))
                total = code.load(self.number, each.total) * code.alone(factor)
                code.store(total + self._grow(each, keys, base), each.total)
                code.store(top, each.top)
                factors.append(factor)
            self._weigh(queries, key, keys, factors)

    def _score(
        self, queries: list[_Query], key: Value, keys: Value, seen: list[Value]
    ) -> list[Value]:
        """Write down scores, and find the largest; after the last key it is taken again."""
        code, step = self.code, self.count["k_row"]
        begin = code.at(queries[0].head["k"], key * step, self.stored)
        scale = code.spread(self.scale, DOTS)
        best = begun(code, self.number.of_lanes(DOTS), -inf, len(queries))
        with code.counted(self.zero, keys, DOTS) as at:
            columns = self.dots.columns(begin, step, at, keys, DOTS)
            lines = [each.head["q"] for each in queries]
            found = self.dots.sums(lines, columns, self.count["depth"], step * _AHEAD)
            for each, made, top, stop in zip(queries, found, best, seen, strict=True):
                score = self._masked(made * scale, each.head["mask"], key + at, keys - at)
                if self.form.is_causal:
                    score = code.choose(code.first(stop - at, DOTS), score, -inf)
                top.set(larger(score, top.now))
                code.store(score, self.at(each.scores, at))
        return [folded([top], larger) for top in best]

    def _masked(self, scores: Value, mask: Value, key: Value, left: Value) -> Value:
        """Scores of keys of which so many are left."""
        if self.form.mask == "none":
            return scores
        code, kind = self.code, self.form.mask_kind
        hidden = -inf if self.form.added else 0
        place, is_left = code.at(mask, key, kind), code.first(left, DOTS)
        seen = code.load_if(kind.of_lanes(DOTS), place, is_left, hidden)
        return self.masked(scores, self.added(seen))

    def _grow(self, query: _Query, keys: Value, base: Value) -> Value:
        """Exponentials in place of scores; their sum."""
        code, below = self.code, self.code.spread(base)
        (sums,) = begun(code, self.wide, 0.0, 1)

        def grow(places: list[Value], mask: Value | None) -> None:
            goal = self.at(query.scores, places[0])
            made = falling_exp(code.load(self.wide, goal) - below)
            is_half = self.form.letter in HALVES  # which values are weighed in
            code.store(rounded(self.form.letter, made) if is_half else made, goal)
            sums.set(sums.now + (made if mask is None else code.choose(mask, made, 0.0)))

        code.vectors(self.zero, keys, 1, grow)
        return folded([sums], add_up)

    def _weigh(self, queries: list[_Query], key: Value, keys: Value, factors: list[Value]) -> None:
        """Add weighed values to the sums so far: of as many columns as registers hold."""
        code, lanes, column = self.code, self.lanes, self.zero
        begin = code.at(queries[0].head["v"], key * self.count["v_row"], self.stored)
        made = _Weighed(self, queries, begin, keys, factors)
        for vectors in (each for each in (8, 4) if each * len(queries) <= self.most):
            size = vectors * lanes
            after = column + (self.count["width"] - column) / size * size
            with code.counted(column, after, size) as at:
                made.add(at, [None] * vectors)
            column = after
        with code.counted(column, self.count["width"], lanes) as at:
            made.add(at, [code.first(self.count["width"] - at, lanes)])

    def _end(self, query: _Query) -> None:
        """The result is what was weighed, divided by the weights' sum."""
        code, total = self.code, self.code.load(self.number, query.total)
        factor = code.spread(self.divided(total))

        def divide(places: list[Value], mask: Value | None) -> None:
            goal = self.at(query.head["out"], places[0])
            code.store_if(code.load_if(self.wide, goal, mask) * factor, goal, mask)

        code.vectors(self.zero, self.count["width"], 1, divide)
        if self.form.sums:
            made = code.alone(log(code.spread(total)))
            made = made + self.base(code.load(self.number, query.top))
            code.store(code.choose(total.equals(0.0), 0.0, made), query.head["sums"])


class _Weighed:
    """What is added to the results of some queries for some keys, whose values begin at a place."""

    def __init__(
        self,
        kernel: _Rows,
        queries: list[_Query],
        begin: Value,
        keys: Value,
        factors: list[Value],
    ) -> None:
        self.kernel, self.queries, self.begin, self.keys = kernel, queries, begin, keys
        lanes = range(kernel.lanes)
        self.factors = [kernel.code.shuffled(each, each, lanes) for each in factors]

    def add(self, column: Value, masks: list[Value | None]) -> None:
        """To vectors of columns from one on."""
        code, kernel, lanes = self.kernel.code, self.kernel, self.kernel.lanes
        sums = dict[tuple[int, int], Variable]()
        for i, each in enumerate(self.queries):
            for j, mask in enumerate(masks):
                goal = kernel.at(each.head["out"], column + j * lanes)
                known = code.load_if(kernel.vector, goal, mask) * self.factors[i]
                sums[i, j] = code.variable(known)
        step = kernel.count["v_row"]
        with code.counted(kernel.zero, self.keys) as at:
            line = code.at(self.begin, at * step + column, kernel.stored)
            lying = kernel.stored.of_lanes(lanes)
            seen = []
            for j, mask in enumerate(masks):
                place = code.at(line, j * lanes, kernel.stored)
                code.prefetch(code.at(place, step * _AHEAD, kernel.stored))
                seen.append(taken_from(kernel.form.letter, code.load_if(lying, place, mask)))
            for i, each in enumerate(self.queries):
                weight = code.spread(code.load(kernel.number, kernel.at(each.scores, at)), lanes)
                for j, value in enumerate(seen):
                    sums[i, j].set(code.multiply_add(weight, value, sums[i, j].now))
        for (i, j), total in sums.items():
            goal = kernel.at(self.queries[i].head["out"], column + j * lanes)
            code.store_if(total.now, goal, masks[j])
