"""Normal numbers that are made one by one, in double, of draws or out of a stream.

Functions are those of the C library, whose bits are promised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..language.target import Target
from ..language.text import DOUBLE, FLOAT, INT64, POINTER, Code, Value
from ..loading.c_functions import called_at, has_c_functions
from ..loading.objects import kernel
from .draws import addresses, unit_at

__all__ = ["are_normals", "is_possible", "single_normals"]

_FUNCTIONS: Final = ("log1p", "cos", "sin")


def is_possible() -> bool:
    """Whether the C library's functions can be called."""
    return has_c_functions(*_FUNCTIONS)


def single_normals(words: Array, mean: float, std: float) -> tuple[Array, float]:
    """Normal float64 of pairs of draws, two of each two: the second pair gives their radius, the
    first one their angle (G. Box and M. Muller).  The last one follows as it is without mean and
    `std`."""
    out, last = np.empty(words.size // 2, np.float64), np.empty(1, np.float64)
    table = addresses(*_FUNCTIONS)
    address = kernel("single_normals_of_draws", (), _single_text)
    run(address, 1, 1, out.size // 2, float(mean), float(std), table, words[...], out, last)
    return out, last.item()


def are_normals(stream: Array, mean: float, std: float, out: Array) -> bool:
    """Whether a stream (`kernels/flags.py`) held enough draws to fill float32 or float64 in one
    piece with the same; a number that is kept there is the first, an odd one out is kept."""
    letter, table, flag = out.dtype.char, addresses(*_FUNCTIONS), new_flag()
    address = kernel("normals_of_stream", (letter,), lambda target: _stream_text(target, letter))
    run(address, 1, 2, out.size, float(mean), float(std), table, stream, out, flag)
    return not flag[0]


def _single_text(target: Target) -> str:
    code = Code(target)
    words = [(INT64, "count"), (DOUBLE, "mean"), (DOUBLE, "std")]
    words += [(POINTER, name) for name in ("table", "draws", "out", "last")]
    count, mean, std, table, draws, out, last = (code.argument(*each) for each in words)
    functions = [code.load(POINTER, code.at(table, place, POINTER)) for place in range(3)]
    with code.counted(code.constant(INT64, 0), count) as pair:
        for place, made in enumerate(_pair(code, functions, draws, pair * 2)):
            code.store(made, last)
            code.store(code.multiply_add(made, std, mean), code.at(out, pair * 2 + place, DOUBLE))
    return code.kernel("single_normals_of_draws", words)


def _pair(code: Code, functions: Sequence[Value], draws: Value, at: Value) -> list[Value]:
    """Two normal numbers of two pairs of draws, the first of which is at a place."""
    log1p, cos, sin = functions
    level = called_at(log1p, [-unit_at(draws, at + 1)]) * -2.0
    radius = code.call("llvm.sqrt.f64", DOUBLE, [level])
    angle = unit_at(draws, at) * (2.0 * math.pi)
    return [radius * called_at(function, [angle]) for function in (cos, sin)]


def _stream_text(target: Target, letter: str) -> str:
    """Nothing is drawn, and the flag is set, where too few draws are left."""
    code = Code(target)
    words = [(INT64, "count"), (DOUBLE, "mean"), (DOUBLE, "std")]
    words += [(POINTER, name) for name in ("table", "stream", "out", "flag")]
    count, mean, std, table, stream, out, flag = (code.argument(*each) for each in words)
    functions = [code.load(POINTER, code.at(table, place, POINTER)) for place in range(3)]
    places = [code.at(stream, place, INT64) for place in range(7)]
    left, has, kept = (code.load(INT64, places[place]) for place in (1, 3, 4))
    zero, one = (code.constant(INT64, each) for each in (0, 1))
    missing = count - has
    drawn = (missing + 1) & -2
    taken = drawn * 2

    def give(number: Value, at: Value) -> None:
        made = code.multiply_add(number, std, mean)
        kind = FLOAT if letter == "f" else DOUBLE
        code.store(
            made.converted("fptrunc", FLOAT) if letter == "f" else made, code.at(out, at, kind)
        )

    with code.when(left < taken, rarely=True):
        code.store(one, flag)
    with code.when(left >= taken):
        source = code.load(POINTER, stream)
        code.store(code.at(source, taken, INT64), stream)
        for value, place in ((left - taken, 1), (taken, 2), (missing & 1, 3), (has, 5), (kept, 6)):
            code.store(value, places[place])
        with code.when(has > 0):
            give(kept.bits(DOUBLE), zero)
        with code.counted(zero, drawn, 2) as at:
            first, second = _pair(code, functions, source, at)
            give(first, has + at)
            code.store(second, places[4])
            with code.when(has + at + 1 < count):
                give(second, has + at + 1)
    return code.kernel("normals_of_stream", words)
