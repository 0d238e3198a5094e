"""The innermost piece of convolutions: a tile of sums kept in vector registers.

A tile is a few rows of weights times some vectors of neighbouring columns.  What column a weight
meets is told by a table of offsets, so that no matrix of columns is ever made.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils

from .compile import generated

__all__ = ["LANES", "TALL", "WIDE", "tiles"]

_FLOAT = ir.FloatType()
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_FUSED = ("contract",)


def _has(feature: str) -> bool:
    return bool(binding.get_host_cpu_features().get(feature, False))


LANES = 16 if _has("avx512f") else 8 if _has("avx") else 4
"""Numbers in a vector."""

TALL = 8 if _has("avx512f") or not _has("avx") else 4
"""Rows of the tallest tile: it has to fit into the registers."""

WIDE = 3
"""Vectors of the widest tile."""

_VECTOR = ir.VectorType(_FLOAT, LANES)


class _Tile:
    """The writing of one tile's code: addresses and distances in bytes are 64-bit numbers."""

    def __init__(self, builder: Any, rows: int, vectors: int, arguments: Any) -> None:
        self.builder = builder
        self.rows, self.vectors = rows, vectors
        self.weights, self.weight_step, self.count, self.seen = arguments[:4]
        self.offsets, self.bias, self.made, self.made_step = arguments[4:]

    def _at(self, base: Any, distance: Any, kind: Any) -> Any:
        address = self.builder.add(base, distance)
        return self.builder.inttoptr(address, kind.as_pointer())

    def _load(self, base: Any, distance: Any, kind: Any, align: int) -> Any:
        return self.builder.load(self._at(base, distance, kind), align=align)

    def _spread(self, number: Any) -> Any:
        first = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, _INT32(0))
        mask = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
        return self.builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), mask)

    def write(self) -> None:
        """Start with the bias, add up over the offsets, store."""
        builder = self.builder
        sums = [[self._place() for _ in range(self.vectors)] for _ in range(self.rows)]
        for i, row in enumerate(sums):
            start = self._spread(self._load(self.bias, _INT64(4 * i), _FLOAT, 4))
            for place in row:
                builder.store(start, place)
        bases = [
            builder.add(self.weights, builder.mul(self.weight_step, _INT64(i)))
            for i in range(self.rows)
        ]
        with cgutils.for_range(builder, self.count) as loop:
            self._step(loop.index, bases, sums)
        for i, row in enumerate(sums):
            base = builder.add(self.made, builder.mul(self.made_step, _INT64(i)))
            for v, place in enumerate(row):
                target = self._at(base, _INT64(4 * LANES * v), _VECTOR)
                builder.store(builder.load(place), target, align=4)

    def _place(self) -> Any:
        return cgutils.alloca_once(self.builder, _VECTOR)  # type: ignore[no-untyped-call]

    def _step(self, index: Any, bases: list[Any], sums: list[list[Any]]) -> None:
        builder = self.builder
        offset = self._load(self.offsets, builder.mul(index, _INT64(8)), _INT64, 8)
        base = builder.add(self.seen, offset)
        columns = [self._load(base, _INT64(4 * LANES * v), _VECTOR, 4) for v in range(self.vectors)]
        distance = builder.mul(index, _INT64(4))
        for row, weights in zip(sums, bases, strict=True):
            factor = self._spread(self._load(weights, distance, _FLOAT, 4))
            for column, place in zip(columns, row, strict=True):
                product = builder.fmul(factor, column, flags=_FUSED)
                builder.store(builder.fadd(builder.load(place), product, flags=_FUSED), place)


def _tile(rows: int, vectors: int) -> Any:
    def tile(
        context: Any,
        weights: Any,
        weight_step: Any,
        count: Any,
        seen: Any,
        offsets: Any,
        bias: Any,
        made: Any,
        made_step: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _Tile(builder, rows, vectors, arguments).write()
            return context.get_dummy_value()

        return types.void(*(types.int64,) * 8), generate

    return generated(tile)


def tiles() -> dict[tuple[int, int], Any]:
    """The tiles by rows and vectors."""
    made = {(r, v): _tile(r, v) for r in (8, 4, 1) for v in range(1, WIDE + 1)}
    return made | {(1, 8): _tile(1, 8)}
