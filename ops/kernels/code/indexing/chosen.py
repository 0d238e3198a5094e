"""Elements that are not zero, as masks choose them: how many, where, and which of another array.

A first kernel looks at each element once, makes a bit of it, 64 to a word, and counts those of each
block; nobody else can change the bits.  Others go through them, each block from where the ones
before it end: they write places, or take or put elements of arrays of as many (or as many rows).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run, unforeseen
from ..language.named_counts import counts_of
from ..language.target import Target
from ..language.text import DOUBLE, INT64, LANES, POINTER, Code, Kind, Value, Variable
from ..loading.objects import kernel

__all__ = ["Chosen", "chosen", "places", "put", "take"]

_WORD: Final = 64
_BYTE: Final = 8
_BLOCK: Final = 64 * _WORD
"""Elements of a block."""
_PER_THREAD: Final = 1 << 15
_READ: Final = {
    **{"f4": "float", "f8": "double", "i8": "i64", "i4": "i32", "i2": "i16"},
    **{"b1": "i8", "u1": "i8", "i1": "i8"},
}
_MOVED: Final = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


class Chosen(NamedTuple):
    """Which elements of an array of a shape are chosen."""

    shape: tuple[int, ...]
    bits: object
    begins: Array
    """How many are chosen before each block, and in all."""
    total: int


def chosen(x: Array) -> Chosen | None:
    """The elements of a contiguous array that are not zero; None for unusual dtypes."""
    x = x[...]  # which no other thread can change
    element = _READ.get(x.dtype.str[1:])
    if element is None:
        return None
    unforeseen()
    blocks = -(-x.size // _BLOCK)
    bits, begins = np.empty(blocks * (_BLOCK // _WORD), np.int64), np.empty(blocks + 1, np.int64)
    begins[0] = 0
    run(_kernel("mark", element), blocks, _PER_THREAD // _BLOCK, x.size, x, bits, begins)
    if blocks > 1:
        begins.cumsum(out=begins)
    return Chosen(x.shape, bits, begins, int(begins[-1]))


def places(marks: Chosen) -> Array:
    """The places of what is chosen, in order: a row for each dimension, of which there is one."""
    rank = len(marks.shape)
    out = np.empty((rank, marks.total), np.int64)
    words = marks.total, _sizes(marks.shape), _places_of_bits(), out
    _follow("places", str(rank), marks, *words)
    return out


@lru_cache(256)
def _sizes(shape: tuple[int, ...]) -> Array:
    return counts_of(*shape)


def take(marks: Chosen, x: Array) -> object | None:
    """Elements of a contiguous array whose dimensions begin with those of what was marked.

    None if an element's size is unusual, or the array does not have the mask's dimensions.
    """
    x = x[...]
    inner = x.shape[len(marks.shape) :]
    out = np.empty((marks.total, *inner), x.dtype)
    return out if _move("take", marks, x, out, 1) else None


def put(marks: Chosen, x: Array, source: Array) -> bool:
    """Write elements of another contiguous array to where they are chosen, in its order; one
    element alone goes everywhere.  Whether that is done: else an element's size is unusual.

    The source has at least as many elements as are written, or one where no rows are.
    """
    x, source = x[...], source[...]
    return _move("put", marks, x, source, int(source.size > 1))


def _move(operation: str, marks: Chosen, x: Array, other: object, step: int) -> bool:
    element = _MOVED.get(x.itemsize)
    if element is None or x.shape[: len(marks.shape)] != marks.shape:
        return False
    inner = 1
    for size in x.shape[len(marks.shape) :]:
        inner *= size
    _follow(operation, element if inner == 1 else f"{element} rows", marks, inner, step, x, other)
    return True


def _follow(operation: str, form: str, marks: Chosen, *words: object) -> None:
    if marks.total:
        following = _kernel(operation, form)
        blocks = len(marks.begins) - 1
        least = _PER_THREAD * blocks // (blocks * _BLOCK // 4 + marks.total) + 1
        run(following, blocks, least, marks.bits, marks.begins, *words)


@cache
def _kernel(*key: str) -> int:
    return kernel("chosen", key, lambda target: chosen_text(target, *key))


def chosen_text(target: Target, operation: str, form: str) -> str:
    """The module of a kernel: "mark" of elements, "places" of so many dimensions, "take" and "put"
    of elements or rows of them."""
    code = Code(target)
    if operation == "mark":
        _mark(code, Kind(form))
        words = [(INT64, "size"), *((POINTER, name) for name in ("x", "bits", "begins"))]
        return code.kernel("chosen", words)
    words = [(POINTER, "bits"), (POINTER, "begins")]
    if operation == "places":
        words += [(INT64, "count"), *((POINTER, name) for name in ("sizes", "bytes", "out"))]
        _write_places(code, int(form))
    else:
        words += [(INT64, "inner"), (INT64, "step"), (POINTER, "x"), (POINTER, "other")]
        element, _, rows = form.partition(" ")
        _move_all(code, operation, Kind(element), is_rows=bool(rows))
    return code.kernel("chosen", words)


# ------------------------------------------------------------------------------------- marking


def _mark(code: Code, element: Kind) -> None:
    size, zero = code.argument(INT64, "size"), code.constant(INT64, 0)
    x, bits = code.argument(POINTER, "x"), code.argument(POINTER, "bits")
    kind = element.of_lanes(_WORD)
    with code.units() as block:
        found = code.variable(zero)
        first = block * (_BLOCK // _WORD)

        def note(word: Value, seen: Value) -> None:
            made = seen.differs(0).bits(INT64)
            code.store(made, code.at(bits, word, INT64))
            found.set(found.now + code.call("llvm.ctpop.i64", INT64, [made]))

        beyond = code.lesser(first + _BLOCK // _WORD, (size + (_WORD - 1)).unsigned_shift(6))
        whole = code.lesser(first + _BLOCK // _WORD, size.unsigned_shift(6))
        with code.counted(first, whole) as word:
            note(word, code.load(kind, code.at(x, word << 6, element)))
        with code.when(whole < beyond):
            rest = code.first(size - (whole << 6), _WORD)
            note(whole, code.load_if(kind, code.at(x, whole << 6, element), rest))
        with code.counted(beyond, first + _BLOCK // _WORD) as word:
            code.store(zero, code.at(bits, word, INT64))
        code.store(found.now, code.at(code.argument(POINTER, "begins"), block + 1, INT64))


# ------------------------------------------------------------------------------------ following


class _Bits:
    """A loop over what is chosen in a block."""

    def __init__(self, code: Code, block: Value) -> None:
        self.code = code
        begins = code.argument(POINTER, "begins")
        self.number = code.variable(code.load(INT64, code.at(begins, block, INT64)))
        self.first = block * (_BLOCK // _WORD)

    def visit(self, each: Callable[[Value, Value], object]) -> None:
        """Call with the place of each, and which one it is."""
        code = self.code
        bits = code.argument(POINTER, "bits")
        with code.counted(self.first, self.first + _BLOCK // _WORD) as word:
            left = code.variable(code.load(INT64, code.at(bits, word, INT64)))
            with code.repeated(lambda: left.now.differs(0)):
                now = left.now
                lowest = code.call("llvm.cttz.i64", INT64, [now, code.constant(Kind("i1"), 1)])
                number = self.number.now
                each((word << 6) + lowest, number)
                self.number.set(number + 1)
                left.set(now & (now - 1))


@cache
def _places_of_bits() -> Array:
    """uint8 [256, 8]: the places of the bits that are set in a byte, in order."""
    bits = np.arange(256)[:, None] >> np.arange(_BYTE) & 1
    found = np.argsort(bits ^ 1, 1, kind="stable").astype(np.uint8)
    found.setflags(write=False)
    return found


def _write_places(code: Code, rank: int) -> None:
    """Write places in memory to the last row of the result, those of eight elements at a time;
    then divide them by sizes, a vector at a time."""
    out, count = code.argument(POINTER, "out"), code.argument(INT64, "count")
    bits, begins = code.argument(POINTER, "bits"), code.argument(POINTER, "begins")
    lines = [code.at(out, count * dim, INT64) for dim in range(rank)]
    sizes = [
        code.load(INT64, code.at(code.argument(POINTER, "sizes"), dim, INT64))
        for dim in range(rank)
    ]
    with code.units() as block:
        begin = code.load(INT64, code.at(begins, block, INT64))
        number, first = code.variable(begin), block * (_BLOCK // _WORD)
        with code.counted(first, first + _BLOCK // _WORD) as word:
            seen = code.load(INT64, code.at(bits, word, INT64))
            with code.when(seen.differs(0)):
                for byte in range(_WORD // _BYTE):
                    here = seen.unsigned_shift(_BYTE * byte) & 0xFF
                    _write_byte(code, here, (word << 6) + _BYTE * byte, number, lines[-1])
        if rank > 1:
            _divide(code, lines, sizes, (begin, number.now))


def _write_byte(code: Code, byte: Value, first: Value, number: Variable, line: Value) -> None:
    """Write the places of the bits of a byte, counted from one on."""
    table = code.at(code.argument(POINTER, "bytes"), byte * _BYTE, Kind("i8"))
    kind = INT64.of_lanes(_BYTE)
    places = code.load(Kind("i8", _BYTE), table).converted("zext", kind)
    found = code.call("llvm.ctpop.i64", INT64, [byte])
    now = number.now
    goal = code.at(line, now, INT64)
    code.store_if(places + code.spread(first, _BYTE), goal, code.first(found, _BYTE))
    number.set(now + found)


def _divide(code: Code, lines: list[Value], sizes: list[Value], ends: tuple[Value, Value]) -> None:
    """Make places in each dimension of places in memory, which are so few that float64 has them
    and their halves: none is so near to a multiple that the product could be beyond it."""
    wide, real = INT64.of_lanes(LANES), DOUBLE.of_lanes(LANES)
    shares = [code.spread(1.0 / size.converted("sitofp", DOUBLE)) for size in sizes]

    def visit(places: list[Value], mask: Value | None) -> None:
        for at in places:
            seen = code.load_if(wide, code.at(lines[-1], at, INT64), mask)
            for dim in range(len(lines) - 1, 0, -1):
                share = (seen.converted("sitofp", real) + 0.5) * shares[dim]
                above = share.converted("fptosi", wide)
                left = seen - above * code.spread(sizes[dim])
                code.store_if(left, code.at(lines[dim], at, INT64), mask)
                seen = above
            code.store_if(seen, code.at(lines[0], at, INT64), mask)

    code.vectors(*ends, 1, visit)


def _move_all(code: Code, operation: str, element: Kind, *, is_rows: bool) -> None:
    inner, step = code.argument(INT64, "inner"), code.argument(INT64, "step")
    x, other = code.argument(POINTER, "x"), code.argument(POINTER, "other")

    def move(source: Value, goal: Value, kind: Kind, mask: Value | None) -> None:
        code.store_if(code.load_if(kind, source, mask), goal, mask)

    def each(place: Value, number: Value) -> None:
        if not is_rows:
            one, two = code.at(x, place, element), code.at(other, number * step, element)
            ends = (one, two) if operation == "take" else (two, one)
            move(*ends, element, None)
            return

        def visit(columns: list[Value], mask: Value | None) -> None:
            for at in columns:
                one = code.at(x, place * inner + at, element)
                two = code.at(other, number * inner + at, element)
                if operation == "take":
                    move(one, two, element.of_lanes(LANES), mask)
                else:
                    move(two, one, element.of_lanes(LANES), mask)

        code.vectors(code.constant(INT64, 0), inner, 2, visit)

    with code.units() as block:
        _Bits(code, block).visit(each)
