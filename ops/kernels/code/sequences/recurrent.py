"""Recurrent layers through time, in one kernel: products with the hidden state, then the gates.

A range is one of sequences, which do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ... import in_order
from ..calls.run import run
from ..functions.scalars import sigmoid, tanh
from ..language.named_counts import counts_of, named_counts
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT64, LANES, POINTER, Code, Value, Variable
from ..language.tiles import Tile, add_products
from ..loading.objects import kernel
from ..products.dots import DOTS, Dots

__all__ = [
    *("GATES", "KEPT", "Order", "ThroughTime", "across_columns", "across_rows", "order_of"),
    "through_time",
]

GATES: Final = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
"""How many gates each kind of layer has for an element of its state."""
KEPT: Final = {"lstm": 4, "gru": 4, "rnn_tanh": 0, "rnn_relu": 0}
"""How many numbers of an element its gradient needs besides states: open gates, and of a GRU what
the hidden state gives its new content."""
_LEAST: Final = 1 << 19
"""Multiplications that are worth another thread."""
_FEW: Final = 3
"""Sequences whose products take longer to read weights than to multiply, however these lie."""
_TURNED: Final = 32
"""Rows, of all steps, from which it pays to turn weights first."""
_WIDE: Final = 6
"""Vectors of columns of turned weights that some rows are multiplied with at once."""
_PLACES: Final = (
    *("gates", "weights", "bias", "old_hidden", "old_cell", "hidden", "cell", "room", "out"),
    *("sizes", "begins", "counts", "opened", "cells"),
)
_COUNTS: Final = ("steps", "width", "biased", "pitch")


class Order(NamedTuple):
    """Which sequences go on in each step, and which rows of all theirs are."""

    sizes: Array
    begins: Array
    most: int
    rows: int


@lru_cache(256)
def order_of(sizes: tuple[int, ...], *, is_reversed: bool) -> Order:
    """The first `sizes` sequences go on in a step, whose rows follow those of earlier ones.

    Raises:
        ValueError: a size is negative, or there is no step.
    """
    if not sizes or min(sizes) < 0:
        raise ValueError("sizes of steps must not be negative")
    many = np.array(sizes, np.int64)
    begins = np.cumsum(many) - many
    step = -1 if is_reversed else 1
    found = Order(many[::step].copy(), begins[::step].copy(), int(many.max()), int(many.sum()))
    found.sizes.flags.writeable = found.begins.flags.writeable = False
    return found


@lru_cache(256)
def _counts(steps: int, width: int, is_biased: bool, pitch: int) -> Array:
    return counts_of(steps, width, is_biased, pitch)


def through_time(
    kind: str,
    gates: Array,
    state: tuple[Array, ...],
    weights: Array,
    bias: Array,
    order: Order,
    out: Array,
    ends: tuple[Array, ...],
    kept: tuple[Array, ...] = (),
) -> None:
    """Write what a layer puts out, [rows, width], and its state at the end.  Open gates and an
    LSTM's cell states after each step are `kept` as well, if there are arrays for them,
    [rows, KEPT[kind] * width] and [rows, width]; those of an LSTM may be `gates` themselves.

    `gates`, [rows, gates * width], are those of the inputs.  State and `ends` are
    [sequences, width], of an LSTM both, weights [gates * width, width], the bias one row of them or
    None; all float32.  Rows of `out` may lie apart.

    Raises:
        ValueError: the sizes do not fit.
    """
    gates, weights = (in_order(each[...]) for each in (gates, weights))
    state = tuple(in_order(each[...]) for each in state)
    bias = weights[:0, 0] if bias is None else in_order(bias[...])
    many, width = state[0].shape
    deep = GATES[kind] * width
    if (
        gates.shape != (order.rows, deep)
        or weights.shape != (deep, width)
        or {(many, width)} != {each.shape for each in (*state, *ends)}
        or bias.shape not in ((0,), (deep,))
        or order.most > many
        or out.shape != (order.rows, width)
        or not all(each.flags.c_contiguous for each in (*ends, *kept))
        or (kept and kept[0].shape != (order.rows, KEPT[kind] * width))
        or (len(kept) > 1 and kept[1].shape != out.shape)
    ):
        raise ValueError("the sizes of a recurrent layer do not fit")
    room = np.empty((many, deep), np.float32)
    steps, pitch = len(order.sizes), out.strides[0] // out.itemsize
    turns = order.most > _FEW and order.rows >= _TURNED
    if turns:
        weights = in_order(weights.T)
    run(
        _kernel(kind, keeps=bool(kept), turns=turns),
        many,
        _LEAST // max(1, steps * weights.size) + 1,
        *(gates, weights, bias, state[0], state[-1], ends[0], ends[-1], room, out),
        *(order.sizes, order.begins, _counts(steps, width, bias.size > 0, pitch)),
        *((kept[0], kept[-1]) if kept else (out, out)),
    )


@cache
def _kernel(kind: str, *, keeps: bool, turns: bool) -> int:
    words = [word for word, said in (("kept", keeps), ("turned", turns)) if said]
    return kernel(
        "recurrent", (kind, *words), lambda target: recurrent_text(target, kind, keeps, turns)
    )


def recurrent_text(target: Target, kind: str, keeps: bool = False, is_turned: bool = False) -> str:
    """What `through_time` runs: with weights as layers have them, or turned, which vectors go
    across."""
    made = _Recurrence(target, kind, keeps, is_turned)
    made.write()
    return made.code.kernel("recurrent", [(POINTER, name) for name in _PLACES])


_Step = Callable[[list[Value], list[Value], Value, Value], tuple[Value, ...]]
"""From the gates of the input and of the hidden state, and both states, to the states after, behind
which is what is kept of the gates."""


class ThroughTime:
    """What the code of all layers knows that go through time: arrays and counts by their names,
    among them the `sizes` of steps, and where the rows of each one's sequences begin."""

    def __init__(
        self, target: Target, kind: str, places: Sequence[str], counts: Sequence[str]
    ) -> None:
        self.code = code = Code(target)
        self.gates = GATES[kind]
        self.place = {name: code.argument(POINTER, name) for name in places}
        self.count = named_counts(code, self.place["counts"], counts)
        self.zero = code.constant(INT64, 0)
        self.deep = self.count["width"] * self.gates

    def at(self, name: str, index: Value) -> Value:
        """The address of an element of an array."""
        return self.code.at(self.place[name], index, FLOAT)

    def step_at(self, time: Value) -> tuple[Value, Value]:
        """How many sequences go on in a step, and where their rows begin."""
        load, at = self.code.load, self.code.at
        size, begin = (load(INT64, at(self.place[each], time, INT64)) for each in _OF_STEPS)
        return size, begin


_OF_STEPS: Final = ("sizes", "begins")


class _Recurrence(ThroughTime):
    """The code of all kinds; their steps differ."""

    def __init__(self, target: Target, kind: str, keeps: bool, is_turned: bool) -> None:
        super().__init__(target, kind, _PLACES, _COUNTS)
        self.step = _STEPS[kind]
        self.kept, self.has_cell = KEPT[kind] if keeps else 0, kind == "lstm"
        self.multiply = self._across if is_turned else self._along

    def write(self) -> None:
        """All steps of the sequences of the range."""
        code = self.code
        start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
        width = self.count["width"]
        code.vectors(start * width, stop * width, 1, self._take_over)
        with code.counted(self.zero, self.count["steps"]) as time:
            size, begin = self.step_at(time)
            last = code.choose(size < stop, size, stop)
            self.multiply(start, last)
            with code.counted(start, last) as row:
                self._advance(row, begin + row)

    def _take_over(self, places: list[Value], mask: Value | None) -> None:
        """The state before is the first."""
        for at in places:
            for name in ("cell", "hidden"):
                value = self.code.load_if(FLOATS, self.at(f"old_{name}", at), mask)
                self.code.store_if(value, self.at(name, at), mask)

    def _across(self, start: Value, stop: Value) -> None:
        """The hidden state's gates, into `room`: rows times vectors of turned weights."""
        code, width = self.code, self.count["width"]
        for column, vectors, mask in across_columns(code, self.deep):
            source = code.at(self.place["weights"], column, FLOAT)

            def right(
                j: int, at: Value, source: Value = source, mask: Value | None = mask
            ) -> Value:
                place = code.at(source, at * self.deep + j * LANES, FLOAT)
                return code.load_if(FLOATS, place, mask)

            for row, rows in across_rows(code, start, stop, vectors):
                lines = [self.at("hidden", (row + i) * width) for i in range(rows)]

                def left(i: int, at: Value, lines: list[Value] = lines) -> Value:
                    return code.load(FLOAT, code.at(lines[i], at, FLOAT))

                sums = add_products(code, (rows, vectors), left, right, width, code.multiply_add)
                self._put(sums, row, column, mask)

    def _put(
        self, sums: dict[tuple[int, int], Variable], row: Value, column: Value, mask: Value | None
    ) -> None:
        """Write sums of rows and vectors, with the bias."""
        code = self.code
        goal, bias = self.at("room", row * self.deep + column), self.at("bias", column)
        with code.when(self.count["biased"].equals(1)):
            for (_, j), each in sums.items():
                far = code.constant(INT64, j * LANES)
                seen = code.load_if(FLOATS, code.at(bias, far, FLOAT), mask)
                each.set(each.now + seen)
        for (i, j), each in sums.items():
            place = code.at(goal, self.deep * i + j * LANES, FLOAT)
            code.store_if(each.now, place, mask)

    def _along(self, start: Value, stop: Value) -> None:
        """The same: vectors go along rows, and columns of weights as layers have them."""
        code, width = self.code, self.count["width"]
        dots = Dots(code, FLOAT, LANES)
        with code.counted(self.zero, self.deep, DOTS) as column:
            mask = code.first(self.deep - column, DOTS)
            columns = dots.columns(self.place["weights"], width, column, self.deep, DOTS)
            for row, several in dots.rows(start, stop):
                hidden = [self.at("hidden", (row + i) * width) for i in range(several)]
                sums = [code.variable(each) for each in dots.sums(hidden, columns, width)]
                with code.when(self.count["biased"].equals(1)):
                    bias = code.load_if(FLOATS.of_lanes(DOTS), self.at("bias", column), mask)
                    for each in sums:
                        each.set(each.now + bias)
                for i, each in enumerate(sums):
                    code.store_if(each.now, self.at("room", (row + i) * self.deep + column), mask)

    def _advance(self, row: Value, line: Value) -> None:
        """The state of a sequence after a step, which is row `line` of inputs and outputs."""
        code, width = self.code, self.count["width"]

        def advance(places: list[Value], mask: Value | None) -> None:
            for at in places:
                gates = [
                    [
                        code.load_if(
                            FLOATS, self.at(name, index * self.deep + width * i + at), mask
                        )
                        for i in range(self.gates)
                    ]
                    for name, index in (("gates", line), ("room", row))
                ]
                here = row * width + at
                hidden, cell = (
                    code.load_if(FLOATS, self.at(name, here), mask) for name in ("hidden", "cell")
                )
                hidden, cell, *opened = self.step(gates[0], gates[1], hidden, cell)
                if self.kept and self.has_cell:
                    code.store_if(cell, self.at("cells", line * width + at), mask)
                for i, each in enumerate(opened[: self.kept]):
                    place = self.at("opened", (line * self.kept + i) * width + at)
                    code.store_if(each, place, mask)
                code.store_if(cell, self.at("cell", here), mask)
                code.store_if(hidden, self.at("hidden", here), mask)
                code.store_if(hidden, self.at("out", line * self.count["pitch"] + at), mask)

        code.vectors(self.zero, width, 1, advance)


def across_columns(code: Code, count: Value) -> Iterator[tuple[Value, int, Value | None]]:
    """Some vectors at once of a row of so many elements: where they begin, how many there are, and
    a mask for the last one."""
    column = code.constant(INT64, 0)
    wide = _WIDE if Tile.of(code.target).vectors > 1 else 1
    for vectors in sorted({wide, 1}, reverse=True):
        after = column + (count - column) / (vectors * LANES) * (vectors * LANES)
        with code.counted(column, after, vectors * LANES) as at:
            yield at, vectors, None
        column = after
    with code.counted(column, count, LANES) as at:
        yield at, 1, code.first(count - at, LANES)


def across_rows(code: Code, start: Value, stop: Value, vectors: int) -> Iterator[tuple[Value, int]]:
    """As many rows at once as registers hold sums of, with so many vectors: the first of them, and
    how many there are."""
    tile = Tile.of(code.target)
    most = min(8, tile.rows * tile.vectors // vectors)
    for rows in sorted({most, most // 2, 1}, reverse=True):
        until = start + (stop - start) / rows * rows
        with code.counted(start, until, rows) as here:
            yield here, rows
        start = until


def _lstm(x: list[Value], h: list[Value], hidden: Value, cell: Value) -> tuple[Value, ...]:
    enter, keep, new, leave = (one + other for one, other in zip(x, h, strict=True))
    enter, keep, new, leave = sigmoid(enter), sigmoid(keep), tanh(new), sigmoid(leave)
    cell = keep * cell + enter * new
    return leave * tanh(cell), cell, enter, keep, new, leave


def _gru(x: list[Value], h: list[Value], hidden: Value, cell: Value) -> tuple[Value, ...]:
    reset, update = (sigmoid(one + other) for one, other in zip(x[:2], h[:2], strict=True))
    new = tanh(x[2] + reset * h[2])
    hidden = new + update * (hidden - new)
    return hidden, hidden, reset, update, new, h[2]


def _tanh(x: list[Value], h: list[Value], hidden: Value, cell: Value) -> tuple[Value, ...]:
    hidden = tanh(x[0] + h[0])
    return hidden, hidden


def _relu(x: list[Value], h: list[Value], hidden: Value, cell: Value) -> tuple[Value, ...]:
    total = x[0] + h[0]
    hidden = total.code.choose(total < 0.0, 0.0, total)
    return hidden, hidden


_STEPS: Final[dict[str, _Step]] = {
    "lstm": _lstm,
    "gru": _gru,
    "rnn_tanh": _tanh,
    "rnn_relu": _relu,
}
