"""The code of discrete Fourier transforms: 16 of them side by side, one in each lane.

The points of 16 transforms lie in a slot as vectors of real and imaginary parts.  A stage takes the
points of `radix` parts together and writes them so that the last one leaves all in order
(Stockham's way); between stages they go from one half of the slot to the other.  An inverse
transform is a forward one of numbers whose parts have changed places.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Final, NamedTuple

from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..language.tiles import turned

__all__ = ["COUNTS", "PLACES", "STAGE", "fourier_text"]

COUNTS: Final = ("per_slot", "blocks", "points", "read", "written", "inner", "flip", "stages")
"""Blocks of a slot and of all, points of a transform, those that are read and written of it,
transforms that lie side by side, whether it is an inverse one, and its stages."""
PLACES: Final = ("plan", "factors", "turns", "slots", "x", "out")
STAGE: Final = 4
"""Words of the plan for a stage: its radix, the points of a part, how many transforms of parts lie
between each other, and where its factors begin."""

Pair = tuple[Value, Value]


def fourier_text(target: Target, element: str, load: str, store: str) -> str:
    """The module of the kernel for a range of slots."""
    code = Code(target)
    made = _Transform(code, Kind(element), load, store)
    with code.units() as slot:
        made.slot(slot)
    names = [*((INT64, name) for name in COUNTS), (Kind("double"), "scale")]
    return code.kernel("fourier", [*names, *((POINTER, name) for name in PLACES)])


class _Stage(NamedTuple):
    """What a stage knows: the points of a part, the transforms between, factors and both halves."""

    part: Value
    beside: Value
    factors: Value
    source: Value
    goal: Value


class _Transform:
    """The parts of the kernel."""

    def __init__(self, code: Code, element: Kind, load: str, store: str) -> None:
        self.code, self.element = code, element
        self.kind = element.of_lanes(LANES)
        self.given = {name: code.argument(INT64, name) for name in COUNTS}
        self.at = {name: code.argument(POINTER, name) for name in PLACES}
        self.zero = code.constant(INT64, 0)
        self.load, self.store = load, store
        scale = code.argument(Kind("double"), "scale")
        if element.element == "float":
            scale = scale.converted("fptrunc", element)
        self.scale = code.spread(scale)

    # ------------------------------------------------------------------------------ frame

    def slot(self, slot: Value) -> None:
        """All blocks of a slot, each of up to 16 transforms."""
        code, given = self.code, self.given
        room = (given["points"] + LANES) * (2 * LANES)
        own = code.aligned(code.at(self.at["slots"], slot * (room * 2 + LANES), self.element))
        halves = own, code.at(own, room, self.element)
        first = slot * given["per_slot"]
        stop = code.lesser(first + given["per_slot"], given["blocks"])
        beside = (given["inner"] + (LANES - 1)) / code.constant(INT64, LANES)
        with code.counted(first, stop) as block:
            outer, number = code.split(block, beside)
            self._block(outer, number * LANES, halves)

    def _block(self, outer: Value, first: Value, halves: Pair) -> None:
        code, given = self.code, self.given
        count = code.lesser(given["inner"] - first, code.constant(INT64, LANES))
        source, goal = (code.variable(each) for each in halves)

        def turn_over() -> None:
            one, other = source.now, goal.now
            source.set(other)
            goal.set(one)

        if self.load.endswith("columns"):
            self._read_columns(source.now, outer, first, count)
        else:
            self._read_rows(source.now, outer * given["inner"] + first, count)
        if self.load == "half":
            self._entangle(source.now, goal.now)
            turn_over()
        elif self.load == "odd half":
            self._mirror(source.now)
        with code.counted(self.zero, given["stages"]) as number:
            self._stage(number, source.now, goal.now)
            turn_over()
        if self.store == "half":
            self._disentangle(source.now, goal.now)
            turn_over()
        if self.store in ("columns", "turned"):
            self._write_columns(source.now, outer, first, count)
        else:
            self._write_rows(source.now, outer * given["inner"] + first, count)

    def _place(self, half: Value, point: Value, part: Value | int) -> Value:
        return self.code.at(half, point * (2 * LANES) + part * LANES, self.element)

    def _point(self, half: Value, point: Value) -> Pair:
        code = self.code
        return (
            code.load(self.kind, self._place(half, point, 0)),
            code.load(self.kind, self._place(half, point, 1)),
        )

    def _put(self, half: Value, point: Value, pair: Pair, flip: Value | int = 0) -> None:
        for part, value in enumerate(pair):
            self.code.store(value, self._place(half, point, flip ^ part))

    # ------------------------------------------------------------------------------ reading

    def _read_rows(self, half: Value, row: Value, count: Value) -> None:
        """Rows that lie behind each other; lanes without one take the last."""
        code, words = self.code, 1 if self.load == "real rows" else 2
        size = self.given["read"] * words
        begins = [
            code.at(
                self.at["x"],
                (row + code.lesser(code.constant(INT64, lane), count - 1)) * size,
                self.element,
            )
            for lane in range(LANES)
        ]
        flip = self.zero if self.load == "half" else self.given["flip"]
        step = LANES // words
        with code.counted(self.zero, self.given["read"], step) as point:
            at = point * words
            for is_whole in (True, False):
                left = size - at
                with code.when(left > LANES - 1 if is_whole else left < LANES):
                    mask = None if is_whole else code.first(left)
                    lines = [
                        code.load_if(self.kind, code.at(begin, at, self.element), mask)
                        for begin in begins
                    ]
                    self._put_lines(half, point, turned(code, lines), flip)

    def _put_lines(self, half: Value, point: Value, lines: list[Value], flip: Value) -> None:
        """Numbers of points that follow each other; what is real has no imaginary parts."""
        if self.load == "real rows":
            nothing = self.code.constant(self.kind, 0.0)
            for number, line in enumerate(lines):
                self._put(half, point + number, (line, nothing), flip)
            return
        for number in range(LANES // 2):
            pair = lines[2 * number], lines[2 * number + 1]
            self._put(half, point + number, pair, flip)

    def _read_columns(self, half: Value, outer: Value, first: Value, count: Value) -> None:
        code, given = self.code, self.given
        words = 1 if self.load.startswith("real") else 2
        begin = outer * given["points"] * given["inner"] + first
        masks = [code.first(count * words - LANES * number) for number in range(words)]
        with code.counted(self.zero, given["points"]) as point:
            place = (begin + point * given["inner"]) * words
            lines = [
                code.load_if(
                    self.kind, code.at(self.at["x"], place + LANES * number, self.element), mask
                )
                for number, mask in enumerate(masks)
            ]
            if words == 1:
                pair = lines[0], code.constant(self.kind, 0.0)
            else:
                low, high = lines
                pair = (
                    code.shuffled(low, high, range(0, 2 * LANES, 2)),
                    code.shuffled(low, high, range(1, 2 * LANES, 2)),
                )
            self._put(half, point, pair, given["flip"])

    def _mirror(self, half: Value) -> None:
        """The other half of an odd number of points, which are those of something real."""
        code, given = self.code, self.given
        flip = given["flip"]
        code.store(code.constant(self.kind, 0.0), self._place(half, self.zero, flip ^ 1))
        with code.counted(self.zero + 1, given["read"]) as point:
            real, imaginary = self._point(half, point)
            is_flipped = code.spread(flip.differs(0))
            pair = (
                code.choose(is_flipped, -real, real),
                code.choose(is_flipped, imaginary, -imaginary),
            )
            self._put(half, given["points"] - point, pair)

    def _entangle(self, half: Value, goal: Value) -> None:
        """Points of twice as many real numbers as those of complex ones: the even ones are their
        real parts, the odd ones their imaginary parts.  They are left with parts exchanged."""
        code, points = self.code, self.given["points"]
        first, last = self._point(half, self.zero)[0], self._point(half, points)[0]
        self._put(goal, self.zero, (first - last, first + last))
        with code.counted(self.zero + 1, points / code.constant(INT64, 2) + 1) as at:
            (xr, xi), (yr, yi) = self._point(half, at), self._point(half, points - at)
            er, ei, dr, di = xr + yr, xi - yi, xr - yr, xi + yi
            wr, wi = self._turn(at)
            odd_r, odd_i = self._times((dr, di), (wr, -wi))
            self._put(goal, points - at, (odd_r - ei, er + odd_i))
            self._put(goal, at, (ei + odd_r, er - odd_i))

    def _disentangle(self, half: Value, goal: Value) -> None:
        """The reverse, of forward transforms."""
        code, points = self.code, self.given["points"]
        nothing = code.constant(self.kind, 0.0)
        first, other = self._point(half, self.zero)
        self._put(goal, self.zero, (first + other, nothing))
        self._put(goal, points, (first - other, nothing))
        with code.counted(self.zero + 1, points / code.constant(INT64, 2) + 1) as at:
            (xr, xi), (yr, yi) = self._point(half, at), self._point(half, points - at)
            er, ei, dr, di = (each * 0.5 for each in (xr + yr, xi - yi, xr - yr, xi + yi))
            tr, ti = self._times((di, -dr), self._turn(at))
            self._put(goal, points - at, (er - tr, ti - ei))
            self._put(goal, at, (er + tr, ei + ti))

    def _turn(self, at: Value) -> Pair:
        return self._factor(self.at["turns"], at)

    def _factor(self, place: Value, number: Value) -> Pair:
        """A complex number for all lanes."""
        code = self.code
        real, imaginary = (
            code.spread(code.load(self.element, code.at(place, number * 2 + part, self.element)))
            for part in (0, 1)
        )
        return real, imaginary

    def _times(self, one: Pair, other: Pair) -> Pair:
        code = self.code
        return (
            code.multiply_add(one[0], other[0], -(one[1] * other[1])),
            code.multiply_add(one[0], other[1], one[1] * other[0]),
        )

    # ------------------------------------------------------------------------------ stages

    def _stage(self, number: Value, source: Value, goal: Value) -> None:
        code = self.code
        words = [
            code.load(INT64, code.at(self.at["plan"], number * STAGE + word, INT64))
            for word in range(STAGE)
        ]
        radix, part, beside, begin = words
        factors = code.at(self.at["factors"], begin * 2, self.element)
        stage = _Stage(part, beside, factors, source, goal)
        for each in (2, 3, 4, 5):
            with code.when(radix.equals(each)):
                self._parts(stage, each)
        with code.when(radix > 5):
            self._long_parts(stage, radix)

    def _parts(self, stage: _Stage, radix: int) -> None:
        """Points of a few parts taken together; where a part is one point, its factors are 1."""
        code = self.code
        with code.when(stage.part.equals(1)), code.counted(self.zero, stage.beside) as at:
            self._meet(stage, radix, self.zero, at, [])
        with code.when(stage.part > 1), code.counted(self.zero, stage.part) as point:
            begin = point * (radix - 1)
            factors = [self._factor(stage.factors, begin + each) for each in range(radix - 1)]
            with code.counted(self.zero, stage.beside) as at:
                self._meet(stage, radix, point, at, factors)

    def _meet(
        self, stage: _Stage, radix: int, point: Value, at: Value, factors: list[Pair]
    ) -> None:
        taken = [
            self._point(stage.source, at + stage.beside * (point + stage.part * each))
            for each in range(radix)
        ]
        made = _MEETINGS[radix](self, taken)
        for each, pair in enumerate(made):
            product = self._times(pair, factors[each - 1]) if each and factors else pair
            self._put(stage.goal, at + stage.beside * (point * radix + each), product)

    def _two(self, taken: list[Pair]) -> list[Pair]:
        (ar, ai), (br, bi) = taken
        return [(ar + br, ai + bi), (ar - br, ai - bi)]

    def _three(self, taken: list[Pair]) -> list[Pair]:
        code, ((ar, ai), (br, bi), (cr, ci)) = self.code, taken
        sr, si, dr, di = br + cr, bi + ci, br - cr, bi - ci
        mr, mi = code.multiply_add(sr, -0.5, ar), code.multiply_add(si, -0.5, ai)
        return [(ar + sr, ai + si), *self._beside((mr, mi), (dr * _SIN_3, di * _SIN_3))]

    def _beside(self, middle: Pair, turned_by: Pair) -> list[Pair]:
        """A number less and more another one that is turned by a quarter."""
        (mr, mi), (nr, ni) = middle, turned_by
        return [(mr + ni, mi - nr), (mr - ni, mi + nr)]

    def _four(self, taken: list[Pair]) -> list[Pair]:
        (even, other), (odd, rest) = self._two(taken[::2]), self._two(taken[1::2])
        both = self._two([even, odd])
        beside = self._beside(other, rest)
        return [both[0], beside[0], both[1], beside[1]]

    def _five(self, taken: list[Pair]) -> list[Pair]:
        code, first = self.code, taken[0]
        (sr, si), (dr, di) = self._two([taken[1], taken[4]])
        (tr, ti), (er, ei) = self._two([taken[2], taken[3]])

        def mixed(one: Value, a: float, other: Value, b: float, begin: Value | None) -> Value:
            total = one * a if begin is None else code.multiply_add(one, a, begin)
            return code.multiply_add(other, b, total)

        (c1, c2), (s1, s2) = ([f(2 * pi / 5 * n) for n in (1, 2)] for f in (cos, sin))
        middle = [
            (mixed(sr, a, tr, b, first[0]), mixed(si, a, ti, b, first[1]))
            for a, b in ((c1, c2), (c2, c1))
        ]
        quarter = [
            (mixed(dr, a, er, b, None), mixed(di, a, ei, b, None)) for a, b in ((s1, s2), (s2, -s1))
        ]
        one, four = self._beside(middle[0], quarter[0])
        two, three = self._beside(middle[1], quarter[1])
        return [(first[0] + (sr + tr), first[1] + (si + ti)), one, two, three, four]

    def _long_parts(self, stage: _Stage, radix: Value) -> None:
        """The same for a prime number of parts.  Numbers equally far from both ends are added and
        subtracted where they lie; a pair of results is a sum of the sums and one of the rest."""
        code = self.code
        roots = code.at(stage.factors, stage.part * radix * 2, self.element)
        middle = (radix + 1) / code.constant(INT64, 2)
        with (
            code.counted(self.zero, stage.part) as point,
            code.counted(self.zero, stage.beside) as at,
        ):
            begin, apart = at + stage.beside * point, stage.beside * stage.part
            total = [code.variable(part) for part in self._point(stage.source, begin)]
            with code.counted(self.zero + 1, middle) as number:
                places = begin + apart * number, begin + apart * (radix - number)
                sums, rest = self._two([self._point(stage.source, place) for place in places])
                for place, pair in zip(places, (sums, rest), strict=True):
                    self._put(stage.source, place, pair)
                for part, each in zip(total, sums, strict=True):
                    part.set(part.now + each)
            goal = at + stage.beside * point * radix
            self._put(stage.goal, goal, self._now(total))
            with code.counted(self.zero + 1, middle) as each:
                pairs = self._beside(*self._long_sums(stage, begin, radix, each, roots))
                for number, pair in zip((each, radix - each), pairs, strict=True):
                    factor = self._factor(stage.factors, point * radix + number)
                    self._put(stage.goal, goal + stage.beside * number, self._times(pair, factor))

    def _now(self, pair: list[Variable]) -> Pair:
        real, imaginary = pair
        return real.now, imaginary.now

    def _long_sums(
        self, stage: _Stage, begin: Value, radix: Value, each: Value, roots: Value
    ) -> tuple[Pair, Pair]:
        """What two results have in common, and what the second has more than that once it is turned
        by a quarter."""
        code, apart = self.code, stage.beside * stage.part
        common = [code.variable(part) for part in self._point(stage.source, begin)]
        rest = [code.variable(code.constant(self.kind, 0.0)) for _ in common]
        turn = code.variable(each)
        with code.counted(self.zero + 1, (radix + 1) / code.constant(INT64, 2)) as number:
            cosine, sine = self._factor(roots, turn.now)
            sums = self._point(stage.source, begin + apart * number)
            differences = self._point(stage.source, begin + apart * (radix - number))
            for part, value in zip(common, sums, strict=True):
                part.set(code.multiply_add(value, cosine, part.now))
            for part, value in zip(rest, differences, strict=True):
                part.set(code.multiply_add(-value, sine, part.now))
            following = turn.now + each
            turn.set(code.choose(following < radix, following, following - radix))
        return self._now(common), self._now(rest)

    # ------------------------------------------------------------------------------ writing

    def _scaled(self, half: Value, point: Value) -> Pair:
        real, imaginary = (
            self.code.load(self.kind, self._place(half, point, self.given["flip"] ^ part))
            for part in (0, 1)
        )
        return real * self.scale, imaginary * self.scale

    def _write_rows(self, half: Value, row: Value, count: Value) -> None:
        code, words = self.code, 1 if self.store == "real rows" else 2
        size = self.given["written"] * words
        with code.counted(self.zero, self.given["written"], LANES // words) as point:
            pairs = [self._scaled(half, point + number) for number in range(LANES // words)]
            parts = [each for pair in pairs for each in pair[:words]]
            lines, left = turned(code, parts), size - point * words
            begin = code.at(self.at["out"], row * size + point * words, self.element)
            is_whole = (left > LANES - 1) & count.equals(LANES)
            with code.when(is_whole):
                for lane, line in enumerate(lines):
                    code.store(line, code.at(begin, size * lane, self.element))
            with code.when(is_whole.equals(0)):
                mask = code.first(left)
                for lane, line in enumerate(lines):
                    with code.when(count > lane):
                        code.store_if(line, code.at(begin, size * lane, self.element), mask)

    def _write_columns(self, half: Value, outer: Value, first: Value, count: Value) -> None:
        code, given = self.code, self.given
        begin = outer * given["points"] * given["inner"] + first
        masks = [code.first(count * 2 - LANES * number) for number in (0, 1)]
        every = code.first(count)
        with code.counted(self.zero, given["points"]) as point:
            if self.store == "turned":
                pair = self._point(half, point)
                begun = point * given["inner"] + first
                parts = [
                    code.at(self.at["turns"], begun + each, self.element)
                    for each in (self.zero, given["points"] * given["inner"])
                ]
                real, imaginary = (code.load_if(self.kind, part, every) for part in parts)
                self._put(half, point, self._times(pair, (real, imaginary)))
            real, imaginary = self._scaled(half, point)
            place = (begin + point * given["inner"]) * 2
            for number, mask in enumerate(masks):
                lanes = range(LANES // 2 * number, LANES // 2 * (number + 1))
                mixed = [lane + part for lane in lanes for part in (0, LANES)]
                line = code.shuffled(real, imaginary, mixed)
                code.store_if(
                    line, code.at(self.at["out"], place + LANES * number, self.element), mask
                )


_SIN_3: Final = sin(pi / 3)
_MEETINGS: Final = {
    2: _Transform._two,
    3: _Transform._three,
    4: _Transform._four,
    5: _Transform._five,
}
