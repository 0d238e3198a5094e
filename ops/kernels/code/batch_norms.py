"""Normalisation of channels, float32 [samples, channels, space] in one piece.

Factors and terms are computed in double precision for each channel and rounded once; each element
is then one fused product and sum.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .objects import kernel
from .run import run
from .target import Target
from .text import DOUBLE, FLOAT, FLOATS, INT64, LANES, POINTER, Code, Kind, Value

__all__ = ["moments", "normalized"]

F: Final = np.float32
_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""
_BESIDE: Final = 4
_DOUBLES: Final = Kind("double", LANES)


def normalized(x: Any, mean: Any, spread: Any, weight: Any, bias: Any, eps: float) -> Any:
    """`(x - mean) / sqrt(spread + eps) * weight + bias`.

    All four have an element for each channel; weight and bias may be None.  Mean and spread are
    float32 or float64, the others float32.
    """
    x = x[...]  # which no other thread can change
    channels, size = x.shape[1], x[0, 0].size
    wide = mean.dtype.itemsize == 8
    kind = np.float64 if wide else F
    vectors = [np.ascontiguousarray(each, kind).reshape(-1) for each in (mean, spread)]
    given = [each for each in (weight, bias) if each is not None]
    vectors += [np.ascontiguousarray(each, F).reshape(-1) for each in given]
    if any(each.shape != (channels,) for each in vectors):
        raise ValueError("statistics and parameters do not fit the channels")
    out = np.empty(x.shape, F)
    form = ("double" if wide else "float", int(weight is not None), int(bias is not None))
    normal = kernel("batch_norm", form, lambda target: _norm_text(target, *form))
    run(
        normal,
        x.shape[0] * channels,
        _LEAST // size + 1,
        size,
        channels,
        float(eps),
        x,
        out,
        *vectors,
    )
    return out


def _norm_text(target: Target, element: str, has_weight: int, has_bias: int) -> str:
    """For planes from `start` to `stop`."""
    code = Code(target)
    size, channels, eps = (
        *(code.argument(INT64, name) for name in ("size", "channels")),
        code.argument(DOUBLE, "eps"),
    )
    names = ["mean", "spread", *["weight"] * has_weight, *["bias"] * has_bias]

    def number(name: str, channel: Value) -> Value:
        kind = Kind(element) if name in ("mean", "spread") else FLOAT
        seen = code.load(kind, code.at(code.argument(POINTER, name), channel, kind))
        return seen if kind == DOUBLE else seen.converted("fpext", DOUBLE)

    with code.counted(code.argument(INT64, "start"), code.argument(INT64, "stop")) as plane:
        _, channel = code.split(plane, channels)
        variance = number("spread", channel) + eps
        factor = 1.0 / code.call("llvm.sqrt.f64", DOUBLE, [variance])
        if has_weight:
            factor = factor * number("weight", channel)
        moved = number("mean", channel) * factor
        term = number("bias", channel) - moved if has_bias else -moved
        factors, terms = (code.spread(each.converted("fptrunc", FLOAT)) for each in (factor, term))
        source, goal = (
            code.at(code.argument(POINTER, name), plane * size, FLOAT) for name in ("x", "out")
        )

        def compute(places: list[Value], mask: Value | None) -> None:
            for at in places:
                seen = code.load_if(FLOATS, code.at(source, at, FLOAT), mask)
                made = code.multiply_add(seen, factors, terms)
                code.store_if(made, code.at(goal, at, FLOAT), mask)

        code.vectors(code.constant(INT64, 0), size, _BESIDE, compute)
    counts = [(INT64, "size"), (INT64, "channels"), (DOUBLE, "eps")]
    return code.kernel("batch_norm", [*counts, *((POINTER, n) for n in ("x", "out", *names))])


def moments(x: Any) -> tuple[Any, Any]:
    """Mean and variance of each channel over samples and space, float64.

    Sums are taken of the samples in order, each in 64 lanes that are added up in a fixed order.
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
        sums = [code.variable(code.constant(_DOUBLES, 0.0)) for _ in range(_BESIDE)]
        middle = None if center is None else code.spread(center)
        with code.counted(zero, samples) as sample:
            plane = code.at(x, (sample * channels + channel) * size, FLOAT)

            def add(places: list[Value], mask: Value | None) -> None:
                for total, at in zip(sums, places, strict=False):
                    seen = code.load_if(FLOATS, code.at(plane, at, FLOAT), mask)
                    wide = seen.converted("fpext", _DOUBLES)
                    if middle is not None:
                        apart = wide - middle
                        wide = apart if mask is None else code.choose(mask, apart, 0.0)
                        total.set(code.multiply_add(wide, wide, total.now))
                    else:
                        total.set(total.now + wide)

            code.vectors(zero, size, _BESIDE, add)
        first, second, third, fourth = (each.now for each in sums)
        lanes = (first + second) + (third + fourth)
        return code.folded(lanes, lambda one, other: one + other) / count

    with code.counted(code.argument(INT64, "start"), code.argument(INT64, "stop")) as channel:
        mean = average(channel, None)
        code.store(mean, code.at(code.argument(POINTER, "mean"), channel, DOUBLE))
        spread = average(channel, mean)
        code.store(spread, code.at(code.argument(POINTER, "variance"), channel, DOUBLE))
    counts = [(INT64, name) for name in ("size", "channels", "samples")]
    return code.kernel(
        "channel_moments", [*counts, *((POINTER, name) for name in ("x", "mean", "variance"))]
    )
