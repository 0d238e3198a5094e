"""Planes with zeros around them."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["Ints", "Pads", "are_inside", "copy_part", "copy_row", "padded_lying", "padded_planes"]

Ints = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]
"""Zeros before and behind the elements of each dimension."""

_LEAST: Final = 1 << 16
"""Elements that are worth another thread."""
_COUNTS: Final = ("depth", "height", "width", "front", "top", "left")
_MADE: Final = ("made_depth", "made_height", "made_width", "pitch")


def padded_lying(shape: tuple[int, ...], pads: Pads) -> tuple[Ints, Ints]:
    """The shape and the strides of what `padded_planes` makes of an array of some shape."""
    depth, height, width = (n + sum(pair) for n, pair in zip(shape[2:], pads, strict=True))
    pitch = (-(-depth * height * width // LANES) | 1) * LANES
    steps = pitch * shape[1], pitch, height * width, width, 1
    return (*shape[:2], depth, height, width), tuple(4 * step for step in steps)


def padded_planes(x: Array, space: Ints, pads: Pads) -> Array:
    """float32 [samples, channels, *space] with zeros at the ends of the three dimensions of space.

    Channels lie an odd number of cache lines apart, so that caches take many of them; what is
    given back are the numbers as they lie (see `padded_lying`).
    """
    samples, channels = x.shape[:2]
    shape, steps = padded_lying((samples, channels, *space), pads)
    made = shape[2:]
    flat = np.empty(samples * steps[0] // 4, np.float32)
    least = max(1, _LEAST // max(1, made[1] * made[2]))
    run(
        *(kernel("padded_planes", (), _text), samples * channels * made[0], least),
        *(*space, *(pair[0] for pair in pads), *made, steps[1] // 4, x, flat),
    )
    return flat


def _text(target: Target) -> str:
    """For the planes made, counted over samples, channels and depth."""
    code = Code(target)
    size = {name: code.argument(INT64, name) for name in (*_COUNTS, *_MADE)}
    x, out = code.argument(POINTER, "x"), code.argument(POINTER, "out")
    zero = code.constant(INT64, 0)
    with code.units() as index:
        channel = index / size["made_depth"]
        level = index - channel * size["made_depth"]
        source = level - size["front"]
        inside = source.below(size["depth"])
        place = channel * size["pitch"] + level * size["made_height"] * size["made_width"]
        area = size["height"] * size["width"]
        seen = code.at(x, (channel * size["depth"] + source) * area, FLOAT)
        goal = code.at(out, place, FLOAT)
        with code.counted(zero, size["made_height"]) as row:
            above = row - size["top"]
            width = code.choose(inside & above.below(size["height"]), size["width"], 0)
            copy_row(
                *(code, code.at(seen, above * size["width"], FLOAT), width),
                *(code.at(goal, row * size["made_width"], FLOAT), size["made_width"]),
                size["left"],
            )
    names = [*((INT64, name) for name in (*_COUNTS, *_MADE)), (POINTER, "x"), (POINTER, "out")]
    return code.kernel("padded_planes", names)


def copy_row(
    code: Code,
    source: Value,
    width: Value,
    goal: Value,
    made: Value,
    left: Value,
    step: Value | None = None,
) -> None:
    """Copy every `step`-th of `width` numbers to a row of `made`, or all.

    Number i of it is that at `i * step - left`, or 0 where there is none.
    """
    zero = code.constant(INT64, 0)

    def copy(places: list[Value], mask: Value | None) -> None:
        for at in places:
            inside = are_inside(code, at - left, width)
            seen = code.load_if(FLOATS, code.at(source, at - left, FLOAT), inside)
            code.store_if(seen, code.at(goal, at, FLOAT), mask)

    if step is None:
        return code.vectors(zero, made, 2, copy)
    with code.counted(zero, made) as at:
        place = at * step - left
        number = code.variable(code.constant(FLOAT, 0.0))
        with code.when(place.below(width)):
            number.set(code.load(FLOAT, code.at(source, place, FLOAT)))
        code.store(number.now, code.at(goal, at, FLOAT))


def copy_part(
    code: Code, source: Value, width: Value, goal: Value, made: Value, left: Value
) -> None:
    """Copy numbers of a row of `width` to a row of `made`, of which number i is that at `i - left`,
    or 0 where there is none."""
    zero = code.constant(INT64, 0)
    skipped = code.choose(left < 0, -left, 0)
    begin = code.lesser(code.choose(left < 0, 0, left), made)
    count = code.lesser(width - skipped, made - begin)
    end = begin + code.choose(count < 0, 0, count)
    for start, stop in ((zero, begin), (end, made)):
        with code.counted(start, stop) as at:
            code.store(code.constant(FLOAT, 0.0), code.at(goal, at, FLOAT))

    def copy(places: list[Value], mask: Value | None) -> None:
        for at in places:
            seen = code.load_if(FLOATS, code.at(source, at - left, FLOAT), mask)
            code.store_if(seen, code.at(goal, at, FLOAT), mask)

    code.vectors(begin, end, 1, copy)


def are_inside(code: Code, first: Value, width: Value) -> Value:
    """Which places of a vector, counted from `first` on, are from 0 to `width`, which is not."""
    before, until = (
        code.lesser(code.choose(count < 0, 0, count), code.constant(INT64, LANES))
        for count in (-first, width - first)
    )
    places = code.order(INT32.of_lanes(LANES))
    begin, end = (code.spread(count.converted("trunc", INT32)) for count in (before, until))
    return (places >= begin) & (places < end)
