"""Two neighbours as bfloat16 in one word of 32 bits, for products of them (`Code.add_pairs`).

Neighbours stand side by side in a row (`along`), or one below the other (`across`); an odd number
is paired with zero.  Words are held in arrays of float32, which nobody may calculate with; the
lower half comes first.  Numbers are rounded to the nearest, ties to even, as ml_dtypes does it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from ....memory.dtype import Array, Dtype
from ..calls.run import run
from ..functions.formulas import rounded as nearest
from ..language.target import Target
from ..language.text import BYTE, FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = [
    "HALF",
    "across",
    "along",
    "beside",
    "joined",
    "nearest_half",
    "number_seen",
    "rounded",
    "seen_as_floats",
    "widened",
]

_LEAST: Final = 1 << 16
"""Numbers that are worth another thread."""
_PIECE: Final = 1 << 12
"""Numbers that are rounded by one thread."""
_COUNTS: Final = ("inner", "lines", "length", "outer_step", "inner_step", "line_step", "down", "n")
"""What a kernel is told: how the rows of words are counted, and the steps in bytes to what they are
made of; `down` lies between neighbours, of which there are `n` in a row or one below the other."""
_WORDS: Final = INT32.of_lanes(LANES)
HALF: Final = Kind("i16")
"""A bfloat16."""
_HALVES: Final = HALF.of_lanes(LANES)


def along(x: Array) -> Array:
    """Words [..., (n + 1) / 2] of float32 or bfloat16 [..., n]."""
    *shape, n = x.shape
    if x.itemsize == 2:
        return _as_it_lies(x)
    made = np.empty((*shape, (n + 1) // 2), np.float32)
    _fill("along", _of_four(x), 1, made)
    return made


def across(x: Array) -> Array:
    """Words [..., (n + 1) / 2, m] of float32 or bfloat16 [..., n, m]."""
    *shape, n, m = x.shape
    made = np.empty((*shape, (n + 1) // 2, m), np.float32)
    _fill("across" if x.itemsize == 4 else "halves across", _of_four(x), 2, made)
    return made


def rounded(x: Array, dtype: Dtype) -> Array:
    """float32 in one piece as `dtype`, which is bfloat16."""
    return _converted(x, np.empty(x.shape, dtype), "rounded")


def widened(x: Array) -> Array:
    """bfloat16 in one piece as float32."""
    return _converted(x, np.empty(x.shape, np.float32), "widened")


def _converted(x: Array, made: Array, form: str) -> Array:
    """Numbers of one kind in the place of those of another."""
    code = kernel("halves", (form,), partial(_converted_text, form=form))
    run(code, -(-x.size // _PIECE), _LEAST // _PIECE, x.size, x, made)
    return made


def _as_it_lies(x: Array) -> Array:
    """Neighbours of bfloat16 need no change."""
    if x.shape[-1] % 2:
        even = np.zeros((*x.shape[:-1], x.shape[-1] + 1), x.dtype)
        even[..., :-1] = x
        x = even
    return np.ascontiguousarray(x).view(np.float32)


def _of_four(x: Array) -> Array:
    """The same with four dimensions, the last of them in one piece."""
    if x.ndim > 4 or x.strides[-1] != x.itemsize or not x.flags.aligned:
        x = np.ascontiguousarray(x)
    return x.reshape(-1, *x.shape[-3:]) if x.ndim > 4 else x[(None,) * (4 - x.ndim)]


def _fill(form: str, x: Array, beside: int, made: Array) -> None:
    """Make the words; those in one place of three dimensions, `beside` rows, are a row of them."""
    if not made.size:
        return
    steps, words = x.strides, made.shape[-1]
    counts = x.shape[1], -(-x.shape[2] // beside), words
    strides = steps[0], steps[1], steps[2] * beside, steps[2], x.shape[2 if beside == 2 else 3]
    run(
        *(kernel("pairs", (form,), partial(_text, form=form)), made.size // words),
        *(max(1, _LEAST // words), *counts, *strides, x, made),
    )


def _text(target: Target, form: str) -> str:
    """For the rows of words."""
    code = Code(target)
    size = {name: code.argument(INT64, name) for name in _COUNTS}
    x, out = code.argument(POINTER, "x"), code.argument(POINTER, "out")
    with code.units() as row:
        rest, line = code.split(row, size["lines"])
        outer, inner = code.split(rest, size["inner"])
        far = outer * size["outer_step"] + inner * size["inner_step"] + line * size["line_step"]
        source = code.at(x, far, BYTE)
        goal = code.at(out, row * size["length"], INT32)
        if form == "along":
            _along(code, source, size["n"], goal)
        else:
            kind = FLOATS if form == "across" else _HALVES
            _across(code, source, size, line, goal, kind)
    names = [*((INT64, name) for name in _COUNTS), (POINTER, "x"), (POINTER, "out")]
    return code.kernel("pairs", names)


def _converted_text(target: Target, form: str) -> str:
    """For pieces of numbers."""
    code = Code(target)
    size, x, out = code.argument(INT64, "size"), *(code.argument(POINTER, n) for n in ("x", "out"))
    given, goal = (FLOAT, HALF) if form == "rounded" else (HALF, FLOAT)
    with code.units() as piece:
        first = piece * _PIECE

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                made = seen_as_floats(code, given, code.at(x, at, given), mask)
                if form == "rounded":
                    made = _rounded(code, made).unsigned_shift(16).converted("trunc", _HALVES)
                code.store_if(made, code.at(out, at, goal), mask)

        code.vectors(first, code.lesser(first + _PIECE, size), 2, visit)
    return code.kernel("halves", [(INT64, "size"), (POINTER, "x"), (POINTER, "out")])


def _along(code: Code, source: Value, n: Value, goal: Value) -> None:
    whole = n & -2 * LANES

    def join(at: Value, left: Value | None) -> None:
        low, high = (
            code.load_if(
                FLOATS,
                code.at(source, at + half * LANES, FLOAT),
                None if left is None else code.first(left - half * LANES),
            )
            for half in range(2)
        )
        mask = None if left is None else code.first((left + 1) >> 1)
        code.store_if(beside(code, low, high), code.at(goal, at >> 1, INT32), mask)

    with code.counted(code.constant(INT64, 0), whole, 2 * LANES) as at:
        join(at, None)
    with code.when(whole < n):
        join(whole, n - whole)


def _across(
    code: Code, source: Value, size: dict[str, Value], line: Value, goal: Value, kind: Kind
) -> None:
    number = kind.of_lanes(0)
    is_pair = line * 2 + 1 < size["n"]
    below = code.at(source, code.choose(is_pair, size["down"], 0), BYTE)

    def join(places: list[Value], mask: Value | None) -> None:
        for at in places:
            first = code.load_if(kind, code.at(source, at, number), mask)
            second = code.load_if(kind, code.at(below, at, number), mask)
            made = joined(code, first, code.choose(is_pair, second, 0))
            code.store_if(made, code.at(goal, at, INT32), mask)

    code.vectors(code.constant(INT64, 0), size["length"], 2, join)


def joined(code: Code, low: Value, high: Value) -> Value:
    """Two numbers in a word: float32 rounded, or the bits of bfloat16."""
    if low.kind == _HALVES:
        return low.converted("zext", _WORDS) | (high.converted("zext", _WORDS) << 16)
    if code.target.has_pairs and low.kind == FLOATS:
        halves = Kind("i16", 2 * LANES)
        made = _concatenated(code, low, high).bits(halves)
        order = [lane for pair in range(LANES) for lane in (pair, pair + LANES)]
        return code.shuffled(made, made, order).bits(_WORDS)
    upper = partial(_rounded, code)
    return upper(low).unsigned_shift(16) | (upper(high) & -65536)


def beside(code: Code, low: Value, high: Value) -> Value:
    """Words of neighbours in two vectors of float32."""
    if code.target.has_pairs:
        return _concatenated(code, low, high).bits(_WORDS)
    even, odd = (code.shuffled(low, high, range(i, 2 * LANES, 2)) for i in range(2))
    return joined(code, even, odd)


def _concatenated(code: Code, low: Value, high: Value) -> Value:
    """The bfloat16 of two vectors of float32, one behind the other; what is too small for a normal
    number becomes zero, as sums of pairs take it."""
    kind = Kind("bfloat", 2 * LANES)
    return code.call("llvm.x86.avx512bf16.cvtne2ps2bf16.512", kind, [high, low])


def nearest_half(code: Code, number: Value) -> Value:
    """The bfloat16 next to a vector of float32, as float32: where the CPU has an instruction for
    that, what is too small for a normal number becomes zero."""
    if not code.target.has_pairs or number.kind != FLOATS:
        return nearest("E", number)
    made = code.call("llvm.x86.avx512bf16.cvtneps2bf16.512", Kind("bfloat", LANES), [number])
    return (made.bits(_HALVES).converted("zext", _WORDS) << 16).bits(FLOATS)


def seen_as_floats(code: Code, kind: Kind, address: Value, mask: Value | None) -> Value:
    """A vector of float32 from numbers that are, or are `HALF`."""
    if kind != HALF:
        return code.load_if(FLOATS, address, mask)
    words = code.load_if(_HALVES, address, mask).converted("zext", _WORDS)
    return (words << 16).bits(FLOATS)


def number_seen(code: Code, kind: Kind, address: Value) -> Value:
    """A number of float32 from one that is, or is `HALF`."""
    number = code.load(kind, address)
    return number if kind != HALF else (number.converted("zext", INT32) << 16).bits(FLOAT)


def _rounded(code: Code, number: Value) -> Value:
    """The bits of float32 whose upper half is bfloat16."""
    bits = number.bits(_WORDS)
    near = bits + ((bits.unsigned_shift(16) & 1) + 0x7FFF)
    return code.choose(number.is_nan(), (bits & -(1 << 31)) | 0x7FC00000, near)
