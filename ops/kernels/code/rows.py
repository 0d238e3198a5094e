"""Softmax, normalisation and sums over the rows of contiguous float32 matrices."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .objects import kernel
from .row_programs import row_kernel
from .run import run
from .target import Target
from .text import DOUBLE, FLOAT, FLOATS, INT64, LANES, POINTER, Code, Kind, Value

__all__ = [
    "affine",
    "column_sums",
    "layer_norm",
    "log_softmax",
    "logsumexp",
    "row_sums",
    "softmax",
    "squares",
    "total",
]

F: Final = np.float32
_PER_THREAD: Final = 1 << 17


def _along(name: str, x: Any, *others: Any, number: float = 0.0) -> None:
    """Run a kernel over the rows of x; the other arrays follow by name."""
    x = x[...]  # which no other thread can change
    least = _PER_THREAD // max(1, x.shape[1]) + 1
    run(row_kernel(name), x.shape[0], least, x.shape[1], number, x, *others)


def softmax(x: Any) -> Any:
    """Softmax of every row."""
    out = np.empty_like(x)
    _along("softmax", x, out)
    return out


def log_softmax(x: Any) -> Any:
    """The logarithm of softmax of every row."""
    out = np.empty_like(x)
    _along("log_softmax", x, out)
    return out


def logsumexp(x: Any) -> Any:
    """The logarithm of the sum of exponentials of every row."""
    out = np.empty(x.shape[0], F)
    _along("logsumexp", x, out)
    return out


def layer_norm(x: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """Rows normalised (weight and bias are vectors, or empty): result, means, factors."""
    if weight.size != bias.size or weight.size not in (0, x.shape[1]):
        raise ValueError("weight and bias do not fit the rows")
    out = np.empty_like(x)
    mean, scale = np.empty(x.shape[0], F), np.empty(x.shape[0], F)
    if weight.size:
        vectors = (np.ascontiguousarray(each, F)[...] for each in (weight, bias))
        _along("layer_norm", x, out, mean, scale, *vectors, number=eps)
    else:
        _along("normalized", x, out, mean, scale, number=eps)
    return out, mean, scale


def affine(x: Any, factor: Any, term: Any) -> Any:
    """Each row times a factor plus a term, which repeat over the rows."""
    if not factor.size == term.size > 0:
        raise ValueError("factors and terms do not fit each other")
    out = np.empty_like(x)
    _along("affine", x, out, *(np.resize(each.astype(F), x.shape[0]) for each in (factor, term)))
    return out


def row_sums(x: Any) -> Any:
    """The sum of every row, in double."""
    out = np.empty(x.shape[0], np.float64)
    _along("sums", x, out)
    return out


def column_sums(x: Any) -> Any:
    """Sums over the middle one of three dimensions, in double."""
    x = x[...]  # which no other thread can change
    outer, height, width = x.shape
    out = np.empty((outer, width), np.float64)
    least = max(_BESIDE * LANES, _PER_THREAD // max(1, outer * height))
    summing = kernel("column_sums", (), _column_sums)
    run(summing, width, least, outer, height, width, x, out)
    return out


_BESIDE: Final = 4
"""Vectors of columns that are summed side by side."""


def _column_sums(target: Target) -> str:
    """For the columns from start to stop of each of the outer matrices."""
    code = Code(target)
    names = ("start", "stop", "outer", "height", "width")
    start, stop, outer, height, width = (code.argument(INT64, name) for name in names)
    x, out = code.argument(POINTER, "x"), code.argument(POINTER, "out")
    doubles, zero = Kind("double", LANES), code.constant(INT64, 0)

    def sum_up(n: Value, columns: list[Value], mask: Value | None) -> None:
        sums = [code.variable(code.constant(doubles, 0.0)) for _ in columns]
        with code.counted(zero, height) as row:
            line = code.at(x, (n * height + row) * width, FLOAT)
            for column, total in zip(columns, sums, strict=True):
                seen = code.load_if(FLOATS, code.at(line, column, FLOAT), mask)
                total.set(total.now + seen.converted("fpext", doubles))
        for column, total in zip(columns, sums, strict=True):
            code.store_if(total.now, code.at(out, n * width + column, DOUBLE), mask)

    with code.counted(zero, outer) as n:
        code.vectors(start, stop, _BESIDE, lambda columns, mask: sum_up(n, columns, mask))
    counts = [(INT64, name) for name in ("outer", "height", "width")]
    return code.kernel("column_sums", [*counts, (POINTER, "x"), (POINTER, "out")])


_PIECE: Final = 1 << 15


def _pieces(x: Any) -> list[Any]:
    """A vector as rows of equal length, and what is left as one."""
    count = x.size // _PIECE * _PIECE
    parts = (x[:count].reshape(-1, _PIECE), x[count:].reshape(1, -1))
    return [part for part in parts if part.size]


def total(x: Any) -> float:
    """The sum of a vector, in double."""
    return float(sum(row_sums(rows).sum() for rows in _pieces(x)))


def squares(x: Any, mean: float) -> float:
    """The sum of squared distances of a vector's elements from their mean, in double."""
    found = 0.0
    for rows in _pieces(x):
        out = np.empty(rows.shape[0], np.float64)
        _along("squares", rows, out, number=mean)
        found += float(out.sum())
    return found
