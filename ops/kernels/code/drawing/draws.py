"""What is made of the draws of an engine: doubles, whole numbers, orders, and numbers that are
drawn until one is taken.

Functions are those of the C library, whose bits are promised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run, unforeseen
from ..language.outcomes import opposite
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, INT64, LANES, POINTER, Code, Value
from ..loading.c_functions import c_function, called_at, has_c_functions
from ..loading.objects import kernel

__all__ = [
    *("addresses", "apply_c", "chances", "doubles", "exponentials", "in_random_order"),
    *("is_possible", "normals", "unit_at", "until_taken", "whole_numbers"),
]

_FUNCTIONS: Final = ("exp", "log", "log1p", "cos", "sin", "pow", "lgamma", "tan")
_LEAST: Final = 1 << 14
"""Numbers that are worth another thread."""
_DEAR: Final = 1 << 10
"""The same of those that are made by functions of the C library."""
_BIT: Final = INT64.of("i1")
_THIRD: Final = float(np.float32(1) / np.float32(3))
_SQUEEZE: Final = float(np.float32(0.0331))


def is_possible() -> bool:
    """Whether the C library's functions can be called."""
    return has_c_functions(*_FUNCTIONS)


# ------------------------------------------------------------------------- one number a draw


def apply_c(name: str, values: Array) -> Array:
    """A function of the C library of each of float64 in one piece."""
    out = np.empty(values.shape, np.float64)
    address = kernel("function_of_c", (), _apply_text)
    run(address, values.size, _DEAR, c_function(name), values, out)
    return out


def doubles(words: Array, low: float, width: float, out: Array | None = None) -> Array:
    """The float64 from `low` on of pairs of draws, the first of which is the high one.

    Args:
        words: contiguous uint64, which no other thread changes.
        out: half as many contiguous float64, which are written.
    """
    if out is None:
        out = np.empty(words.size // 2, np.float64)
    address = kernel("doubles_of_draws", (), _doubles_text)
    run(address, out.size, _LEAST, float(low), float(width), words, out)
    return out


def normals(words: Array, mean: float, std: float) -> Array:
    """Normal float64 of groups of 16 numbers, each of a pair of draws: of the first 8 of a group
    the radius is made, of the others the angle (G. Box and M. Muller)."""
    out = np.empty(words.size // 2, np.float64)
    table = addresses("log", "cos", "sin")
    address = kernel("long_normals_of_draws", (), _normals_text)
    run(address, out.size // 16, _DEAR // 16, float(mean), float(std), table, words, out)
    return out


def chances(words: Array, p: float, out: Array) -> None:
    """Write to contiguous float32 whether the numbers in [0, 1) of pairs of draws are below `p`."""
    address = kernel("chances_of_draws", (), _chances_text)
    run(address, out.size, _LEAST, float(p), words[...], out)


def exponentials(words: Array, rate: float) -> Array:
    """Exponential float64 of pairs of draws."""
    out = np.empty(words.size // 2, np.float64)
    address = kernel("exponentials_of_draws", (), _exponentials_text)
    run(address, out.size, _DEAR, -1.0 / rate, addresses("log1p"), words[...], out)
    return out


@cache
def addresses(*names: str) -> Array:
    """The addresses of functions of the C library."""
    found = np.array([c_function(name) for name in names], np.int64)
    found.setflags(write=False)  # a constant of calls that are learned
    return found


def whole_numbers(words: Array, low: int, span: int) -> Array:
    """The int64 from `low` on of draws; there are `span`, fewer than 2**28."""
    out = np.empty(words.size, np.int64)
    run(kernel("numbers_of_draws", (), _numbers_text), out.size, _LEAST, low, span, words[...], out)
    return out


def in_random_order(words: Array, count: int) -> Array:
    """The int64 below `count`, each exchanged with one of those behind it, which a draw says."""
    out = np.empty(count, np.int64)
    run(kernel("order_of_draws", (), _order_text), 1, 1, count, words[...], out)
    return out


def _apply_text(target: Target) -> str:
    code = Code(target)
    words = [(POINTER, "function"), (POINTER, "values"), (POINTER, "out")]
    function, values, out = (code.argument(*each) for each in words)
    with code.units() as at:
        value = code.load(DOUBLE, code.at(values, at, DOUBLE))
        code.store(called_at(function, [value]), code.at(out, at, DOUBLE))
    return code.kernel("function_of_c", words)


def _unit(high: Value, low: Value) -> Value:
    """Numbers in [0, 1) of two draws each."""
    whole = ((high << 32) | low) & ((1 << 53) - 1)
    return whole.converted("sitofp", DOUBLE.of_lanes(whole.kind.lanes)) * 2.0**-53


def _doubles_text(target: Target) -> str:
    code = Code(target)
    words = [(DOUBLE, "low"), (DOUBLE, "width"), (POINTER, "draws"), (POINTER, "out")]
    least, width, draws, out = (code.argument(*each) for each in words)
    begin, factor = code.spread(least), code.spread(width)
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    whole = start + ((stop - start) & -LANES)
    with code.counted(start, whole, LANES) as at:
        made = code.multiply_add(_units_at(draws, at), factor, begin)
        code.store(made, code.at(out, at, DOUBLE))
    with code.counted(whole, stop) as at:
        made = code.multiply_add(unit_at(draws, at), width, least)
        code.store(made, code.at(out, at, DOUBLE))
    return code.kernel("doubles_of_draws", words)


def _units_at(draws: Value, at: Value) -> Value:
    """A vector of numbers in [0, 1), of the pairs of draws from a place on."""
    code = draws.code
    first, last = (
        code.load(INT64.of_lanes(LANES), code.at(draws, at * 2 + place, INT64))
        for place in (0, LANES)
    )
    high, low = (code.shuffled(first, last, range(each, 2 * LANES, 2)) for each in (0, 1))
    return _unit(high, low)


def unit_at(draws: Value, at: Value) -> Value:
    """A number in [0, 1), of the pair of draws at a place."""
    code = draws.code
    return _unit(*(code.load(INT64, code.at(draws, at * 2 + place, INT64)) for place in (0, 1)))


def _normals_text(target: Target) -> str:
    code = Code(target)
    words = [(DOUBLE, "mean"), (DOUBLE, "std"), (POINTER, "table"), (POINTER, "draws")]
    words.append((POINTER, "out"))
    mean, std, table, draws, out = (code.argument(*each) for each in words)
    log, cos, sin = (code.load(POINTER, code.at(table, place, POINTER)) for place in range(3))
    zero, half = (code.constant(INT64, each) for each in (0, 8))
    with code.units() as group, code.counted(zero, half) as place:
        at = group * 16 + place
        level = called_at(log, [1.0 - unit_at(draws, at)]) * -2.0
        radius = code.call("llvm.sqrt.f64", DOUBLE, [level])
        angle = unit_at(draws, at + 8) * (2.0 * math.pi)
        for function, goal in ((cos, at), (sin, at + 8)):
            made = code.multiply_add(radius * called_at(function, [angle]), std, mean)
            code.store(made, code.at(out, goal, DOUBLE))
    return code.kernel("long_normals_of_draws", words)


def _exponentials_text(target: Target) -> str:
    code = Code(target)
    words = [(DOUBLE, "factor"), *((POINTER, name) for name in ("table", "draws", "out"))]
    factor, table, draws, out = (code.argument(*each) for each in words)
    log1p = code.load(POINTER, table)
    with code.units() as at:
        made = called_at(log1p, [-unit_at(draws, at)]) * factor
        code.store(made, code.at(out, at, DOUBLE))
    return code.kernel("exponentials_of_draws", words)


def _chances_text(target: Target) -> str:
    code = Code(target)
    words = [(DOUBLE, "p"), (POINTER, "draws"), (POINTER, "out")]
    p, draws, out = (code.argument(*each) for each in words)
    one = code.constant(FLOAT, 1.0)
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    whole = start + ((stop - start) & -LANES)
    with code.counted(start, whole, LANES) as at:
        is_so = _units_at(draws, at) < code.spread(p)
        code.store(code.choose(is_so, code.spread(one), 0.0), code.at(out, at, FLOAT))
    with code.counted(whole, stop) as at:
        is_so = unit_at(draws, at) < p
        code.store(code.choose(is_so, one, 0.0), code.at(out, at, FLOAT))
    return code.kernel("chances_of_draws", words)


def _numbers_text(target: Target) -> str:
    """The quotient is off by one at most: numbers and spans are exact in float64."""
    code = Code(target)
    words = [(INT64, "low"), (INT64, "span"), (POINTER, "draws"), (POINTER, "out")]
    low, span, draws, out = (code.argument(*each) for each in words)
    inverse = 1.0 / span.converted("sitofp", DOUBLE)
    least, width, factor = (code.spread(each) for each in (low, span, inverse))
    kind = INT64.of_lanes(LANES)

    def visit(places: list[Value], mask: Value | None) -> None:
        for at in places:
            drawn = code.load_if(kind, code.at(draws, at, INT64), mask)
            real = drawn.converted("sitofp", DOUBLE.of_lanes(LANES))
            rest = drawn - (real * factor).converted("fptosi", kind) * width
            rest = code.choose(rest < 0, rest + width, rest)
            rest = code.choose(rest >= width, rest - width, rest)
            code.store_if(rest + least, code.at(out, at, INT64), mask)

    code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 1, visit)
    return code.kernel("numbers_of_draws", words)


def _order_text(target: Target) -> str:
    code = Code(target)
    words = [(INT64, "count"), (POINTER, "draws"), (POINTER, "out")]
    count, draws, out = (code.argument(*each) for each in words)
    zero = code.constant(INT64, 0)
    with code.counted(zero, count) as at:
        code.store(at, code.at(out, at, INT64))
    with code.counted(zero, count - 1) as at:
        drawn, left = code.load(INT64, code.at(draws, at, INT64)), count - at
        jump = code.let(INT64, f"urem i64 {drawn.name}, {left.name}")
        places = [code.at(out, each, INT64) for each in (at, at + jump)]
        one, other = (code.load(INT64, each) for each in places)
        code.store(other, places[0])
        code.store(one, places[1])
    return code.kernel("order_of_draws", words)


# ------------------------------------------------------------------------- until one is taken


def until_taken(
    form: str,
    is_single: bool,
    operands: Sequence[Array],
    words: Array,
    at: Array,
    normal: Array,
    out: Array,
) -> int:
    """Draw numbers until words run out; how many words they took.

    Args:
        form: "poisson", "binomial" or "gamma".
        is_single: whether steps are rounded to float32.
        operands: float64 in one piece, as many of each as there are numbers.
        at: one int64: the number that is drawn next, which is written.
        normal: two float64: whether a normal number is kept, and which; both are written.
    """
    unforeseen()
    table = addresses(*_FUNCTIONS)
    used = new_flag()
    parameters = (form, int(is_single))
    address = kernel("numbers_taken", parameters, lambda target: _taken_text(target, *parameters))
    pair = [*operands, *operands][:2]
    run(address, 1, 1, out.size, words.size, table, *pair, words[...], at, normal, used, out)
    return int(used[0])


def _taken_text(target: Target, form: str, is_single: int) -> str:
    code = Code(target)
    counts = [(INT64, "count"), (INT64, "size")]
    names = ("table", "first", "second", "draws", "at", "normal", "used", "out")
    words = [*counts, *((POINTER, name) for name in names)]
    place = {name: code.argument(kind, name) for kind, name in words}
    stream = _Stream(code, place, is_single=bool(is_single))
    number = code.variable(code.load(INT64, place["at"]))
    with code.repeated(lambda: (number.now < place["count"]) & opposite(stream.is_out.now)):
        now, begin = number.now, stream.place.now
        has, kept = stream.has_normal.now, stream.kept_normal.now
        given = [code.load(DOUBLE, code.at(place[name], now, DOUBLE)) for name in names[1:3]]
        drawn = _FORMS[form](stream, given)
        is_out = stream.is_out.now
        with code.when(is_out):
            stream.place.set(begin)
            stream.has_normal.set(has)
            stream.kept_normal.set(kept)
        with code.when(opposite(is_out)):
            code.store(drawn, code.at(place["out"], now, DOUBLE))
            number.set(now + 1)
    code.store(number.now, place["at"])
    code.store(stream.place.now, place["used"])
    code.store(stream.has_normal.now, place["normal"])
    code.store(stream.kept_normal.now, code.at(place["normal"], 1, DOUBLE))
    return code.kernel("numbers_taken", words)


class _Stream:
    """Draws that are taken one after the other; once they are out, what is drawn means nothing."""

    def __init__(self, code: Code, place: Mapping[str, Value], *, is_single: bool) -> None:
        self.code = code
        self._is_single = is_single
        self._words, self._size = place["draws"], place["size"]
        self._functions = {
            name: code.load(POINTER, code.at(place["table"], number, POINTER))
            for number, name in enumerate(_FUNCTIONS)
        }
        self.place = code.variable(code.constant(INT64, 0))
        self.is_out = code.variable(code.constant(_BIT, 0))
        self.has_normal = code.variable(code.load(DOUBLE, place["normal"]))
        self.kept_normal = code.variable(code.load(DOUBLE, code.at(place["normal"], 1, DOUBLE)))

    def real(self, number: float) -> Value:
        return self.code.constant(DOUBLE, number)

    def by_c(self, name: str, *values: Value) -> Value:
        """A function of the C library."""
        return called_at(self._functions[name], values)

    def by_instruction(self, name: str, value: Value) -> Value:
        return self.code.call(f"llvm.{name}.f64", DOUBLE, [value])

    def rounded(self, value: Value) -> Value:
        """To float32, where operands are such."""
        if not self._is_single:
            return value
        return value.converted("fptrunc", FLOAT).converted("fpext", DOUBLE)

    def draw(self) -> Value:
        """A number in [0, 1)."""
        code, at = self.code, self.place.now
        behind = at + 2
        is_there = behind <= self._size
        self.is_out.set(self.is_out.now | opposite(is_there))
        self.place.set(behind)
        begin = code.choose(is_there, at, 0)
        pair = (code.load(INT64, code.at(self._words, begin + each, INT64)) for each in (0, 1))
        return _unit(*pair)

    def normal(self) -> Value:
        """A normal number: the one that is kept, or one of two that are made."""
        code = self.code
        found = code.variable(self.kept_normal.now)
        is_kept = self.has_normal.now > 0.0
        self.has_normal.set(self.real(0.0))
        with code.when(opposite(is_kept)):
            first, second = self.draw(), self.draw()
            radius = self.by_instruction("sqrt", self.by_c("log1p", -second) * -2.0)
            angle = first * (2.0 * math.pi)
            found.set(radius * self.by_c("cos", angle))
            self.kept_normal.set(radius * self.by_c("sin", angle))
            self.has_normal.set(self.real(1.0))
        return found.now

    def first_taken(self, step: Callable[[], tuple[Value, Value]]) -> Value:
        """The first number that is taken: a step says whether its one is."""
        code = self.code
        found, is_going = code.variable(self.real(0.0)), code.variable(code.constant(_BIT, 1))
        with code.repeated(lambda: is_going.now & opposite(self.is_out.now)):
            is_taken, value = step()
            found.set(value)
            is_going.set(opposite(is_taken))
        return found.now

    def taken_at_last(self, quickly: Value, perhaps: Value, decide: Callable[[], Value]) -> Value:
        """Whether a number is taken: at once, or, where it may be, by what costs more."""
        found = self.code.variable(quickly)
        with self.code.when(perhaps & opposite(quickly)):
            found.set(decide())
        return found.now


def _poisson(s: _Stream, operands: Sequence[Value]) -> Value:
    """The number of events at a rate (W. Hörmann 1993; few by a product of draws)."""
    code, rate = s.code, operands[0]
    found = code.variable(s.real(0.0))
    with code.when((rate > 0.0) & (rate < 10.0)):
        limit = s.by_c("exp", -rate)
        product, count = code.variable(s.real(1.0)), code.variable(s.real(-1.0))

        def event() -> tuple[Value, Value]:
            product.set(product.now * s.draw())
            count.set(count.now + 1.0)
            return product.now <= limit, count.now

        found.set(s.first_taken(event))
    with code.when(rate >= 10.0):
        root, logarithm = s.by_instruction("sqrt", rate), s.by_c("log", rate)
        b = root * 2.53 + 0.931
        a = b * 0.02483 + -0.059
        scale = 1.1328 / (b - 3.4) + 1.1239
        sure = 0.9277 - 3.6224 / (b - 2.0)

        def step() -> tuple[Value, Value]:
            u, v = s.draw() - 0.5, s.draw()
            us = 0.5 - code.absolute(u)
            k = s.by_instruction("floor", (a * 2.0 / us + b) * u + rate + 0.43)
            is_beside = (k < 0.0) | ((us < 0.013) & (v > us))

            def decide() -> Value:
                left = s.by_c("log", v) + s.by_c("log", scale) - s.by_c("log", a / (us * us) + b)
                return left <= -rate + k * logarithm - s.by_c("lgamma", k + 1.0)

            return s.taken_at_last((us >= 0.07) & (v <= sure), opposite(is_beside), decide), k

        found.set(s.first_taken(step))
    return found.now


def _gamma(s: _Stream, operands: Sequence[Value]) -> Value:
    """A gamma number of a concentration (G. Marsaglia and W. Tsang 2000)."""
    code, given = s.code, operands[0]
    found, scale = code.variable(s.real(0.0)), code.variable(s.real(1.0))
    alpha = code.variable(given)
    with code.when(given.differs(0.0)):
        with code.when(given < 1.0):
            scale.set(s.by_c("pow", 1.0 - s.draw(), s.rounded(1.0 / given)))
            alpha.set(s.rounded(given + 1.0))
        d = s.rounded(alpha.now - _THIRD)
        c = code.choose(d > 0.0, 1.0 / s.by_instruction("sqrt", d * 9.0), math.nan)

        def step() -> tuple[Value, Value]:
            x = s.normal()
            y = c * x + 1.0
            v = y * y * y
            taken = code.variable(code.constant(_BIT, 0))
            with code.when(opposite(y <= 0.0)):
                u, square = 1.0 - s.draw(), x * x

                def decide() -> Value:
                    bound = square * 0.5 + d * (1.0 - v + s.by_c("log", v))
                    return s.by_c("log", u) < bound

                is_sure = u < 1.0 - square * _SQUEEZE * square
                taken.set(s.taken_at_last(is_sure, code.constant(_BIT, 1), decide))
            return taken.now, scale.now * d * v

        found.set(s.first_taken(step))
    return found.now


def _binomial(s: _Stream, operands: Sequence[Value]) -> Value:
    """The number of successes of a count of trials, each with a chance (W. Hörmann 1993)."""
    code, (count, p) = s.code, operands
    is_none = (count <= 0.0) | (p <= 0.0)
    found = code.variable(code.choose(p.is_nan() | count.is_nan(), math.nan, count))
    found.set(code.choose(is_none, 0.0, found.now))
    with code.when((count > 0.0) & (p > 0.0) & (p < 1.0)):
        is_low = p <= 0.5
        small = code.choose(is_low, p, s.rounded(1.0 - p))
        are_many = s.rounded(count * small) >= 10.0
        with code.when(are_many):
            found.set(_by_rejection(s, count, small))
        with code.when(opposite(are_many)):
            found.set(_by_gaps(s, count, small))
        found.set(code.choose(is_low, found.now, count - found.now))
    return found.now


def _by_gaps(s: _Stream, count: Value, p: Value) -> Value:
    """From the gaps between successes, for few of them."""
    code = s.code
    logarithm = s.rounded(s.by_c("log1p", -p))
    total, found = code.variable(s.real(0.0)), code.variable(s.real(-1.0))

    def success() -> tuple[Value, Value]:
        gap = s.by_instruction("ceil", s.by_c("log", s.draw()) / logarithm)
        total.set(total.now + gap)
        found.set(found.now + 1.0)
        return total.now > count, found.now

    return s.first_taken(success)


def _by_rejection(s: _Stream, count: Value, p: Value) -> Value:
    code = s.code
    mean, rest = s.rounded(count * p), s.rounded(1.0 - p)
    spread = s.rounded(s.by_instruction("sqrt", s.rounded(mean * rest)))
    b = spread * 2.53 + 1.15
    a = b * 0.0248 + -0.0873 + p * 0.01
    c = mean + 0.5
    sure = 0.92 - 4.2 / b
    odds = s.rounded(p / rest)
    alpha = (5.1 / b + 2.83) * spread
    middle = s.by_instruction("floor", s.rounded(s.rounded(count + 1.0) * p))
    tails = _stirling(s, middle), _stirling(s, count - middle)

    def step() -> tuple[Value, Value]:
        u, v = s.draw() - 0.5, s.draw()
        us = 0.5 - code.absolute(u)
        k = s.rounded(s.by_instruction("floor", (a * 2.0 / us + b) * u + c))

        def decide() -> Value:
            level = s.by_c("log", v * alpha / (a / (us * us) + b))
            left = count - middle + 1.0
            limit = (middle + 0.5) * s.by_c("log", (middle + 1.0) / (odds * left))
            limit = limit + (count + 1.0) * s.by_c("log", left / (count - k + 1.0))
            share = odds * (count - k + 1.0) / (k + 1.0)
            limit = limit + (k + 0.5) * s.by_c("log", share)
            limit = limit + tails[0] + tails[1] - _stirling(s, k) - _stirling(s, count - k)
            return level <= limit

        is_beside = (k < 0.0) | (k > count)
        return s.taken_at_last((us >= 0.07) & (v <= sure), opposite(is_beside), decide), k

    return s.first_taken(step)


def _stirling(s: _Stream, k: Value) -> Value:
    """What Stirling's formula leaves of log k!."""
    code, more = s.code, k + 1.0
    square = more * more
    found = code.variable((1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / more)
    with code.when(k <= 9.0):
        series = (k + 0.5) * s.by_c("log", more) - more + 0.5 * math.log(2 * math.pi)
        found.set(s.by_c("lgamma", more) - series)
    return found.now


_FORMS: Final = {"poisson": _poisson, "gamma": _gamma, "binomial": _binomial}
