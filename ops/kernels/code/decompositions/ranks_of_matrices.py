"""What counts as zero among singular values: ranks of matrices, and one over what does not."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import INT64, POINTER, Code, Kind
from ..loading.objects import kernel

__all__ = ["inverses", "ranks"]

_ELEMENTS: Final = {"f4": "float", "f8": "double"}
_PER_THREAD: Final = 1 << 15
"""Elements that are worth another thread."""


def ranks(values: Array, absolute: float, relative: float) -> Array:
    """How many of the values [matrices, values] are larger in size than `absolute`, and than
    `relative` of the largest."""
    out = np.empty(len(values), np.int64)
    _done("ranks", values, absolute, relative, out)
    return out


def inverses(values: Array, absolute: float, relative: float) -> Array:
    """One over such values, 0 for others."""
    out = np.empty(values.shape, values.dtype)
    _done("inverses", values, absolute, relative, out)
    return out


def _done(what: str, values: Array, absolute: float, relative: float, out: Array) -> None:
    count, size = values.shape
    address = _kernel(what, _ELEMENTS[values.dtype.str[1:]])
    bounds = np.array([absolute, relative], values.dtype)
    bounds.setflags(write=False)
    run(address, count, _PER_THREAD // size + 1, size, values, bounds, out)


@cache
def _kernel(what: str, element: str) -> int:
    return kernel(f"singular_{what}", (element,), lambda target: _text(target, what, Kind(element)))


def _text(target: Target, what: str, element: Kind) -> str:
    code = Code(target)
    size = code.argument(INT64, "size")
    values, bounds, out = (code.argument(POINTER, name) for name in ("values", "bounds", "out"))
    absolute, relative = (code.load(element, code.at(bounds, place, element)) for place in range(2))
    zero = code.constant(INT64, 0)
    with code.units() as matrix:
        begin = code.at(values, matrix * size, element)
        most, number = code.variable(code.constant(element, 0.0)), code.variable(zero)
        with code.counted(zero, size) as place:
            seen = code.absolute(code.load(element, code.at(begin, place, element)))
            most.set(code.choose((seen > most.now) | seen.is_nan(), seen, most.now))
        share = relative * most.now
        bound = code.choose(share > absolute, share, absolute)
        with code.counted(zero, size) as place:
            seen = code.load(element, code.at(begin, place, element))
            is_more = code.absolute(seen) > bound
            if what == "ranks":
                number.set(code.choose(is_more, number.now + 1, number.now))
            else:
                made = code.choose(is_more, 1.0 / seen, 0.0)
                code.store(made, code.at(out, matrix * size + place, element))
        if what == "ranks":
            code.store(number.now, code.at(out, matrix, INT64))
    words = [(INT64, "size"), (POINTER, "values"), (POINTER, "bounds"), (POINTER, "out")]
    return code.kernel(f"singular_{what}", words)
