"""Recurrent layers back through time, in one kernel: gradients of gates, then those of the state.

A range is one of sequences, which do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, NamedTuple

from ....memory.dtype import Array
from ... import in_order
from ..calls.run import run
from ..functions.scalars import tanh
from ..language.named_counts import counts_of
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT64, LANES, POINTER, Value
from ..language.tiles import add_products
from ..loading.objects import kernel
from .recurrent import GATES, KEPT, Order, ThroughTime, across_columns, across_rows

__all__ = ["back_through_time"]

_LEAST: Final = 1 << 18
"""Multiplications that are worth another thread."""
_PLACES: Final = (
    *("kept", "after", "first", "grads", "weights", "hidden", "cell", "out", "own"),
    *("sizes", "begins", "counts"),
)
_COUNTS: Final = ("steps", "width", "pitch", "grads_pitch")


@lru_cache(256)
def _counts(steps: int, width: int, pitch: int, grads_pitch: int) -> Array:
    return counts_of(steps, width, pitch, grads_pitch)


def back_through_time(
    kind: str,
    kept: Array,
    after: Array,
    first: Array,
    grads: Array,
    weights: Array,
    order: Order,
    states: tuple[Array, ...],
    found: tuple[Array, Array],
) -> None:
    """Write the gradients of a layer's gates before they were bent.

    Args:
        kind: as `through_time` has it, which keeps what this needs.
        kept: its open gates, [rows, KEPT[kind] * width].
        after: an LSTM's cell states after each step, of others what they put out, [rows, width].
        first: the state of that kind before the first step, [sequences, width].
        grads: those of what the layer puts out, [rows, width].
        weights: those of the hidden state, [gates * width, width].
        order: the one in which the layer went.
        states: the gradients of the last states, hidden and, of an LSTM, cell; those of the first
            ones are written over them.
        found: the gradients of the input's gates and of the hidden state's, which are one array but
            for a GRU, [rows, gates * width], are written here.

    All are float32; rows of `after` and `grads` may lie apart, by 0 too.

    Raises:
        ValueError: the sizes do not fit.
    """
    many, width = first.shape
    deep = GATES[kind] * width
    weights, first = (in_order(each[...]) for each in (weights, first))
    if (
        weights.shape != (deep, width)
        or {each.shape for each in states} != {(many, width)}
        or {each.shape for each in (after, grads)} != {(order.rows, width)}
        or {each.shape for each in found} != {(order.rows, deep)}
        or (KEPT[kind] and kept.shape != (order.rows, KEPT[kind] * width))
        or order.most > many
        or not all(each.flags.c_contiguous for each in (kept, *states, *found))
        or any(each.strides[1] != each.itemsize for each in (after, grads))
    ):
        raise ValueError("the sizes of a recurrent layer's gradient do not fit")
    steps = len(order.sizes)
    pitches = (each.strides[0] // each.itemsize for each in (after, grads))
    run(
        _kernel(kind),
        many,
        _LEAST // max(1, steps * weights.size) + 1,
        *(kept, after, first, grads, weights, states[0], states[-1], *found),
        *(order.sizes, order.begins, _counts(steps, width, *pitches)),
    )


@cache
def _kernel(kind: str) -> int:
    return kernel("recurrent_gradient", (kind,), lambda target: _Back(target, kind).text())


class _Seen(NamedTuple):
    """What a step back knows of an element of the state."""

    kept: list[Value]
    before: Value
    after: Value
    hidden: Value
    cell: Value


class _Made(NamedTuple):
    """The gradients that it makes: of the input's gates and the hidden state's; of the hidden state
    past its gates, and of the cell's."""

    gates: tuple[Value, ...]
    own: tuple[Value, ...]
    hidden: Value | float
    cell: Value | None


class _Back(ThroughTime):
    """The code of all kinds; their steps differ."""

    def __init__(self, target: Target, kind: str) -> None:
        super().__init__(target, kind, _PLACES, _COUNTS)
        self.kind, self.kept = kind, KEPT[kind]

    def text(self) -> str:
        """All steps of the sequences of the range, from the last one on."""
        code = self.code
        start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
        with code.counted(self.zero, self.count["steps"]) as back:
            time = self.count["steps"] - 1 - back
            size, begin = self.step_at(time)
            earlier = code.choose(time < 1, 0, time - 1)
            known, old = self.step_at(earlier)
            known = code.choose(time < 1, 0, known)
            last = code.choose(size < stop, size, stop)
            with code.counted(start, last) as row:
                before = code.choose(
                    row < known,
                    self.at("after", (old + row) * self.count["pitch"]),
                    self.at("first", row * self.count["width"]),
                )
                self._open(row, begin + row, before)
            self._multiply(start, last, begin)
        return code.kernel("recurrent_gradient", [(POINTER, name) for name in _PLACES])

    def _open(self, row: Value, line: Value, before: Value) -> None:
        """The gradients of a sequence's gates in a step, which is row `line` of all."""
        code, count = self.code, self.count
        width = count["width"]

        def seen(name: str, index: Value, mask: Value | None) -> Value:
            return code.load_if(FLOATS, self.at(name, index), mask, 0.0)

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                here = row * width + at
                hidden = seen("hidden", here, mask)
                hidden = hidden + seen("grads", line * count["grads_pitch"] + at, mask)
                made = _STEPS[self.kind](
                    _Seen(
                        [
                            seen("kept", (line * self.kept + gate) * width + at, mask)
                            for gate in range(self.kept)
                        ],
                        code.load_if(FLOATS, code.at(before, at, FLOAT), mask, 0.0),
                        seen("after", line * count["pitch"] + at, mask),
                        hidden,
                        seen("cell", here, mask),
                    )
                )
                for name, gates in (("out", made.gates), ("own", made.own)):
                    for gate, each in enumerate(gates):
                        place = self.at(name, line * self.deep + width * gate + at)
                        code.store_if(each, place, mask)
                passed = made.hidden
                passed = passed if isinstance(passed, Value) else code.constant(FLOATS, passed)
                code.store_if(passed, self.at("hidden", here), mask)
                if made.cell is not None:
                    code.store_if(made.cell, self.at("cell", here), mask)

        code.vectors(self.zero, width, 1, visit)

    def _multiply(self, start: Value, stop: Value, begin: Value) -> None:
        """Add to the gradient of the state before what comes of its gates, one after the other."""
        code, width = self.code, self.count["width"]
        for column, vectors, mask in across_columns(code, width):
            with code.counted(self.zero, code.constant(INT64, self.gates)) as gate:
                self._panel(start, stop, begin, gate * width, column, vectors, mask)

    def _panel(
        self, start: Value, stop: Value, begin: Value, gate: Value, column: Value, vectors: int,
        mask: Value | None,
    ) -> None:  # fmt: skip
        """All rows times some vectors of a gate's weights."""
        code, width = self.code, self.count["width"]
        source = self.at("weights", gate * width + column)

        def right(j: int, at: Value) -> Value:
            return code.load_if(FLOATS, code.at(source, at * width + j * LANES, FLOAT), mask)

        for row, rows in across_rows(code, start, stop, vectors):
            lines = [self.at("own", (begin + row + i) * self.deep + gate) for i in range(rows)]

            def left(i: int, at: Value, lines: list[Value] = lines) -> Value:
                return code.load(FLOAT, code.at(lines[i], at, FLOAT))

            sums = add_products(code, (rows, vectors), left, right, width, code.multiply_add)
            for (i, j), each in sums.items():
                place = self.at("hidden", (row + i) * width + column + j * LANES)
                now = code.load_if(FLOATS, place, mask)
                code.store_if(now + each.now, place, mask)


def _lstm(seen: _Seen) -> _Made:
    taken, keeps, new, shown = seen.kept
    bent = tanh(seen.after)
    cell = seen.cell + seen.hidden * shown * (1.0 - bent * bent)
    gates = (
        cell * new * (taken * (1.0 - taken)),
        cell * seen.before * (keeps * (1.0 - keeps)),
        cell * taken * (1.0 - new * new),
        seen.hidden * bent * (shown * (1.0 - shown)),
    )
    return _Made(gates, (), 0.0, cell * keeps)


def _gru(seen: _Seen) -> _Made:
    reset, update, new, of_own = seen.kept
    through = seen.hidden * (1.0 - update) * (1.0 - new * new)
    first = (
        through * of_own * (reset * (1.0 - reset)),
        seen.hidden * (seen.before - new) * (update * (1.0 - update)),
    )
    return _Made((*first, through), (*first, through * reset), seen.hidden * update, None)


def _tanh(seen: _Seen) -> _Made:
    return _Made((seen.hidden * (1.0 - seen.after * seen.after),), (), 0.0, None)


def _relu(seen: _Seen) -> _Made:
    made = seen.hidden.code.choose(seen.after > 0.0, seen.hidden, 0.0)
    return _Made((made,), (), 0.0, None)


_STEPS: Final[dict[str, Callable[[_Seen], _Made]]] = {
    "lstm": _lstm,
    "gru": _gru,
    "rnn_tanh": _tanh,
    "rnn_relu": _relu,
}
