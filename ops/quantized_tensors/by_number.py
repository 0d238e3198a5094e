"""Element by element on quantized tensors of 8 bits, without floats of their size.

What is made of one tensor is made once for each number there can be, and looked up.  Sums and
products of two are one kernel, which rounds where the way through floats does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import isfinite
from typing import Final

import numpy as np

from ..kernels import family, is_last_whole, unfilled, written_by_numpy
from ..memory.dims import expands_to
from ..memory.dtype import Array, DType, dtype_of
from ..memory.remembered import Recent
from .arrays import Quantizer, numbers_of, quantized_array, quantizer_of
from .steps import in_format, rounding

__all__ = ["looked_up", "of_two"]

F32: Final = np.float32
_KINDS: Final = ("quint8", "qint8")
_FAR: Final = 512.0
"""Numbers, less their zero point, are nearer to zero."""


def _is_of_bytes(array: Array) -> bool:
    """Whether an array holds numbers of 8 bits of one scale."""
    quantizer = getattr(array, "quantizer", None)
    if not isinstance(quantizer, Quantizer) or quantizer.axis is not None:
        return False
    return dtype_of(array).name in _KINDS


def looked_up(qx: Array, compute: Callable[[Array], Array], what: tuple[Hashable, ...]) -> Array:
    """What `compute` makes of a quantized tensor, of each element by itself, quantized again; that
    follows from dtype and quantizer and from `what` is computed."""
    if not _is_of_bytes(qx) or not qx.size:
        written_by_numpy()
        return compute(qx)
    numbers, kind, quantizer = numbers_of(qx), dtype_of(qx), quantizer_of(qx, "lookup")
    key = (kind.name, *quantizer.numbers, *what)
    table = _TABLES.get(key)
    if table is None:
        every = np.arange(256, dtype=np.uint8).view(numbers.dtype)
        table = _TABLES.keep(key, compute(quantized_array(every, kind, quantizer)))
        table.flags.writeable = False
    made = _found(numbers_of(table), numbers)
    return quantized_array(made, dtype_of(table), quantizer_of(table, "lookup"))


def _found(table: Array, numbers: Array) -> Array:
    """What a table has for numbers of 8 bits."""
    tables = family("quantized.tables")
    if tables is None:
        made = np.empty(numbers.shape, table.dtype)
        np.take(table, numbers.view(np.uint8), out=made, mode="clip")  # the quickest
        return made
    given = in_format(numbers[...])
    made = unfilled(given.shape, table.dtype, is_last=is_last_whole(given))
    tables.looked_up(table, given, made)
    return made


_TABLES: Final[Recent[tuple[Hashable, ...], Array]] = Recent(1000)
"""What is made of all numbers of 8 bits."""


def of_two(name: str, a: Array, b: Array, result: Quantizer, *, relu: bool) -> Array | None:
    """The sum or product ("add", "multiply") of values, or zero where that is less and there is a
    `relu`, quantized; None where no kernel does that."""
    if b.size > a.size:
        a, b = b, a  # which changes no bit of either
    kind = dtype_of(a)
    if not a.size or not (_is_of_bytes(a) and _is_of_bytes(b)) or kind != dtype_of(b):
        return None
    one, other = numbers_of(a), numbers_of(b)  # which no other thread can change
    if not expands_to(other.shape, one.shape):
        return None
    arrays, settings = family("elementwise.arrays"), _settings(a, b, result, kind)
    if arrays is None or settings is None:
        return None
    letter = arrays.LETTERS[one.dtype]
    steps: list[tuple[str, str, tuple[int, ...]]] = [
        *(("subtract", "f", (0, 2)), ("multiply", "f", (10, 3))),
        *(("subtract", "f", (1, 4)), ("multiply", "f", (12, 5))),
        (name, "f", (11, 13)),
    ]
    if relu:
        steps.append(("relu", "f", (14,)))
    first = 10 + len(steps)
    steps += rounding(first - 1, 6, first)
    made = arrays.evaluate(steps, letter, one, other, *settings, in_format=True)
    return quantized_array(made, kind, result)


def _settings(a: Array, b: Array, result: Quantizer, kind: DType) -> tuple[float, ...] | None:
    """What a kernel is told: zero points and scales of both, one over the result's scale, its zero
    point, and the ends of its numbers; None where something may come to be no number."""
    found = []
    for each in (a, b):
        scale, zero_point = quantizer_of(each, "pair").spread(0)
        found += [float(zero_point), float(scale)]
    with np.errstate(all="ignore"):
        inverse = float(F32(1) / F32(result.scale))
        largest = [F32(found[1] * _FAR), F32(found[3] * _FAR)]
        largest += [largest[0] * largest[1], F32(inverse)]
    if not all(isfinite(each) for each in largest):
        return None
    limits = np.iinfo(kind.numpy[0])
    ends = float(limits.min), float(limits.max)
    return *found, inverse, float(result.zero_point), *ends
