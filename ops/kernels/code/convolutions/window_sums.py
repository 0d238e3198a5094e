"""What windows hold, put back where they were and added up: the columns of transposed convolutions,
one number for all elements of a window, and results of which each has some of the places.

An output's numbers are added in the order of the elements of windows, from zero on, as adding
whole columns does; a bias comes last.  Which source lines an output line is made of, and which
elements of windows the outputs of a line, is listed beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ....memory.remembered import remembered
from ..calls.run import run
from ..language.columns import of_parts
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel
from ..rows.along import ELEMENTS

__all__ = ["are_near", "put_back", "put_beside", "shared_out"]

_PER_THREAD: Final = 1 << 14
"""Numbers looked at that are worth another thread."""
_MOST_LISTED: Final = 1 << 16
"""Elements of a window's line by the distance of windows: so many are looked at for the lists."""
_MOST_SHARED: Final = 1 << 20
"""Lengths of dimensions by that of windows: so many are looked at for lists of shares."""
_SPREAD: Final = 5
"""Distances of windows from which lines are written element by element."""
_COUNTS: Final = ("lines", "width", "windows", "apart", "size", "channels", "sample", "channel")
_PLACES: Final = ("lists", "columns", "out")

Ints = tuple[int, ...]


class _Windows(NamedTuple):
    """A number a dimension of each: sizes of the result, windows and how far they are apart; and
    where the elements of the first window stand, which may be before the result begins."""

    output: Ints
    counts: Ints
    stride: Ints
    places: tuple[Ints, ...]


def _places(size: Ints, dilation: Ints, pads: Ints) -> tuple[Ints, ...]:
    """Where the elements of windows stand that begin before the result, by the pads."""
    settings = zip(size, dilation, pads, strict=True)
    return tuple(tuple(at * far - pad for at in range(count)) for count, far, pad in settings)


def are_near(size: int, stride: int) -> bool:
    """Whether windows of such a length and distance are computed here."""
    return stride * size <= _MOST_LISTED


def put_back(
    columns: Array,
    output: Ints,
    counts: Ints,
    stride: Ints,
    dilation: Ints,
    pads: Ints,
    *,
    together: bool = False,
    bias: object = None,
    out: Array | None = None,
) -> Array | None:
    """The sums [batch, channels, *output] of float32 or float64 [batch, channels, *size, *counts].

    Where the columns of a batch lie `together`, they are [channels, *size, batch, *counts].  A bias
    has a number for each channel, `out` is where the sums are written to, in one piece.  None for
    what is not computed here.

    Raises:
        ValueError: there are not so many windows.
    """
    dims, begun = len(output), 1 if together else 2
    size = columns.shape[begun : begun + dims]
    batch, channels = columns.shape[begun + dims if together else 0], columns.shape[begun - 1]
    wanted = (channels, *size, batch) if together else (batch, channels, *size)
    if columns.shape != (*wanted, *counts):
        raise ValueError(f"columns of shape {columns.shape} are not of {counts} windows")
    if not columns.size or not prod(output):
        return None
    windows = prod(counts)
    tap = windows * batch if together else windows
    channel = tap * prod(size)
    sample = windows if together else channel * channels
    what = _Windows(output, counts, stride, _places(size, dilation, pads))
    if out is None:
        out = np.empty((batch, channels, *output), columns.dtype)
    return out if _sum_up(columns, what, (tap, sample, channel), bias, out) else None


def put_beside(
    parts: Array, counts: Ints, stride: Ints, places: tuple[Ints, ...], bias: object, out: Array
) -> bool:
    """Write sums of [batch, channels, *counts] to `out`, float32 [batch, channels, *output] in one
    piece: `parts` has one behind the other for all elements of a window, which stand at these
    places.  A number for each channel is added, unless the bias is None.

    Whether that was done: it is not where windows are far apart.
    """
    batch, channels, *output = out.shape
    channel = prod(counts)
    steps = batch * channels * channel, channels * channel, channel
    what = _Windows(tuple(output), counts, stride, places)
    return _sum_up(parts, what, steps, bias, out)


def _sum_up(
    columns: Array, what: _Windows, steps: tuple[int, int, int], bias: object, out: Array
) -> bool:
    """Run the kernel, by steps to the next element of a window, sample and channel."""
    columns = np.ascontiguousarray(columns[...])  # which no other thread can change
    element, apart = ELEMENTS.get(columns.dtype.str[1:]), what.stride[-1]
    if element not in ("float", "double") or not are_near(len(what.places[-1]), apart):
        return False
    channels = out.shape[1]
    words, lists = _known(what, steps, channels)
    least = _PER_THREAD * out.shape[0] * channels // columns.size + 1
    to_run = _kernel(element, min(apart, _SPREAD), bias is not None)
    more = () if bias is None else (bias,)
    run(to_run, out.shape[0] * channels, least, *words, lists, columns, out[...], *more)
    return True


def shared_out(numbers: Array, output: Ints, size: Ints, stride: Ints, pads: Ints) -> Array | None:
    """The sums [..., *output] of float32 or float64 [..., *counts], a number for each window, over
    the windows that see an element; None for what is not computed here."""
    numbers = np.ascontiguousarray(numbers[...])  # which no other thread can change
    element, lead = ELEMENTS.get(numbers.dtype.str[1:]), numbers.shape[: numbers.ndim - len(size)]
    if element not in ("float", "double") or not numbers.size or not prod(output):
        return None
    if prod(size) * stride[-1] > _MOST_LISTED or sum(output) * max(size) > _MOST_SHARED:
        return None
    counts = numbers.shape[len(lead) :]
    planes = prod(lead)
    least = _PER_THREAD * planes // (numbers.size * prod(size)) + 1
    what = _Windows(output, counts, stride, _places(size, (1,) * len(size), pads))
    words, lists = _known(what, (0, prod(counts), 0), 1)
    out = np.empty((*lead, *output), numbers.dtype)
    to_run = _kernel(element, min(stride[-1], _SPREAD))
    run(to_run, planes, least, *words, lists, numbers, out)
    return out


class _Known(NamedTuple):
    """What the kernel is given for windows."""

    words: Ints
    lists: Array

    @property
    def nbytes(self) -> int:
        return int(self.lists.nbytes)


@remembered(1 << 22)
def _known(what: _Windows, steps: tuple[int, int, int], channels: int) -> _Known:
    tap, sample, channel = steps
    counts, elements = what.counts[-1], len(what.places[-1])
    sizes = prod(what.output[:-1]), what.output[-1], counts, what.stride[-1], elements
    return _Known((*sizes, channels, sample, channel), _listed(what, tap))


def _listed(given: _Windows, tap: int) -> Array:
    """Five lists, one behind the other.

    For each line of a plane where its source lines end in the last list; for each remainder of an
    output by the distance of windows where its elements of windows end in the next two lists; how
    far behind the first element each lies, and which window the first output sees with it; where
    source lines start.
    """
    output, counts, stride, places = given
    *settings, (_, _, apart, along) = zip(output, counts, stride, places, strict=True)
    ends, starts = [0], list[int]()
    for place in product(*(range(each[0]) for each in settings)):
        seen = [list(_seen(at, *each[1:])) for at, each in zip(place, settings, strict=True)]
        for several in product(*seen):
            element, window = 0, 0
            for (at, number), (_, count, _, elements) in zip(several, settings, strict=True):
                element, window = element * len(elements) + at, window * count + number
            starts.append(element * len(along) * tap + window * counts[-1])
        ends.append(len(starts))
    rest_ends, found = [0], list[tuple[int, int]]()
    for rest in range(apart):
        behind = ((at, rest - first) for at, first in enumerate(along))
        found += [(at * tap, each // apart) for at, each in behind if each % apart == 0]
        rest_ends.append(len(found))
    lists = ends, rest_ends, [at for at, _ in found], [number for _, number in found], starts
    made = np.array([number for each in lists for number in each], np.int64)
    made.setflags(write=False)
    return made


def _seen(place: int, count: int, step: int, elements: Ints) -> Iterator[tuple[int, int]]:
    """Which elements of which windows stand at a place of a dimension."""
    for element, first in enumerate(elements):
        window, rest = divmod(place - first, step)
        if not rest and 0 <= window < count:
            yield element, window


@cache
def _kernel(element: str, step: int, is_biased: bool = False) -> int:
    form: tuple[str | int, ...] = (element, step, "biased") if is_biased else (element, step)
    return kernel("put_back", form, lambda target: _text(target, Kind(element), step, is_biased))


def _text(target: Target, element: Kind, step: int, is_biased: bool) -> str:
    places = (*_PLACES, *(["bias"] if is_biased else []))
    made = _Lines(target, element, step, places)
    made.planes()
    words = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in places)]
    return made.code.kernel("put_back", words)


class _Lines:
    """The code of a kernel that makes planes of results; windows of a line are `step` apart."""

    def __init__(self, target: Target, element: Kind, step: int, places: Sequence[str]) -> None:
        self.code = code = Code(target)
        self.element, self.step = element, step
        self.given = {name: code.argument(INT64, name) for name in _COUNTS}
        self.at = {name: code.argument(POINTER, name) for name in places}
        self.zero = code.constant(INT64, 0)
        lines, apart, size = (self.given[name] for name in ("lines", "apart", "size"))
        self.begins = {"ends": self.zero, "rest_ends": lines + 1, "taps": lines + apart + 2}
        self.begins["behind"] = self.begins["taps"] + size
        self.begins["starts"] = self.begins["behind"] + size

    def planes(self) -> None:
        """All channels of all samples, line by line."""
        code, given = self.code, self.given
        with code.units() as plane:
            sample, channel = code.split(plane, given["channels"])
            place = sample * given["sample"] + channel * given["channel"]
            begin = code.at(self.at["columns"], place, self.element)
            self._bias: Value | None = None
            if "bias" in self.at:
                number = code.load(self.element, code.at(self.at["bias"], channel, self.element))
                self._bias = code.spread(number)
            with code.counted(self.zero, given["lines"]) as line:
                written = (plane * given["lines"] + line) * given["width"]
                self._line(begin, line, code.at(self.at["out"], written, self.element))

    def _listed(self, name: str, index: Value) -> Value:
        place = self.code.at(self.at["lists"], self.begins[name] + index, INT64)
        return self.code.load(INT64, place)

    def _line(self, begin: Value, line: Value, goal: Value) -> None:
        """The outputs of each remainder by the distance of windows, a vector of them at a time."""
        code, given, step = self.code, self.given, self.step
        apart = given["apart"] if step == _SPREAD else code.constant(INT64, step)
        groups = (given["width"] + (apart - 1)) / apart

        def visit(firsts: list[Value], mask: Value | None) -> None:
            (first,) = firsts
            if step == _SPREAD:
                with code.counted(self.zero, apart) as rest:
                    self._scatter(self._total(begin, line, first, rest), goal, first, rest)
                return
            rests = [code.constant(INT64, rest) for rest in range(step)]
            totals = [self._total(begin, line, first, rest) for rest in rests]
            for part in range(step):
                lanes = range(part * LANES, (part + 1) * LANES)
                places = [lane % step * LANES + lane // step for lane in lanes]
                at = first * step + part * LANES
                made = of_parts(code, totals, places)
                left = code.first(given["width"] - at)
                code.store_if(made, code.at(goal, at, self.element), left)

        code.vectors(self.zero, groups, 1, visit)

    def _scatter(self, total: Value, goal: Value, first: Value, rest: Value) -> None:
        """Write what stands at `rest`, `rest + apart` and so on."""
        code, apart = self.code, self.given["apart"]
        count = (self.given["width"] - rest + (apart - 1)) / apart - first
        bytes_apart = apart * (4 if self.element.element == "float" else 8)
        offsets = code.order(INT64.of_lanes(LANES)) * code.spread(bytes_apart)
        place = code.at(goal, first * apart + rest, self.element)
        code.scattered(total, place, offsets, code.first(count))

    def _total(self, begin: Value, line: Value, first: Value, rest: Value) -> Value:
        """The sums of the outputs of a remainder, from the number `first` on."""
        code = self.code
        total = code.variable(code.constant(self.element.of_lanes(LANES), 0.0))
        low, high = (self._listed("rest_ends", each) for each in (rest, rest + 1))
        start, stop = (self._listed("ends", each) for each in (line, line + 1))
        with code.counted(start, stop) as number:
            source = code.at(begin, self._listed("starts", number), self.element)
            with code.counted(low, high) as tap:
                self._add(total, source, first, tap)
        return total.now if self._bias is None else total.now + self._bias

    def _add(self, total: Variable, source: Value, first: Value, tap: Value) -> None:
        """Add what one element of the windows of a line gives, where there are such windows."""
        code, kind = self.code, self.element.of_lanes(LANES)
        window = self._listed("behind", tap) + first
        place = code.at(source, self._listed("taps", tap) + window, self.element)
        before, left = -window, self.given["windows"] - window
        is_whole = (before <= 0) & (left >= LANES)
        with code.when(is_whole):
            total.set(total.now + code.load(kind, place))
        with code.when(is_whole.equals(0)):
            inside = code.first(left) & code.first(before).equals(0)
            total.set(total.now + code.load_if(kind, place, inside))
