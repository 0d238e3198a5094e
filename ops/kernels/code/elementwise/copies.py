"""Copies of contiguous arrays, which calls that are learned may begin with."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel

__all__ = ["copied"]

_PER_THREAD: Final = 1 << 15
_BYTES: Final = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


def copied(x: Array) -> Array | None:
    """A copy of a contiguous array; None if an element's size is unusual."""
    x = x[...]  # which no other thread can change
    element = _BYTES.get(x.itemsize)
    if element is None:
        return None
    out = np.empty(x.shape, x.dtype)
    run(_kernel(element), x.size, _PER_THREAD, x, out)
    return out


@cache
def _kernel(element: str) -> int:
    return kernel("copies", (element,), lambda target: copies_text(target, element))


def copies_text(target: Target, element: str) -> str:
    """The module of a kernel, whose range is one of elements."""
    code, kind = Code(target), Kind(element)
    x, out = code.argument(POINTER, "x"), code.argument(POINTER, "out")

    def visit(places: list[Value], mask: Value | None) -> None:
        wide = kind.of_lanes(LANES)
        seen = [code.load_if(wide, code.at(x, at, kind), mask) for at in places]
        for at, value in zip(places, seen, strict=True):
            code.store_if(value, code.at(out, at, kind), mask)

    code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 4, visit)
    return code.kernel("copies", [(POINTER, "x"), (POINTER, "out")])
