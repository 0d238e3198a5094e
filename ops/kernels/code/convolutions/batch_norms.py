"""Normalisation of channels, float32 [samples, channels, space] in one piece.

Factors and terms are computed in double precision for each channel and rounded once; each element
is then one fused product and sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import add as add_up
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ... import is_last_whole, unfilled
from ..calls.run import run
from ..elementwise.arrays import (
    Expression,
    Step,
    Way,
    compute,
    expression_kernel,
    is_at_hand,
    spread_strides,
    way_of,
)
from ..language.lanes import DOUBLES, WIDE_BESIDE, begun, folded
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, FLOATS, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from .frame import PLAIN, After

__all__ = [
    *("Elements", "factors", "follow", "gradients", "moments", "moments_of_rows"),
    "normalized",
]

F: Final = np.float32
_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""
_BESIDE: Final = 4


def normalized(
    x: Array, mean: Array, spread: Array, weight: Array | None, bias: Array | None, eps: float
) -> Array:
    """`(x - mean) / sqrt(spread + eps) * weight + bias`.

    All four have an element for each channel; weight and bias may be None.  Mean and spread are
    float32 or float64, the others float32.
    """
    whole = Elements(x)
    whole.fill(_SCALED, factors(x.shape[1], mean, spread, weight, bias, eps))
    return whole.out


_SCALED: Final = After(
    Expression("fff", (Step("multiply_add", "f", (0, 1, 2)),), ((0, "f"),)), "ovv"
)


class Elements:
    """What comes after an array of several channels: `fill` writes it to `out`, which lies as the
    array does unless it is given, and may be the array."""

    __slots__ = ("_x", "out")

    def __init__(self, x: Array, out: Array | None = None) -> None:
        self._x = x[...]  # which no other thread can change
        self.out = unfilled(x.shape, F, is_last=is_last_whole(x)) if out is None else out

    def _way(self, after: After, operands: Sequence[Array]) -> tuple[list[Array], Way]:
        """The operands as arrays that broadcast, and the way through them."""
        shape, column = self.out.shape, (1, -1, *(1,) * (self.out.ndim - 2))
        taken, lie = [self._x], list[object]([(4, self._x.strides)])
        for place, each in zip(after.places[1:], operands, strict=True):
            spread = each.reshape(column) if place == "v" else each
            taken.append(spread)
            is_number = place == "k"
            lie.append(
                None if is_number else (4, spread_strides(spread.shape, spread.strides, shape))
            )
        return taken, way_of(shape, self.out.strides, tuple(lie))

    is_alone_at_hand = True

    def is_at_hand(self, after: After, operands: Sequence[Array]) -> bool:
        """Whether the kernel need not be compiled."""
        _, way = self._way(after, operands)
        return is_at_hand(after.expression, way.places, way.rank)

    def prepare(self, after: After, operands: Sequence[Array]) -> None:
        """Compile it if need be.

        Raises:
            OSError, RuntimeError: it cannot be.
        """
        _, way = self._way(after, operands)
        expression_kernel(after.expression, way.places, way.rank)

    def fill(self, after: After = PLAIN, operands: Sequence[Array] = ()) -> None:
        """Compute; if nothing comes after, a copy."""
        if not after.expression.steps:
            self.out[...] = self._x
            return
        taken, way = self._way(after, operands)
        compute(after.expression, way, taken, [self.out])


def factors(
    channels: int, mean: Array, spread: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array]:
    """The factor and the term of each channel, float32, by which `normalized` is computed."""
    wide = mean.dtype.itemsize == 8
    kind = np.float64 if wide else F
    vectors = [np.ascontiguousarray(each[...], kind) for each in (mean, spread)]
    vectors += [np.ascontiguousarray(each[...], F) for each in (weight, bias) if each is not None]
    if any(each.size != channels for each in vectors):
        raise ValueError("statistics and parameters do not fit the channels")
    factor, term = np.empty(channels, F), np.empty(channels, F)
    form = _FORMS[wide, weight is not None, bias is not None]
    normal = kernel("batch_norm", form, lambda target: _factors_text(target, *form))
    run(normal, channels, _LEAST, float(eps), factor, term, *vectors)
    return factor, term


_FORMS: Final = {
    (wide, has_weight, has_bias): ("double" if wide else "float", int(has_weight), int(has_bias))
    for wide in (False, True)
    for has_weight in (False, True)
    for has_bias in (False, True)
}


def _factors_text(target: Target, element: str, has_weight: int, has_bias: int) -> str:
    """For channels from `start` to `stop`."""
    code = Code(target)
    eps = code.spread(code.argument(DOUBLE, "eps"))
    names = ["mean", "spread", *["weight"] * has_weight, *["bias"] * has_bias]

    def compute(places: list[Value], mask: Value | None) -> None:
        (at,) = places

        def numbers(name: str) -> Value:
            kind = Kind(element) if name in ("mean", "spread") else FLOAT
            place = code.at(code.argument(POINTER, name), at, kind)
            seen = code.load_if(kind.of_lanes(LANES), place, mask)
            return seen if kind == DOUBLE else seen.converted("fpext", DOUBLES)

        variance = numbers("spread") + eps
        factor = 1.0 / code.call(f"llvm.sqrt.{DOUBLES.suffix}", DOUBLES, [variance])
        if has_weight:
            factor = factor * numbers("weight")
        moved = numbers("mean") * factor
        term = numbers("bias") - moved if has_bias else -moved
        for name, value in (("factors", factor), ("terms", term)):
            goal = code.at(code.argument(POINTER, name), at, FLOAT)
            code.store_if(value.converted("fptrunc", FLOATS), goal, mask)

    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    code.vectors(start, stop, 1, compute)
    arrays = ((POINTER, name) for name in ("factors", "terms", *names))
    return code.kernel("batch_norm", [(DOUBLE, "eps"), *arrays])


def moments(x: Array) -> tuple[Array, Array]:
    """Mean and variance of each channel over samples and space, float64.

    Sums are taken of the samples in order, each in 32 lanes that are added up in a fixed order.
    """
    x = x[...]  # which no other thread can change
    samples, channels = x.shape[:2]
    size = x[0, 0].size
    mean, variance = np.empty(channels), np.empty(channels)
    least = _LEAST // (size * samples) + 1
    run(
        *(kernel("channel_moments", (), _moments_text), channels, least),
        *(size, channels, samples, x, mean, variance),
    )
    return mean, variance


def moments_of_rows(x: Array) -> tuple[object, object]:
    """The same of float32 [samples, channels]; samples are added in order."""
    x = x[...]  # which no other thread can change
    samples, channels = x.shape
    mean, variance = np.empty(channels), np.empty(channels)
    blocks = -(-channels // LANES)
    moments = kernel("row_moments", (), _row_moments_text)
    run(moments, blocks, _LEAST // (LANES * samples) + 1, channels, samples, x, mean, variance)
    return mean, variance


def _row_moments_text(target: Target) -> str:
    """For blocks of channels from `start` to `stop`."""
    code = Code(target)
    channels, samples = (code.argument(INT64, name) for name in ("channels", "samples"))
    x, zero = code.argument(POINTER, "x"), code.constant(INT64, 0)
    count = code.spread(samples.converted("sitofp", DOUBLE))

    def average(first: Value, mask: Value, center: Value | None) -> Value:
        total = code.variable(code.constant(DOUBLES, 0.0))
        with code.counted(zero, samples) as sample:
            seen = code.load_if(FLOATS, code.at(x, sample * channels + first, FLOAT), mask)
            wide = seen.converted("fpext", DOUBLES)
            if center is not None:
                wide = wide - center
                total.set(code.multiply_add(wide, wide, total.now))
            else:
                total.set(total.now + wide)
        return total.now / count

    with code.units() as block:
        first = block * LANES
        mask = code.first(channels - first)
        mean = average(first, mask, None)
        code.store_if(mean, code.at(code.argument(POINTER, "mean"), first, DOUBLE), mask)
        spread = average(first, mask, mean)
        code.store_if(spread, code.at(code.argument(POINTER, "variance"), first, DOUBLE), mask)
    words = [(INT64, "channels"), (INT64, "samples")]
    return code.kernel(
        "row_moments", [*words, *((POINTER, name) for name in ("x", "mean", "variance"))]
    )


def follow(running: Array, now: Array, momentum: float, more: float) -> None:
    """Move float32 statistics of channels in one piece towards so much of those of the present,
    float64."""
    running = running[...]  # which no other thread can change
    if running.shape != now.shape or not running.flags.writeable:
        raise ValueError("these are no statistics that could be moved")
    run(
        *(kernel("follow", (), _follow_text), running.size, _LEAST),
        *(float(momentum), float(1 - momentum), float(more), now, running),
    )


def _follow_text(target: Target) -> str:
    """For channels from `start` to `stop`."""
    code = Code(target)
    numbers = ("share", "rest", "more")
    share, rest, more = (code.spread(code.argument(DOUBLE, name)) for name in numbers)
    now, running = code.argument(POINTER, "now"), code.argument(POINTER, "running")

    def move(places: list[Value], mask: Value | None) -> None:
        (at,) = places
        goal = code.at(running, at, FLOAT)
        new = code.load_if(DOUBLES, code.at(now, at, DOUBLE), mask)
        old = code.load_if(FLOATS, goal, mask).converted("fpext", DOUBLES)
        moved = share * (new * more) + rest * old
        code.store_if(moved.converted("fptrunc", FLOATS), goal, mask)

    code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 1, move)
    words = [*((DOUBLE, name) for name in numbers), (POINTER, "now"), (POINTER, "running")]
    return code.kernel("follow", words)


def _moments_text(target: Target) -> str:
    """For channels from `start` to `stop`."""
    code = Code(target)
    size, channels, samples = (
        code.argument(INT64, name) for name in ("size", "channels", "samples")
    )
    x, zero = code.argument(POINTER, "x"), code.constant(INT64, 0)
    count = (size * samples).converted("sitofp", DOUBLE)

    def average(channel: Value, center: Value | None) -> Value:
        """Of the numbers of a channel, or of their squared distances from a center."""
        sums = begun(code, DOUBLES, 0.0, WIDE_BESIDE)
        middle = None if center is None else code.spread(center)
        with code.counted(zero, samples) as sample:
            plane = code.at(x, (sample * channels + channel) * size, FLOAT)

            def add(places: list[Value], mask: Value | None) -> None:
                for total, at in zip(sums, places, strict=False):
                    seen = code.load_if(FLOATS, code.at(plane, at, FLOAT), mask)
                    wide = seen.converted("fpext", DOUBLES)
                    if middle is not None:
                        apart = wide - middle
                        wide = apart if mask is None else code.choose(mask, apart, 0.0)
                        total.set(code.multiply_add(wide, wide, total.now))
                    else:
                        total.set(total.now + wide)

            code.vectors(zero, size, WIDE_BESIDE, add)
        return folded(sums, add_up) / count

    with code.units() as channel:
        mean = average(channel, None)
        code.store(mean, code.at(code.argument(POINTER, "mean"), channel, DOUBLE))
        spread = average(channel, mean)
        code.store(spread, code.at(code.argument(POINTER, "variance"), channel, DOUBLE))
    counts = [(INT64, name) for name in ("size", "channels", "samples")]
    return code.kernel(
        "channel_moments", [*counts, *((POINTER, name) for name in ("x", "mean", "variance"))]
    )


def gradients(
    g: Array,
    x: Array,
    mean: Array,
    spread: Array,
    weight: Array | None,
    eps: float,
    *,
    of_batch: bool,
) -> tuple[Array, Array, Array]:
    """The gradients of `(x - mean) / sqrt(spread + eps) * weight + bias` in x, weight and bias from
    its own, g.

    g and x are float32, in one piece and of one shape; mean and spread are both float32 or float64,
    weight float32 or None, with an element for each channel.  If they are `of_batch`, they are
    those of x itself, and move with it.  Sums are taken as in `moments` and `moments_of_rows`.
    """
    g, x = g[...], x[...]  # which no other thread can change
    samples, channels = x.shape[:2]
    size = x[0, 0].size
    vectors = [np.ascontiguousarray(each[...]).reshape(-1) for each in (mean, spread)]
    vectors.append(vectors[0] if weight is None else np.ascontiguousarray(weight[...], F))
    if g.shape != x.shape or any(each.shape != (channels,) for each in vectors):
        raise ValueError("statistics and parameters do not fit the channels")
    made = np.empty(x.shape, F), np.empty(channels, F), np.empty(channels, F)
    is_of_rows = x.ndim == 2
    wide = "double" if vectors[0].dtype.itemsize == 8 else "float"
    form = int(is_of_rows), int(of_batch), wide, int(weight is not None)
    units, each = (-(-channels // LANES), LANES) if is_of_rows else (channels, size)
    run(
        kernel("batch_norm_gradients", form, lambda target: _gradients_text(target, *form)),
        *(units, _LEAST // (2 * each * samples) + 1),
        *(float(eps), size, channels, samples, g, x, *vectors, *made),
    )
    return made


_GRADIENTS: Final = ("g", "x", "mean", "spread", "weight", "of_x", "of_weight", "of_bias")


def _gradients_text(
    target: Target, is_of_rows: int, of_batch: int, wide: str, has_weight: int
) -> str:
    """For channels from `start` to `stop`, or for blocks of these whose elements lie together."""
    code = Code(target)
    made = _Gradients(code, Kind(wide), bool(of_batch), bool(has_weight))
    with code.units() as unit:
        if is_of_rows:
            made.block(unit * LANES)
        else:
            made.channel(unit)
    counts = [(DOUBLE, "eps"), *((INT64, name) for name in ("size", "channels", "samples"))]
    return code.kernel("batch_norm_gradients", [*counts, *((POINTER, n) for n in _GRADIENTS)])


class _Gradients:
    """The parts of the kernel."""

    def __init__(self, code: Code, wide: Kind, of_batch: bool, has_weight: bool) -> None:
        self.code, self.wide = code, wide
        self.of_batch, self.has_weight = of_batch, has_weight
        self.size, self.channels, self.samples = (
            code.argument(INT64, name) for name in ("size", "channels", "samples")
        )
        self.at = {name: code.argument(POINTER, name) for name in _GRADIENTS}
        self.zero = code.constant(INT64, 0)
        self.count = (self.size * self.samples).converted("sitofp", DOUBLE)

    def _numbers(self, name: str, place: Value, mask: Value | None) -> Value:
        return self.code.load_if(FLOATS, self.code.at(self.at[name], place, FLOAT), mask)

    def _of_channels(self, first: Value, lanes: int, mask: Value | None) -> list[Value]:
        """Means, scales and weights of so many channels, one if there are no lanes."""
        code, found = self.code, list[Value]()
        for name in ("mean", "spread", *["weight"] * self.has_weight):
            kind = FLOAT if name == "weight" else self.wide
            seen = code.load_if(kind.of_lanes(lanes), code.at(self.at[name], first, kind), mask)
            is_double = kind == DOUBLE
            found.append(seen if is_double else seen.converted("fpext", DOUBLE.of_lanes(lanes)))
        mean, spread, *rest = found
        eps = code.argument(DOUBLE, "eps")
        variance = spread + (code.spread(eps, lanes) if lanes else eps)
        root = code.call(f"llvm.sqrt.{variance.kind.suffix}", variance.kind, [variance])
        return [mean, 1.0 / root, *(rest or [code.constant(mean.kind, 1.0)])]

    def _finish(
        self, known: list[Value], sums: tuple[Value, Value], first: Value, mask: Value | None
    ) -> list[Value]:
        """Write the gradients of weights and biases; what those of x are made with, float32."""
        code, (mean, scale, weight), (plain, moved) = self.code, known, sums
        narrow = FLOAT.of_lanes(mean.kind.lanes)
        for name, value in (("of_weight", moved * scale), ("of_bias", plain)):
            place = code.at(self.at[name], first, FLOAT)
            code.store_if(value.converted("fptrunc", narrow), place, mask)
        count = code.spread(self.count, mean.kind.lanes) if mean.kind.lanes else self.count
        factor = scale * weight
        parts = (factor, -(factor * scale * scale * moved / count), -(factor * plain / count), mean)
        return [each.converted("fptrunc", narrow) for each in parts]

    def _made(self, place: Value, known: list[Value], mask: Value | None) -> None:
        """Write gradients of x."""
        code, (whole, tilt, shift, middle) = self.code, known
        found = self._numbers("g", place, mask)
        if self.of_batch:
            apart = self._numbers("x", place, mask) - middle
            found = code.multiply_add(found, whole, code.multiply_add(apart, tilt, shift))
        else:
            found = found * whole
        code.store_if(found, code.at(self.at["of_x"], place, FLOAT), mask)

    # ------------------------------------------------------------------------------ planes

    def channel(self, channel: Value) -> None:
        """A channel whose elements lie in planes, one for each sample."""
        code = self.code
        known = self._of_channels(channel, 0, None)
        sums = self._sums(channel, code.spread(known[0]))
        found = [code.spread(each) for each in self._finish(known, sums, channel, None)]

        def write(place: Value, places: list[Value], mask: Value | None) -> None:
            for each in places:
                self._made(place + each, found, mask)

        self._planes(channel, write, _BESIDE)

    def _planes(self, channel: Value, visit: Callable[..., None], beside: int) -> None:
        code = self.code
        with code.counted(self.zero, self.samples) as sample:
            place = (sample * self.channels + channel) * self.size
            code.vectors(self.zero, self.size, beside, partial(visit, place))

    def _sums(self, channel: Value, middle: Value) -> tuple[Value, Value]:
        """Of the gradients, and of their products with what x is away from the middle."""
        code = self.code
        plain, moved = (begun(code, DOUBLES, 0.0, WIDE_BESIDE) for _ in range(2))

        def add(place: Value, places: list[Value], mask: Value | None) -> None:
            for i, each in enumerate(places):
                wide, apart = (
                    self._numbers(name, place + each, mask).converted("fpext", DOUBLES)
                    for name in "gx"
                )
                plain[i].set(plain[i].now + wide)
                apart = apart - middle
                apart = apart if mask is None else code.choose(mask, apart, 0.0)
                moved[i].set(code.multiply_add(wide, apart, moved[i].now))

        self._planes(channel, add, WIDE_BESIDE)
        return folded(plain, add_up), folded(moved, add_up)

    # ------------------------------------------------------------------------------ rows

    def block(self, first: Value) -> None:
        """Channels whose elements lie side by side; samples are added in order."""
        code = self.code
        mask = code.first(self.channels - first)
        known = self._of_channels(first, LANES, mask)
        plain, moved = (code.variable(code.constant(DOUBLES, 0.0)) for _ in range(2))
        with code.counted(self.zero, self.samples) as sample:
            place = sample * self.channels + first
            wide, seen = (
                self._numbers(name, place, mask).converted("fpext", DOUBLES) for name in "gx"
            )
            plain.set(plain.now + wide)
            moved.set(code.multiply_add(wide, seen - known[0], moved.now))
        found = self._finish(known, (plain.now, moved.now), first, mask)
        with code.counted(self.zero, self.samples) as sample:
            self._made(sample * self.channels + first, found, mask)
