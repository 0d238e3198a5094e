"""Draws of mt19937 (Matsumoto and Nishimura 1998), sixteen words at a time."""

from __future__ import annotations

from functools import cache
from typing import Final

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run, unforeseen
from ..language.target import Target
from ..language.text import INT32, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["are_taken", "draw"]

_WORDS: Final = 624
_AHEAD: Final = 397
"""How far ahead the word lies that another is mixed with."""
_BACK: Final = _WORDS - _AHEAD
_MANY: Final = 1 << 14
"""Draws that are worth letting other threads run."""


def draw(state: Array, out: Array) -> None:
    """Fill uint64 in one piece with draws of 32 bits.

    Args:
        state: the engine's words and how many of them are used, uint32, which are written.
    """
    unforeseen()
    run(_kernel(), 1, 1 if out.size >= _MANY else 2, out.size, state, out)


def are_taken(stream: Array, out: Array) -> bool:
    """Whether a stream (`kernels/flags.py`) held as many draws as a vector of uint64, which gets
    them; it goes on behind them."""
    kernel_of_stream, flag = kernel("draws_of_stream", (), _taken_text), new_flag()
    run(kernel_of_stream, 1, 2, out.size, stream, out, flag)
    return not flag[0]


def _taken_text(target: Target) -> str:
    """Nothing is taken, and the flag is set, where too few are left."""
    code = Code(target)
    words = [(INT64, "count"), *((POINTER, name) for name in ("stream", "out", "flag"))]
    count, stream, out, flag = (code.argument(*each) for each in words)
    left_at, last_at = (code.at(stream, place, INT64) for place in (1, 2))
    left, zero = code.load(INT64, left_at), code.constant(INT64, 0)
    with code.when(left < count, rarely=True):
        code.store(code.constant(INT64, 1), flag)
    with code.when(left >= count):
        source = code.load(POINTER, stream)

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                drawn = code.load_if(_DRAWS, code.at(source, at, INT64), mask)
                code.store_if(drawn, code.at(out, at, INT64), mask)

        code.vectors(zero, count, 1, visit)
        code.store(code.at(source, count, INT64), stream)
        code.store(left - count, left_at)
        code.store(count, last_at)
        for place in (3, 4):
            kept = code.load(INT64, code.at(stream, place, INT64))
            code.store(kept, code.at(stream, place + 2, INT64))
    return code.kernel("draws_of_stream", words)


_DRAWS: Final = INT64.of_lanes(LANES)


@cache
def _kernel() -> int:
    return kernel("draws_of_engine", (), _text)


def _text(target: Target) -> str:
    code = Code(target)
    words = [(INT64, "count"), (POINTER, "state"), (POINTER, "out")]
    count, state, out = (code.argument(*each) for each in words)
    zero = code.constant(INT64, 0)
    used_place = code.at(state, _WORDS, INT32)
    used = code.variable(code.load(INT32, used_place).converted("zext", INT64))
    done = code.variable(zero)
    with code.repeated(lambda: done.now < count):
        with code.when(used.now >= _WORDS):
            _renew(code, state)
            used.set(zero)
        begin, first = done.now, used.now
        taken = code.lesser(count - begin, _WORDS - first)
        source, goal = code.at(state, first, INT32), code.at(out, begin, INT64)
        whole = taken & -LANES
        with code.counted(zero, whole, LANES) as at:
            _temper(code, source, goal, at, LANES)
        with code.counted(whole, taken) as at:
            _temper(code, source, goal, at, 0)
        done.set(begin + taken)
        used.set(first + taken)
    code.store(used.now.converted("trunc", INT32), used_place)
    return code.kernel("draws_of_engine", words)


def _temper(code: Code, source: Value, goal: Value, at: Value, lanes: int) -> None:
    """Make draws of words as they lie."""
    y = code.load(INT32.of_lanes(lanes), code.at(source, at, INT32))
    y = y ^ y.unsigned_shift(11)
    y = y ^ ((y << 7) & _signed(0x9D2C5680))
    y = y ^ ((y << 15) & _signed(0xEFC60000))
    y = y ^ y.unsigned_shift(18)
    code.store(y.converted("zext", INT64.of_lanes(lanes)), code.at(goal, at, INT64))


def _renew(code: Code, state: Value) -> None:
    """Make the next words out of these; a vector is read before any of it is written."""
    parts = ((0, _BACK, _AHEAD), (_BACK, _WORDS - 1, -_BACK))
    for start, stop, other in parts:
        whole = start + (stop - start) // LANES * LANES
        for begin, end, lanes in ((start, whole, LANES), (whole, stop, 0)):
            low, high = (code.constant(INT64, each) for each in (begin, end))
            with code.counted(low, high, max(lanes, 1)) as at:
                _mix(code, state, at, at + 1, at + other, INT32.of_lanes(lanes))
    last, first, before = (code.constant(INT64, each) for each in (_WORDS - 1, 0, _AHEAD - 1))
    _mix(code, state, last, first, before, INT32)


def _mix(code: Code, state: Value, at: Value, behind: Value, other: Value, kind: Kind) -> None:
    own, following, mixed = (
        code.load(kind, code.at(state, place, INT32)) for place in (at, behind, other)
    )
    y = (own & _signed(0x80000000)) | (following & 0x7FFFFFFF)
    odd = -(following & 1) & _signed(0x9908B0DF)
    code.store(mixed ^ y.unsigned_shift(1) ^ odd, code.at(state, at, INT32))


def _signed(word: int) -> int:
    """A word as LLVM's text has it."""
    return word - (1 << 32) if word >> 31 else word
