"""What windows hold, put back where they were and added up: the columns of transposed convolutions,
and one number for all elements of a window.

An output's numbers are added in the order of the elements of windows, from zero on, as adding
whole columns does.  Which source lines an output line is made of, and which elements of windows the
outputs of a line, is listed beforehand.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from ....memory.remembered import remembered
from ..calls.run import run
from ..language.columns import of_parts
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel
from ..rows.along import ELEMENTS

__all__ = ["put_back", "shared_out"]

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
_ORDER: Final = INT32.of_lanes(LANES)

Ints = tuple[int, ...]


class _Windows(NamedTuple):
    """A number a dimension of each."""

    output: Ints
    counts: Ints
    size: Ints
    stride: Ints
    dilation: Ints
    pads: Ints


def put_back(
    columns: Any,
    output: Ints,
    counts: Ints,
    stride: Ints,
    dilation: Ints,
    pads: Ints,
    *,
    together: bool = False,
) -> Any:
    """The sums [batch, channels, *output] of float32 or float64 [batch, channels, *size, *counts].

    Where the columns of a batch lie `together`, they are [channels, *size, batch, *counts].  None
    for what is not computed here.

    Raises:
        ValueError: there are not so many windows.
    """
    columns = np.ascontiguousarray(columns[...])  # which no other thread can change
    element = ELEMENTS.get(columns.dtype.str[1:])
    if element not in ("float", "double") or not columns.size or not prod(output):
        return None
    last = columns.shape[len(output) if together else len(output) + 1]
    if stride[-1] * last > _MOST_LISTED:
        return None
    known = _known(columns.shape, output, counts, stride, dilation, pads, together)
    out = np.empty(known.shape, columns.dtype)
    to_run = _kernel(element, min(stride[-1], _SPREAD))
    run(to_run, known.planes, known.least, *known.words, known.lists, columns, out)
    return out


def shared_out(numbers: Any, output: Ints, size: Ints, stride: Ints, pads: Ints) -> Any:
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
    words = prod(output[:-1]), output[-1], counts[-1], stride[-1], size[-1], 1, prod(counts), 0
    lists = _lists_of_shares(output, counts, size, stride, pads)
    out = np.empty((*lead, *output), numbers.dtype)
    to_run = _kernel(element, min(stride[-1], _SPREAD))
    run(to_run, planes, least, *words, lists, numbers, out)
    return out


@remembered(1 << 22)
def _lists_of_shares(output: Ints, counts: Ints, size: Ints, stride: Ints, pads: Ints) -> Any:
    return _listed(_Windows(output, counts, size, stride, (1,) * len(size), pads), 0)


class _Known(NamedTuple):
    """What the kernel is given for columns of a shape."""

    shape: Ints
    planes: int
    least: int
    words: Ints
    lists: Any

    @property
    def nbytes(self) -> int:
        return int(self.lists.nbytes)


@remembered(1 << 22)
def _known(
    shape: Ints,
    output: Ints,
    counts: Ints,
    stride: Ints,
    dilation: Ints,
    pads: Ints,
    together: bool,
) -> _Known:
    dims, begun = len(output), 1 if together else 2
    size = shape[begun : begun + dims]
    batch, channels = shape[begun + dims if together else 0], shape[begun - 1]
    wanted = (channels, *size, batch) if together else (batch, channels, *size)
    if shape != (*wanted, *counts):
        raise ValueError(f"columns of shape {shape} are not of {counts} windows")
    windows, planes, lines = prod(counts), batch * channels, prod(output[:-1])
    tap = windows * batch if together else windows
    channel = tap * prod(size)
    steps = channels, windows if together else channel * channels, channel
    words = lines, output[-1], counts[-1], stride[-1], size[-1], *steps
    lists = _listed(_Windows(output, counts, size, stride, dilation, pads), tap)
    return _Known(
        (batch, channels, *output), planes, _PER_THREAD * planes // prod(shape) + 1, words, lists
    )


def _listed(given: _Windows, tap: int) -> Any:
    """Five lists, one behind the other.

    For each line of a plane where its source lines end in the last list; for each remainder of an
    output by the distance of windows where its elements of windows end in the next two lists; how
    far behind the first element each lies, and which window the first output sees with it; where
    source lines start.
    """
    *settings, (_, _, taps, apart, spread, pad) = zip(*given, strict=True)
    ends, starts = [0], list[int]()
    for place in product(*(range(each[0]) for each in settings)):
        seen = [list(_seen(at, *each[1:])) for at, each in zip(place, settings, strict=True)]
        for several in product(*seen):
            element, window = 0, 0
            for (at, number), (_, count, size, *_rest) in zip(several, settings, strict=True):
                element, window = element * size + at, window * count + number
            starts.append(element * taps * tap + window * given.counts[-1])
        ends.append(len(starts))
    rest_ends, found = [0], list[tuple[int, int]]()
    for rest in range(apart):
        behind = ((at, rest + pad - at * spread) for at in range(taps))
        found += [(at * tap, each // apart) for at, each in behind if each % apart == 0]
        rest_ends.append(len(found))
    lists = ends, rest_ends, [at for at, _ in found], [number for _, number in found], starts
    made = np.array([number for each in lists for number in each], np.int64)
    made.setflags(write=False)
    return made


def _seen(place: int, count: int, size: int, step: int, spread: int, pad: int) -> Any:
    """Which elements of which windows stand at a place of a dimension."""
    for element in range(size):
        window, rest = divmod(place + pad - element * spread, step)
        if not rest and 0 <= window < count:
            yield element, window


@cache
def _kernel(element: str, step: int) -> int:
    return kernel("put_back", (element, step), lambda target: _text(target, Kind(element), step))


def _text(target: Target, element: Kind, step: int) -> str:
    made = _Lines(target, element, step)
    made.planes()
    words = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in _PLACES)]
    return made.code.kernel("put_back", words)


class _Lines:
    """The code of a kernel that makes planes of results; windows of a line are `step` apart."""

    def __init__(self, target: Target, element: Kind, step: int) -> None:
        self.code = code = Code(target)
        self.element, self.step = element, step
        self.given = {name: code.argument(INT64, name) for name in _COUNTS}
        self.at = {name: code.argument(POINTER, name) for name in _PLACES}
        self.zero = code.constant(INT64, 0)
        lines, apart, size = (self.given[name] for name in ("lines", "apart", "size"))
        self.begins = {"ends": self.zero, "rest_ends": lines + 1, "taps": lines + apart + 2}
        self.begins["behind"] = self.begins["taps"] + size
        self.begins["starts"] = self.begins["behind"] + size

    def planes(self) -> None:
        """All channels of all samples, line by line."""
        code, given = self.code, self.given
        with code.units() as plane, code.counted(self.zero, given["lines"]) as line:
            sample, channel = code.split(plane, given["channels"])
            place = sample * given["sample"] + channel * given["channel"]
            begin = code.at(self.at["columns"], place, self.element)
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
        return total.now

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
