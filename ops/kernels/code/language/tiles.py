"""Parts of matrix products: small blocks of the result, and vectors turned.

An element of a product is a chain of fused multiplications and additions along the depth, which is
cut into pieces of `CHUNK`; the sums of the pieces are added up in order.  No block's size enters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Final

from .target import Target
from .text import Code, Value, Variable

__all__ = ["CHUNK", "Tile", "add_products", "turned"]

CHUNK: Final = 256
"""Products of an element that are summed before the sum is added to those before."""


@dataclass(frozen=True, slots=True)
class Tile:
    """The block that fills a CPU's registers: rows, and vectors of columns."""

    rows: int
    vectors: int

    @staticmethod
    def of(target: Target) -> Tile:
        """32 registers of 64 bytes hold 24 sums; 16 of 32 bytes 12, six rows of two; shorter ones
        the fewest that keep busy."""
        if target.has_scaling:
            return Tile(8, 3)
        return Tile(6, 1) if target.has_fma else Tile(4, 1)


def add_products(
    code: Code,
    shape: tuple[int, int],
    left: Callable[[int, Value], Value],
    right: Callable[[int, Value], Value],
    depth: Value,
    multiply_add: Callable[[Value, Value, Value], Value],
    begin: Callable[[int, int], Value] | None = None,
) -> dict[tuple[int, int], Variable]:
    """The sums of a block of so many rows and vectors over the depth.

    `left` gives the element of a row, `right` a vector of the columns, at a depth; sums begin with
    zero unless `begin` says otherwise.
    """
    rows, vectors = range(shape[0]), range(shape[1])
    zero = code.constant(depth.kind, 0)
    sums: dict[tuple[int, int], Variable] = {}
    for place in product(rows, vectors):
        first = code.constant(right(0, zero).kind, 0.0) if begin is None else begin(*place)
        sums[place] = code.variable(first)
    with code.counted(zero, depth) as at:
        columns = [right(j, at) for j in vectors]
        for i in rows:
            one = code.spread(left(i, at), columns[0].kind.lanes)
            for j in vectors:
                sums[i, j].set(multiply_add(one, columns[j], sums[i, j].now))
    return sums


def turned(code: Code, lines: list[Value]) -> list[Value]:
    """As many vectors as they have lanes, rows for columns.

    Of fewer, n, which is a power of two, the i-th of the result holds runs of n elements: run j is
    what stood in all of them at `j * n + i`.
    """
    lines, lanes, half = list(lines), lines[0].kind.lanes, 1
    if lines[0].kind.element in ("float", "i32") and len(lines) > 2:
        lines, half = _turned_by_four(code, lines), 4
    while half < len(lines):
        low = [lane - half + lanes if lane & half else lane for lane in range(lanes)]
        high = [lane + lanes if lane & half else lane + half for lane in range(lanes)]
        for i, one in enumerate(lines):
            if not i & half:
                other = lines[i + half]
                lines[i] = code.shuffled(one, other, low)
                lines[i + half] = code.shuffled(one, other, high)
        half *= 2
    return lines


def _turned_by_four(code: Code, lines: list[Value]) -> list[Value]:
    """Squares of four words turned, by instructions that mix such groups of two vectors."""

    def mixed(one: Value, other: Value, chosen: tuple[int, ...]) -> Value:
        lanes = one.kind.lanes
        places = [
            first + (lane & 3) + (lane >> 2) * lanes
            for first in range(0, lanes, 4)
            for lane in chosen
        ]
        return code.shuffled(one, other, places)

    made: list[Value] = []
    for at in range(0, len(lines), 4):
        pairs = [
            [mixed(one, other, chosen) for chosen in ((0, 4, 1, 5), (2, 6, 3, 7))]
            for one, other in (lines[at : at + 2], lines[at + 2 : at + 4])
        ]
        for one, other in zip(*pairs, strict=True):
            made += [mixed(one, other, chosen) for chosen in ((0, 1, 4, 5), (2, 3, 6, 7))]
    return made
