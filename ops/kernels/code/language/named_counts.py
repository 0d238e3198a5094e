"""Sizes and steps that a kernel is given in one array of int64, and calls by name."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ....memory.dtype import Array
from .text import INT64, Code, Value

__all__ = ["counts_of", "named_counts"]


def counts_of(*numbers: int) -> Array:
    """The array, which nobody can write to: calls that give it may be known beforehand."""
    found = np.array(numbers, np.int64)
    found.setflags(write=False)
    return found


def named_counts(code: Code, place: Value, names: Iterable[str]) -> dict[str, Value]:
    """What a kernel reads there, by the names of the numbers in their order."""
    return {
        name: code.load(INT64, code.at(place, index, INT64)) for index, name in enumerate(names)
    }
