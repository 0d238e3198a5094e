"""Depthwise convolutions of planes that lie with channels last, as their results do.

A vector holds 16 channels of a pixel.  Pixels that stand side by side are summed together, so that
weights, and numbers that several of them see, are read once; those whose windows reach beyond the
plane are summed by themselves.  Sums are chains as in `convolution_sums`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ....memory.remembered import remembered
from ... import in_order, unfilled
from ...threads import get_threads
from ..calls.run import run
from ..elementwise.loops import shown
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, Value, Variable
from ..loading.objects import is_kept, kernel
from .frame import PLAIN, After, Convolving

__all__ = ["NAME", "Depthwise", "text"]

NAME: Final = "last_depthwise"
_TOGETHER: Final = (8, 4, 2, 1)
"""Pixels that are summed together."""
_WIDEST: Final = 7
"""Columns of windows that have kernels of their own."""
_LEAST: Final = 1 << 15
"""Products of numbers that are worth an item of the work."""
_SIZES: Final = (
    *("items", "rows", "all", "slot", "height", "width", "made_height", "made_width", "channels"),
    *("down", "right", "row_step", "column_step", "top", "left", "deep", "wide"),
    *("inner", "outer"),
)
"""What the numbers are that the kernel is given: items, which are so many `rows` of `all`; sizes of
planes, of those made, and how many channels; steps from window to window and within one, and how
far the first begins outside; sizes of windows; the first of the pixels of a row whose windows are
inside the plane, and the first behind them."""


Ints = Sequence[int]
Pads = Sequence[tuple[int, int]]
_Rows = tuple[Value, Value, Value]
"""Where a row's windows begin, and which of their rows are inside the plane."""
_Sums = Sequence[Variable]


class _Settled(NamedTuple):
    """What is known by shapes and settings alone, which nobody writes to; `form` is how the kernel
    is made."""

    form: tuple[int, ...]
    numbers: Array
    no_bias: Array

    @property
    def nbytes(self) -> int:
        return int(self.numbers.nbytes + self.no_bias.nbytes)


@remembered(1 << 20)
def _settled(
    shape: Ints, size: Ints, stride: Ints, pads: Pads, dilation: Ints, output: Ints, threads: int
) -> _Settled:
    samples, channels, *space = shape
    (deep, wide), ((top, _), (left, _)) = size, pads
    inner = min(-(-left // stride[1]), output[1])
    behind = (space[1] - 1 - dilation[1] * (wide - 1) + left) // stride[1] + 1
    outer = max(inner, min(behind, output[1]))
    count, work = samples * output[0], output[1] * channels * deep * wide
    rows = max(1, min(_LEAST // work, -(-count // (2 * threads))))
    sizes = -(-count // rows), rows, count, 0, *space, *output, channels, *stride, *dilation
    numbers = np.array((*sizes, top, left, deep, wide, inner, outer), np.int64)
    no_bias = np.zeros(channels, np.float32)
    for each in (numbers, no_bias):
        each.setflags(write=False)
    is_narrow = wide <= _WIDEST and max(stride[1], dilation[1]) <= 2
    return _Settled((wide, stride[1], dilation[1]) if is_narrow else (), numbers, no_bias)


class Depthwise:
    """One that can be computed: `fill` writes it to `out`."""

    __slots__ = ("_form", "_given", "_numbers", "out")

    def __init__(
        self,
        x: Array,
        weight: Array,
        bias: Array | None,
        stride: Ints,
        pads: Pads,
        dilation: Ints,
        output: Ints,
    ) -> None:
        """float32 [samples, channels, height, width] in one piece with channels last, and weights
        [channels, 1, rows, columns]; without a bias it is None.

        Raises:
            ValueError: the bias has another shape.
        """
        channels, _, *size = weight.shape
        settings = tuple(stride), tuple(pads), tuple(dilation), tuple(output), get_threads()
        self._form, self._numbers, no_bias = _settled(x.shape, tuple(size), *settings)
        if bias is not None and bias.shape != no_bias.shape:
            raise ValueError("the bias does not fit the channels")
        turned = in_order(weight.reshape(channels, -1).T)
        bias = no_bias if bias is None else np.ascontiguousarray(bias)
        self._given = x.transpose(0, 2, 3, 1), turned, bias
        self.out = unfilled((len(x), channels, *output), np.float32, is_last=True)

    def _parameters(self, after: After) -> tuple[str | int, ...]:
        shape = (shown(after.expression), after.places) if after.expression.steps else ()
        return (*self._form, *shape)

    @property
    def is_alone_at_hand(self) -> bool:
        """Whether the kernel with nothing after the sums need not be compiled."""
        return self.is_at_hand(PLAIN, ())

    def is_at_hand(self, after: After, operands: object) -> bool:
        """Whether the kernel with something after the sums need not be compiled."""
        return is_kept(NAME, self._parameters(after))

    def prepare(self, after: After, operands: object) -> None:
        """Compile that kernel if need be.

        Raises:
            OSError, RuntimeError: it cannot be.
        """
        self._kernel(after)

    def _kernel(self, after: After) -> int:
        return kernel(NAME, self._parameters(after), lambda t: text(t, after, self._form))

    def fill(self, after: After = PLAIN, operands: Sequence[object] = ()) -> None:
        """Compute: threads take items of the work."""
        x, turned, bias = self._given
        slots = min(int(self._numbers[0]), get_threads())
        made: Array = self.out.transpose(0, 2, 3, 1)
        turn, none = np.zeros(1, np.uint64), self._numbers
        lying = (_by_pixels(each) for each in operands)
        words = turn, self._numbers, none, x, turned, bias, made, none, *lying
        run(self._kernel(after), slots, 2 if slots == 1 else 1, *words)


def _by_pixels(operand: object) -> object:
    """An operand that lies as the result does, in the order of its elements."""
    if isinstance(operand, np.ndarray) and operand.ndim == 4:
        return operand.transpose(0, 2, 3, 1)
    return operand


def text(target: Target, after: After, form: tuple[int, ...]) -> str:
    """A kernel of `turn, sizes, offsets, x, weight, bias, out, slots` for a range of slots.

    - turn: uint64 [1], 0 before the call, the next item that nobody has taken;
    - sizes: int64, as `_SIZES` says;
    - x: float32 [samples, height, width, channels];
    - weight, bias: float32 [deep * wide, channels] and [channels];
    - out: float32 [samples, made_height, made_width, channels];
    - offsets, slots: not used.

    The form tells a window's columns and the steps between windows and within one, if anything.
    The operands of what comes `after` follow.
    """
    return _Depthwise(target, after, form).text(NAME)


class _Depthwise(Convolving):
    """The parts of the kernel."""

    def __init__(self, target: Target, after: After, form: tuple[int, ...]) -> None:
        super().__init__(target, _SIZES, after)
        self.form = form

    def work(self, slot: Value) -> None:
        """Items, as long as there are some."""
        with self.handed_out_parts(self.size["rows"], self.size["all"]) as row:
            self._row(row)

    def _row(self, row: Value) -> None:
        """All sums of a row of the output."""
        code, size = self.code, self.size
        sample, line = code.split(row, size["made_height"])
        top = line * size["down"] - size["top"]
        plane = code.at(self.at["x"], sample * size["height"] * self._line, FLOAT)
        low, high = self._range(top, "row_step", "height", "deep")
        rows = code.at(plane, top * self._line, FLOAT), low, high
        goal = row * size["made_width"]
        with code.counted(self.zero, size["inner"]) as pixel:
            self._edge(rows, goal, pixel)
        begin = size["inner"]
        for count in _TOGETHER:
            end = begin + ((size["outer"] - begin) & -count)
            with code.counted(begin, end, count) as pixel:
                self._pixels(rows, goal, pixel, count)
            begin = end
        with code.counted(size["outer"], size["made_width"]) as pixel:
            self._edge(rows, goal, pixel)

    @property
    def _line(self) -> Value:
        return self.size["width"] * self.size["channels"]

    def _range(self, begin: Value, step: str, end: str, most: str) -> tuple[Value, Value]:
        """Which numbers of a window are inside a plane along one dimension."""
        code, size, far = self.code, self.size, self.size[step]
        low = code.choose(begin < 0, (far - 1 - begin) / far, 0)
        high = code.lesser((size[end] - begin + (far - 1)) / far, size[most])
        return low, code.choose(high < low, low, high)

    def _edge(self, rows: _Rows, goal: Value, pixel: Value) -> None:
        """The sums of a pixel whose window reaches beyond the plane."""
        begin = pixel * self.size["right"] - self.size["left"]
        self._pixels(rows, goal, pixel, 1, self._range(begin, "column_step", "width", "wide"))

    def _pixels(
        self,
        rows: _Rows,
        goal: Value,
        pixel: Value,
        count: int,
        columns: tuple[Value, Value] | None = None,
    ) -> None:
        """The sums of pixels side by side, of some columns of windows if that is said."""
        code, size, (begin, low, high) = self.code, self.size, rows
        channels, bias = size["channels"], self.at["bias"]
        seen = code.at(begin, (pixel * size["right"] - size["left"]) * channels, FLOAT)

        def visit(firsts: list[Value], mask: Value | None) -> None:
            (first,) = firsts

            def of_channel(array: Value) -> Value:
                return code.load_if(FLOATS, code.at(array, first, FLOAT), mask)

            start = of_channel(bias)
            sums = [code.variable(start) for _ in range(count)]
            with code.counted(low, high) as k:
                line = code.at(seen, k * size["row_step"] * self._line + first, FLOAT)
                weights = code.at(self.at["weight"], k * size["wide"] * channels + first, FLOAT)
                if self.form and columns is None:
                    self._add(line, weights, sums, mask)
                else:
                    self._add_some(line, weights, sums, mask, columns or (self.zero, size["wide"]))
            for i, total in enumerate(sums):
                place = (goal + pixel + i) * channels + first
                made = self.finished_at(
                    total.now, place, mask, lambda number: of_channel(self.given[number])
                )
                self.written(made, place, mask)

        code.vectors(self.zero, channels, 1, visit)

    def _add(self, line: Value, weights: Value, sums: _Sums, mask: Value | None) -> None:
        """Add a row of windows: what several of them see is loaded once."""
        code, channels = self.code, self.size["channels"]
        wide, step, far = self.form
        numbers = dict[int, Value]()
        for column in range(wide):
            weight = code.load_if(FLOATS, code.at(weights, channels * column, FLOAT), mask)
            for i, total in enumerate(sums):
                place = i * step + column * far
                if place not in numbers:
                    here = code.at(line, channels * place, FLOAT)
                    numbers[place] = code.load_if(FLOATS, here, mask)
                total.set(code.multiply_add(numbers[place], weight, total.now))

    def _add_some(
        self,
        line: Value,
        weights: Value,
        sums: _Sums,
        mask: Value | None,
        columns: tuple[Value, Value],
    ) -> None:
        """Add columns of a row of windows."""
        code, size = self.code, self.size
        channels = size["channels"]
        with code.counted(*columns) as column:
            here = code.at(line, column * size["column_step"] * channels, FLOAT)
            weight = code.load_if(FLOATS, code.at(weights, column * channels, FLOAT), mask)
            for i, total in enumerate(sums):
                place = code.at(here, size["right"] * channels * i, FLOAT)
                number = code.load_if(FLOATS, place, mask)
                total.set(code.multiply_add(number, weight, total.now))
