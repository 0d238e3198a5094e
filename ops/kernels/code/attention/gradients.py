"""The gradients of attention: weights are made anew, for some queries and keys at a time.

With weights p of a query, which are the exponentials of scores divided by their sum, and the slopes
g of its result y, the slopes of its scores are `p * (v @ g - y @ g)`; those of queries, keys and
values are products with these and with p (T. Dao et al., "FlashAttention", 2022, appendix B).
A unit is all queries that meet the same keys, so each sum is one thread's and has one order.
"""

from __future__ import annotations

from math import inf
from typing import Final

from ..functions.scalars import falling_exp
from ..language.target import Target
from ..language.text import Value
from ..language.tiles import add_products
from .frame import COUNTS, KEYS, Form, larger
from .lanes import ROOM, Lanes, Queries, Vectors

__all__ = ["COUNTS_BACK", "gradients_text"]

_KEPT: Final = 1024
"""Keys whose scores are kept from where their sums are found to where weights are needed."""
_ARRAYS: Final = ("q", "k", "v", "mask", "out", "g", "dq", "dk", "dv")
COUNTS_BACK: Final = (
    *COUNTS,
    *(f"{name}_{step}" for name in ("g", "dq", "dk", "dv") for step in ("outer", "inner", "row")),
)
"""Sizes and steps: columns of `g`, the slopes of results, and of what is made lie side by side."""


def gradients_text(target: Target, form: Form) -> str:
    """The kernel for a CPU; its units are the heads of keys of batches."""
    made = _Gradients(target, form)
    made.write()
    return made.text()


class _Gradients(Lanes):
    """The parts of the kernel."""

    def __init__(self, target: Target, form: Form) -> None:
        super().__init__(target, form, _ARRAYS, COUNTS_BACK, _KEPT)
        self.given, self.slopes = self.room(ROOM), self.room(KEYS * self.most)
        self.along = self.room(0)

    def write(self) -> None:
        """All units of the range."""
        code, count = self.code, self.count
        blocks = (count["rows"] + count["block"] - 1) / count["block"]
        with code.units() as unit:
            batch, number = code.split(unit, count["heads"] / count["group"])
            head = number * count["group"]
            self._clear_rows(self.head(batch, head, self.zero))
            with (
                code.counted(self.zero, count["group"]) as member,
                code.counted(self.zero, blocks) as block,
            ):
                first = block * count["block"]
                here = self.head(batch, head + member, first)
                self._block(Queries(self, here, first))

    def _clear_rows(self, head: dict[str, Value]) -> None:
        """Nothing is added to the gradients of keys and values yet."""
        code, nothing = self.code, self.code.constant(self.vector, 0.0)
        for name, width in (("dk", "depth"), ("dv", "width")):
            columns = self.count[width]
            with code.counted(self.zero, self.count["keys"]) as key:
                line = self.at(head[name], key * self.count[f"{name}_row"])
                with code.counted(self.zero, columns, self.lanes) as at:
                    code.store_if(nothing, self.at(line, at), code.first(columns - at, self.lanes))

    def _block(self, queries: Queries) -> None:
        """What some queries add."""
        code, count = self.code, self.count
        self.take_queries(queries)
        self._take_slopes(queries)
        self.clear(self.made, count["depth"] * queries.across)
        with self.vectors(queries) as lane:
            for room, number in ((self.tops, -inf), (self.totals, 0.0)):
                code.store(code.constant(self.vector, number), self.at(room, lane))
        self._meet(queries)
        self.turn_back(queries, "dq", count["depth"], lambda lane: None)

    def _meet(self, queries: Queries) -> None:
        """All keys twice, some at a time: sums are found first, then slopes."""
        code, stop = self.code, self.stop(queries)
        rounds = (stop + (KEYS - 1)) / (self.zero + KEYS)
        with code.counted(self.zero, rounds + rounds) as number:
            is_first = number < rounds
            key = code.choose(is_first, number, number - rounds) * KEYS
            keys = code.lesser(stop - key, self.zero + KEYS)
            are_kept = stop < _KEPT + 1
            line = code.choose(are_kept, key, 0)
            are_wanted = is_first | are_kept.equals(0)
            with code.when(are_wanted):
                self.take_mask(queries, key, keys)
            for several in range(1, self.most + 1):
                with code.when(queries.across.equals(several * self.lanes)):
                    made = _Slopes(self, queries, several)
                    with code.when(are_wanted):
                        made.score(key, keys, line)
                    with code.when(is_first):
                        made.add_up(keys, line)
                    with code.when(is_first.equals(0)):
                        made.find(key, keys, line)
            with code.when(is_first.equals(0)):
                scores = self.at(self.scores, line * queries.across)
                self._add_rows(queries, ("g", "dv", "width"), scores, key, keys)
                self._add_rows(queries, ("q", "dk", "depth"), self.slopes, key, keys)

    def _take_slopes(self, queries: Queries) -> None:
        """The slopes of results side by side, and their products with results, added up."""
        code, head, count = self.code, queries.head, self.count
        nothing = code.constant(self.vector, 0.0)
        with self.vectors(queries) as lane:
            code.store(nothing, self.at(self.along, lane))

        def seen(row: Value, at: Value, mask: Value | None) -> Value:
            place = self.at(head["g"], row * count["g_row"] + at)
            code.prefetch(self.at(place, count["block"] * count["g_row"]))
            return code.load_if(self.vector, place, mask)

        def product(row: Value, at: Value, mask: Value | None) -> Value:
            place = self.at(head["out"], row * count["out_row"] + at)
            return code.load_if(self.vector, place, mask) * seen(row, at, mask)

        self.turn(queries, count["width"], product, self.given)
        with self.vectors(queries) as lane:
            total = code.variable(nothing)
            with code.counted(self.zero, count["width"]) as at:
                place = self.at(self.given, at * queries.across + lane)
                total.set(total.now + code.load(self.vector, place))
            code.store(total.now, self.at(self.along, lane))
        self.turn(queries, count["width"], seen, self.given)

    def _add_rows(
        self, queries: Queries, names: tuple[str, str, str], room: Value, key: Value, keys: Value
    ) -> None:
        """Add to rows for keys what a room's lines weigh of rows for queries: of as many columns
        as registers hold."""
        source, goal, width = names
        columns, column = self.count[width], self.zero
        for vectors in range(self.most, 1, -1):
            size = vectors * self.lanes
            after = column + (columns - column) / size * size
            with self.code.counted(column, after, size) as at:
                self._add_columns(queries, (source, goal), room, key, keys, at, [None] * vectors)
            column = after
        with self.code.counted(column, columns, self.lanes) as at:
            mask = self.code.first(columns - at, self.lanes)
            self._add_columns(queries, (source, goal), room, key, keys, at, [mask])

    def _add_columns(
        self,
        queries: Queries,
        names: tuple[str, str],
        room: Value,
        key: Value,
        keys: Value,
        column: Value,
        masks: list[Value | None],
    ) -> None:
        """A tile of keys at a time; after the last it is taken again."""
        code, lanes = self.code, self.lanes
        begin = self.at(queries.head[names[0]], column)
        goal = self.at(queries.head[names[1]], column)
        step, far = (self.count[f"{name}_row"] for name in names)
        with code.counted(self.zero, keys, self.tall) as at:
            near = [code.lesser(at + i, keys - 1) for i in range(self.tall)]
            lines = [self.at(room, each * queries.across) for each in near]
            goals = [self.at(goal, (key + each) * far) for each in near]

            def left(i: int, row: Value) -> Value:
                return code.load(self.number, self.at(lines[i], row))

            def right(j: int, row: Value) -> Value:
                place = self.at(begin, row * step + j * lanes)
                return code.load_if(self.vector, place, masks[j])

            def known(i: int, j: int) -> Value:
                return code.load_if(self.vector, self.at(goals[i], j * lanes), masks[j])

            shape = self.tall, len(masks)
            sums = add_products(code, shape, left, right, queries.rows, code.multiply_add, known)
            for (i, j), total in sums.items():
                code.store_if(total.now, self.at(goals[i], j * lanes), masks[j])


class _Slopes(Vectors):
    """So many vectors of queries: their weights, and the slopes of their scores."""

    def __init__(self, kernel: _Gradients, queries: Queries, vectors: int) -> None:
        super().__init__(kernel, queries, vectors)
        self.gradients = kernel

    def _loaded(self, room: Value) -> list[Value]:
        """Vectors that have a room for themselves."""
        places = [self.kernel.at(room, j * self.lanes) for j in self.several]
        return [self.code.load(self.vector, place) for place in places]

    def add_up(self, keys: Value, line: Value) -> None:
        """The sums of exponentials so far, and the largest scores."""
        code, kernel = self.code, self.kernel
        before, totals = self._loaded(kernel.tops), self._loaded(kernel.totals)
        tops = [larger(top.now, known) for top, known in zip(self.tops, before, strict=True)]
        bases, sums = [kernel.base(top) for top in tops], self.variables(0.0)
        with code.counted(kernel.zero, keys) as at:
            for j in self.several:
                score = code.load(self.vector, self.place(kernel.scores, line + at, j))
                sums[j].set(sums[j].now + falling_exp(score - bases[j]))
        for j in self.several:
            total = totals[j] * falling_exp(before[j] - bases[j]) + sums[j].now
            code.store(tops[j], kernel.at(kernel.tops, j * self.lanes))
            code.store(total, kernel.at(kernel.totals, j * self.lanes))

    def find(self, key: Value, keys: Value, line: Value) -> None:
        """Weights in place of scores, and the slopes of those; and what queries get of them."""
        code, kernel = self.code, self.kernel
        bases = [kernel.base(top) for top in self._loaded(kernel.tops)]
        factors = [kernel.divided(total) for total in self._loaded(kernel.totals)]
        along = self._loaded(self.gradients.along)
        with code.counted(kernel.zero, keys) as at:
            for j in self.several:
                goal = self.place(kernel.scores, line + at, j)
                weight = falling_exp(code.load(self.vector, goal) - bases[j]) * factors[j]
                code.store(weight, goal)
        scale = code.spread(kernel.scale, self.lanes)
        with code.counted(kernel.zero, keys, kernel.tall) as at:
            near = [code.lesser(at + i, keys - 1) for i in range(kernel.tall)]
            width = self.count["width"]
            found = self.tile_of_keys("v", key, near, self.gradients.given, width)
            for (i, j), slope in found.items():
                weight = code.load(self.vector, self.place(kernel.scores, line + near[i], j))
                made = (slope.now - along[j]) * weight * scale
                code.store(made, self.place(self.gradients.slopes, at + i, j))
        self.weigh("k", self.count["depth"], key, keys, self.gradients.slopes, None)
