"""Bytes looked up in a table of 256: what is made of each number by itself."""

from __future__ import annotations

from functools import cache
from typing import Final

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import BYTE, INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["looked_up"]

_PER_THREAD: Final = 1 << 16
"""Bytes that are worth another thread."""
_WIDE: Final = 4 * LANES
"""Bytes of a vector, and of the parts of a table that an instruction looks into."""
_BYTES: Final = Kind("i8", _WIDE)


def looked_up(table: Array, x: Array, out: Array) -> None:
    """Write what a table has at the places that bytes say; both arrays lie alike, in one piece."""
    run(_kernel(), x.size, _PER_THREAD, table, x, out)


@cache
def _kernel() -> int:
    return kernel("looked_up", (), _text)


def _text(target: Target) -> str:
    """A kernel of `table, x, out` for a range of bytes."""
    code = Code(target)
    start, stop = code.argument(INT64, "start"), code.argument(INT64, "stop")
    table, x, out = (code.argument(POINTER, name) for name in ("table", "x", "out"))
    if target.has_byte_lookups:
        parts = [code.load(_BYTES, code.at(table, at * _WIDE, BYTE)) for at in range(4)]
        whole = start + ((stop - start) & -_WIDE)
        with code.counted(start, whole, _WIDE) as at:
            seen = code.load(_BYTES, code.at(x, at, BYTE))
            code.store(_found(code, parts, seen), code.at(out, at, BYTE))
        with code.when(whole < stop):
            mask = code.first(stop - whole, _WIDE)
            seen = code.load_if(_BYTES, code.at(x, whole, BYTE), mask)
            code.store_if(_found(code, parts, seen), code.at(out, whole, BYTE), mask)
    else:
        with code.counted(start, stop) as at:
            place = code.load(BYTE, code.at(x, at, BYTE)).converted("zext", INT64)
            code.store(code.load(BYTE, code.at(table, place, BYTE)), code.at(out, at, BYTE))
    return code.kernel("looked_up", [(POINTER, name) for name in ("table", "x", "out")])


def _found(code: Code, parts: list[Value], seen: Value) -> Value:
    """What both halves of the table have, chosen by the highest bit."""
    name = "llvm.x86.avx512.vpermi2var.qi.512"
    halves = [code.call(name, _BYTES, [one, seen, other]) for one, other in (parts[:2], parts[2:])]
    return code.choose(seen < 0, halves[1], halves[0])
