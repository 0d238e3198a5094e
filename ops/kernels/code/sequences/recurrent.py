"""Recurrent layers through time, in one kernel: products with the hidden state, then the gates.

A range is one of sequences, which do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ... import in_order
from ..calls.run import run
from ..functions.scalars import sigmoid, tanh
from ..language.named_counts import counts_of, named_counts
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT64, LANES, POINTER, Code, Value
from ..language.tiles import Tile, add_products
from ..loading.objects import kernel
from ..products.dots import DOTS, Dots

__all__ = ["GATES", "Order", "order_of", "through_time"]

GATES: Final = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
"""How many gates each kind of layer has for an element of its state."""
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
    """Write what a layer puts out, [rows, width], and its state at the end.  An LSTM's open gates
    and its cell states after each step are `kept` as well, if there are arrays for them,
    [rows, 4 * width] and [rows, width].

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
        or (kept and [each.shape for each in kept] != [gates.shape, out.shape])
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
        *(kept or (out, out)),
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
    made = _Recurrence(target, GATES[kind], _STEPS[kind], keeps, is_turned)
    made.write()
    return made.code.kernel("recurrent", [(POINTER, name) for name in _PLACES])


_Step = Callable[[list[Value], list[Value], Value, Value], tuple[Value, ...]]
"""From the gates of the input and of the hidden state, and both states, to the states after; behind
those of an LSTM are its open gates."""


class _Recurrence:
    """The code of all kinds; their steps differ."""

    def __init__(
        self, target: Target, gates: int, step: _Step, keeps: bool, is_turned: bool
    ) -> None:
        self.code = code = Code(target)
        self.gates, self.step, self.keeps = gates, step, keeps
        self.multiply = self._across if is_turned else self._along
        self.place = {name: code.argument(POINTER, name) for name in _PLACES}
        self.count = named_counts(code, self.place["counts"], _COUNTS)
        self.zero = code.constant(INT64, 0)
        self.deep = self.count["width"] * gates

    def at(self, name: str, index: Value) -> Value:
        """The address of an element of an array."""
        return self.code.at(self.place[name], index, FLOAT)

    def write(self) -> None:
        """All steps of the sequences of the range."""
        code = self.code
        start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
        width = self.count["width"]
        code.vectors(start * width, stop * width, 1, self._take_over)
        with code.counted(self.zero, self.count["steps"]) as time:
            size, begin = (
                code.load(INT64, code.at(self.place[name], time, INT64))
                for name in ("sizes", "begins")
            )
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
        code, tile, column = self.code, Tile.of(self.code.target), self.zero
        wide = _WIDE if tile.vectors > 1 else 1
        for vectors in sorted({wide, 1}, reverse=True):
            after = column + (self.deep - column) / (vectors * LANES) * (vectors * LANES)
            with code.counted(column, after, vectors * LANES) as at:
                self._blocks(start, stop, at, vectors, None)
            column = after
        with code.counted(column, self.deep, LANES) as at:
            self._blocks(start, stop, at, 1, code.first(self.deep - at, LANES))

    def _blocks(
        self, row: Value, stop: Value, column: Value, vectors: int, mask: Value | None
    ) -> None:
        """All rows times some vectors of turned weights, as many as registers hold sums of."""
        code, tile = self.code, Tile.of(self.code.target)
        width, source = self.count["width"], code.at(self.place["weights"], column, FLOAT)
        most = min(8, tile.rows * tile.vectors // vectors)

        def right(j: int, at: Value) -> Value:
            return code.load_if(FLOATS, code.at(source, at * self.deep + j * LANES, FLOAT), mask)

        for rows in sorted({most, most // 2, 1}, reverse=True):
            until = row + (stop - row) / rows * rows
            with code.counted(row, until, rows) as here:
                lines = [self.at("hidden", (here + i) * width) for i in range(rows)]

                def left(i: int, at: Value, lines: list[Value] = lines) -> Value:
                    return code.load(FLOAT, code.at(lines[i], at, FLOAT))

                sums = add_products(code, (rows, vectors), left, right, width, code.multiply_add)
                goal = self.at("room", here * self.deep + column)
                bias = self.at("bias", column)
                with code.when(self.count["biased"].equals(1)):
                    for (_, j), each in sums.items():
                        far = code.constant(INT64, j * LANES)
                        seen = code.load_if(FLOATS, code.at(bias, far, FLOAT), mask)
                        each.set(each.now + seen)
                for (i, j), each in sums.items():
                    place = code.at(goal, self.deep * i + j * LANES, FLOAT)
                    code.store_if(each.now, place, mask)
            row = until

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
                if self.keeps:
                    code.store_if(cell, self.at("cells", line * width + at), mask)
                    for i, each in enumerate(opened):
                        place = self.at("opened", line * self.deep + width * i + at)
                        code.store_if(each, place, mask)
                code.store_if(cell, self.at("cell", here), mask)
                code.store_if(hidden, self.at("hidden", here), mask)
                code.store_if(hidden, self.at("out", line * self.count["pitch"] + at), mask)

        code.vectors(self.zero, width, 1, advance)


def _lstm(x: list[Value], h: list[Value], hidden: Value, cell: Value) -> tuple[Value, ...]:
    enter, keep, new, leave = (one + other for one, other in zip(x, h, strict=True))
    enter, keep, new, leave = sigmoid(enter), sigmoid(keep), tanh(new), sigmoid(leave)
    cell = keep * cell + enter * new
    return leave * tanh(cell), cell, enter, keep, new, leave


def _gru(x: list[Value], h: list[Value], hidden: Value, cell: Value) -> tuple[Value, ...]:
    reset, update = (sigmoid(one + other) for one, other in zip(x[:2], h[:2], strict=True))
    new = tanh(x[2] + reset * h[2])
    hidden = new + update * (hidden - new)
    return hidden, hidden


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
