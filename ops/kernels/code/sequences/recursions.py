"""Filters of waveforms, whose outputs depend on earlier ones; a range is one of waveforms."""

from __future__ import annotations

from functools import cache
from typing import Final

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import DOUBLE, INT64, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["filtered", "overdriven"]

_ELEMENTS: Final = {"f4": "float", "f8": "double"}
_PER_THREAD: Final = 1 << 13
"""Samples that are worth another thread."""


def filtered(inputs: Array, coefficients: Array, outputs: object) -> None:
    """Outputs (batch, channel, order - 1 + time) of inputs (batch, channel, time).

    Each is an input without the products of the `order` outputs that end with it and those of the
    channel's coefficients (channel, order).  All are contiguous, of float32 or float64.
    """
    batch, channels, size = inputs.shape
    address = _kernel("filter", _ELEMENTS[inputs.dtype.str[1:]])
    least = _PER_THREAD // max(1, size) + 1
    order = coefficients.shape[1]
    run(address, batch * channels, least, size, channels, order, inputs, coefficients, outputs)


def overdriven(
    waveform: Array, temp: object, last_in: object, last_out: object, out: object
) -> None:
    """Half of `waveform` (channel, time) and three quarters of what `temp` leaves through a filter.

    `last_in` and `last_out` (channel,) are what the filter remembers.  All are contiguous.
    """
    channels, size = waveform.shape
    address = _kernel("overdrive", _ELEMENTS[waveform.dtype.str[1:]])
    least = _PER_THREAD // max(1, size) + 1
    run(address, channels, least, size, waveform, temp, last_in, last_out, out)


@cache
def _kernel(*key: str) -> int:
    return kernel("recursion", key, lambda target: recursion_text(target, *key))


def recursion_text(target: Target, form: str, element: str) -> str:
    """The module of a filter of waveforms."""
    code = Code(target)
    if form == "filter":
        _filter(code, Kind(element))
        sizes, arrays = ["size", "channels", "order"], ["x", "by", "out"]
    else:
        _overdrive(code, Kind(element))
        sizes, arrays = ["size"], ["x", "temp", "last_in", "last_out", "out"]
    words = [*((INT64, name) for name in sizes), *((POINTER, name) for name in arrays)]
    return code.kernel("recursion", words)


def _filter(code: Code, element: Kind) -> None:
    size, channels, order = (code.argument(INT64, name) for name in ("size", "channels", "order"))
    x, by, out = (code.argument(POINTER, name) for name in ("x", "by", "out"))
    zero = code.constant(INT64, 0)
    with code.units() as row:
        known = code.at(out, row * (size + order - 1), element)
        _, channel = code.split(row, channels)
        factors = code.at(by, channel * order, element)
        with code.counted(zero, size) as time:
            sample = code.variable(code.load(element, code.at(x, row * size + time, element)))
            with code.counted(zero, order) as place:
                before = code.load(element, code.at(known, time + place, element))
                factor = code.load(element, code.at(factors, place, element))
                sample.set(sample.now - before * factor)
            code.store(sample.now, code.at(known, time + order - 1, element))


def _overdrive(code: Code, element: Kind) -> None:
    def wide(value: Value) -> Value:
        return value if element == DOUBLE else value.converted("fpext", DOUBLE)

    def narrow(value: Value) -> Value:
        return value if element == DOUBLE else value.converted("fptrunc", element)

    def place(name: str, index: Value) -> Value:
        return code.at(code.argument(POINTER, name), index, element)

    size = code.argument(INT64, "size")
    with code.units() as row:
        last_in = code.variable(code.load(element, place("last_in", row)))
        last_out = code.variable(code.load(element, place("last_out", row)))
        with code.counted(code.constant(INT64, 0), size) as time:
            at = row * size + time
            seen = code.load(element, place("temp", at))
            step = wide(seen - last_in.now)
            last_out.set(narrow(step + wide(last_out.now) * 0.995))
            last_in.set(seen)
            own = wide(code.load(element, place("x", at)))
            code.store(narrow(own * 0.5 + wide(last_out.now) * 0.75), place("out", at))
        code.store(last_in.now, place("last_in", row))
        code.store(last_out.now, place("last_out", row))
