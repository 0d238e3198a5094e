"""Sizes of arguments that a compiled function takes: numbers between bounds, with names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..ops.memory.dtype import Array
from .known import CannotCompile

__all__ = ["Described", "Size", "combinations", "shown", "sizes_of"]

MOST: Final = 4096
"""Programs that are made for the values of all sizes: each has a row of numbers in the object."""


@dataclass(frozen=True)
class Size:
    """A size that a caller says, from `low` to `high`, both among them."""

    name: str
    low: int
    high: int

    @property
    def count(self) -> int:
        """How many values it has."""
        return self.high - self.low + 1

    @property
    def refusal(self) -> str:
        """The text of the failure for other values."""
        return f"the size `{self.name}` is not between {self.low} and {self.high}"


@dataclass(frozen=True)
class Described:
    """An argument by its sizes and dtype; elements of examples are random, or 0 where whole."""

    sizes: tuple[int | Size, ...]
    dtype: str

    def example(self, values: Mapping[Size, int]) -> Array:
        """An array for values of the sizes."""
        shape = tuple(each if isinstance(each, int) else values[each] for each in self.sizes)
        kind = np.dtype(self.dtype)
        if kind.kind != "f":
            return np.zeros(shape, kind)
        return np.random.default_rng(0).standard_normal(shape).astype(kind)


def sizes_of(arguments: Sequence[object]) -> list[Size]:
    """The sizes of all arguments, each once.

    Raises:
        CannotCompile: one has two pairs of bounds, or there are too many values.
    """
    found: dict[str, Size] = {}
    for argument in arguments:
        for size in argument.sizes if isinstance(argument, Described) else ():
            if isinstance(size, Size) and found.setdefault(size.name, size) != size:
                raise CannotCompile(f"the size `{size.name}` has two pairs of bounds")
    sizes = list(found.values())
    if (count := math.prod(each.count for each in sizes)) > MOST:
        raise CannotCompile(f"the sizes have {count} values together, more than {MOST}")
    return sizes


def combinations(sizes: Sequence[Size]) -> Iterator[dict[Size, int]]:
    """All values of sizes, the last of which changes first."""
    for values in itertools.product(*(range(each.low, each.high + 1) for each in sizes)):
        yield dict(zip(sizes, values, strict=True))


def shown(numbers: Sequence[int], sizes: Sequence[Size]) -> str:
    """What gives a dimension's numbers, one for each combination, as a formula of sizes.

    It is a number, `size`, `3 * size + 1`, `size * other`, or "" where there is none of these.
    """
    if len(set(numbers)) == 1:
        return str(numbers[0])
    values = list(combinations(sizes))
    for size in sizes:
        pairs = {row[size]: number for row, number in zip(values, numbers, strict=True)}
        if all(pairs[row[size]] == number for row, number in zip(values, numbers, strict=True)):
            return _line(size.name, pairs)
    for one, other in itertools.combinations(sizes, 2):
        if all(r[one] * r[other] == n for r, n in zip(values, numbers, strict=True)):
            return f"{one.name} * {other.name}"
    return ""


def _line(name: str, pairs: Mapping[int, int]) -> str:
    """A formula of the first degree for numbers of one size."""
    (first, start), (_, second), *_ = sorted(pairs.items())
    by = second - start
    behind = start - by * first
    if any(number != by * value + behind for value, number in pairs.items()):
        return ""
    text = name if by == 1 else f"{by} * {name}"
    return text if not behind else f"{text} {'+' if behind > 0 else '-'} {abs(behind)}"
