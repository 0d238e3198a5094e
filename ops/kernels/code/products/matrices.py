"""Products of float32, float64 or bfloat16 matrices and batches, by the form that suits each.

The form, and with it every bit of the result, depends on sizes and strides alone.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ... import in_order
from ...precision import PRECISION
from ..calls.run import run
from ..elementwise.arrays import LETTERS, evaluate
from ..language.named_counts import counts_of
from ..language.target import host
from ..language.tiles import CHUNK, Tile
from ..rows.folds import dot
from . import pairs
from .operands import (
    ALONG,
    AS_THEY_LIE,
    ROUNDED,
    SIDE_BY_SIDE,
    gathers_rows,
    panels_together,
    rows_together,
)
from .products import product_kernel, strip

__all__ = ["multiply", "multiply_into", "multiply_batches", "multiply_vectors"]

_FEW: Final = 24
"""Rows for which packing columns does not pay."""
_SEVERAL: Final = 64
_AT_HAND: Final = 3 << 20
"""Rows for which it does not pay where b has so many bytes at most, which are near after the first
rows, if vectors of columns are read several at a time."""
_NEAR: Final = 1 << 15
"""Bytes of a matrix that is read as quickly without packing."""
_WIDE: Final = 16
_LESS_WIDE: Final = 8
"""Panels of a unit, at most, where rows are gathered; and where they become words, of which a unit
has more, piece by piece of the depth: near caches hold results that the next piece is added to."""
_APART: Final = 2048
"""Rows that are a multiple of so many bytes apart share lines of near caches."""
_DEEP: Final = 128
"""The depth from which rows are gathered that each are in one piece."""
_LONG: Final = 512
"""The depth behind which rows are gathered that lie side by side: so many lines stay near."""
_UNITS: Final = 8
"""Units that are wanted at least."""
_SHORT_LEAST: Final = 32
_SHORT_WORK: Final = 1 << 20
"""The depth and columns, and the multiplications, from which it pays to round float32 first."""
_LEAST: Final = 1 << 19
"""Multiplications that are worth another thread."""


class _Batch(NamedTuple):
    """How many matrices of so many one after the other, and the steps between both in a and b."""

    outer: int = 1
    inner: int = 1
    a_outer: int = 0
    a_inner: int = 0
    b_outer: int = 0
    b_inner: int = 0


class _Way(NamedTuple):
    """How matrices are multiplied: the kernel with its units, and what it is told."""

    kernel: int
    units: int
    least: int
    counts: Array

    def go(self, a: object, b: object, out: object, bias: object) -> None:
        """Multiply; the bias is the result where there is none."""
        run(self.kernel, self.units, self.least, a, b, out, bias, self.counts)


_Ints = tuple[int, ...]


def multiply(a: Array, b: Array, bias: Array | None = None) -> Array:
    """`a @ b + bias` for matrices, or vectors, of one dtype; the bias is one row of it.

    That of bfloat16 is float32, before it is rounded.

    Raises:
        ValueError: the sizes do not fit, or there is nothing to sum.
    """
    a, b = a[...], b[...]  # which no other thread can change
    if a.ndim == 1:
        row: Array = multiply(a[None], b, bias)[0]
        return row
    if b.ndim == 1:
        return multiply(b[None], a.T).reshape(-1)
    rows, columns = len(a), b.shape[1]
    if bias is not None:
        bias = in_order(np.asarray(bias, np.float64 if a.itemsize == 8 else np.float32)[...])
        if bias.shape != (columns,):
            raise ValueError("the bias is no row of the result")
    if columns == 1 < rows:
        made = multiply(b.T, a.T).reshape(rows, 1)
        return made if bias is None else _added(made, bias)
    return _product(*_operands(a, b), bias)


def multiply_into(out: Array, a: Array, b: Array, bias: Array | None = None) -> None:
    """Write `a @ b + bias` for matrices of float32 to a matrix in one piece.

    Raises:
        ValueError: the sizes do not fit, or there is nothing to sum.
    """
    element, a, b = _operands(a[...], b[...])  # which no other thread can change
    out = out[...]
    if out.shape != (len(a), b.shape[1]) or not out.flags.c_contiguous:
        raise ValueError("the result has no room of its shape in one piece")
    if bias is not None:
        bias = in_order(np.asarray(bias, np.float32)[...])
    _product(element, a, b, bias, out)


def _added(made: Array, bias: Array) -> Array:
    """A column and a number, by a kernel: so that products may be learned with it."""
    letter = LETTERS[made.dtype]
    column = made.reshape(-1)
    return evaluate([("add", letter, (0, 1))], letter, column, bias).reshape(made.shape)


def _product(
    element: str, a: Array, b: Array, bias: Array | None = None, out: Array | None = None
) -> Array:
    """The same of matrices that have a kernel."""
    way = _way(a.shape, a.strides, b.shape, b.strides, element, bias is not None)
    if way is None:
        return _product(element, *_copied(a, b), bias, out)
    if out is None:
        out = np.empty((len(a), b.shape[1]), a.dtype)
    way.go(a, b, out, out if bias is None else bias)
    return out


def _operands(a: Array, b: Array) -> tuple[str, Array, Array]:
    """What is multiplied: the numbers as they are, or words of two that are, or may be, bfloat16.
    Columns that are packed but once become words only then, and rows that are many only where they
    are used.

    Raises:
        ValueError: the sizes do not fit, or there is nothing to sum.
    """
    if a.itemsize == 8:
        return "double", a, b
    if a.itemsize == 4 and not (PRECISION.products_may_be_short and _pays(a, b)):
        return "float", a, b
    if b.shape[-2] != a.shape[-1] or not a.size * b.size:
        raise ValueError("rows and columns differ in length, or have none")
    is_once = a.shape[-2] <= rows_together(host())
    if b.itemsize == 4 and is_once and _packs(a, b):
        return "rounded columns", pairs.along(a), b
    turned = b.swapaxes(-1, -2)
    if turned.strides[-1] == b.itemsize:
        b = pairs.along(turned).swapaxes(-1, -2)
    else:
        b = pairs.across(b)
    if a.itemsize == a.strides[-1] == 4 and not is_once and _packs(a, b):
        return "rounded rows", a, b
    return "pair", pairs.along(a), b


def _packs(a: Array, b: Array) -> bool:
    """Whether columns of words are packed, as they lie or are going to."""
    (rows, numbers), columns = a.shape[-2:], b.shape[-1]
    form = _form(rows, -(-numbers * a.itemsize // 8), columns, b.strides[-2:], 4)
    return form is not None and form.startswith("packed")


def _pays(a: Array, b: Array) -> bool:
    """Whether to round float32 first makes a product quicker."""
    depth, columns = a.shape[-1], b.shape[-1]
    is_large = a.size * columns >= _SHORT_WORK and min(depth, columns) >= _SHORT_LEAST
    return is_large and a.shape[-2] > _FEW and host().has_pairs


def multiply_batches(a: Array, b: Array) -> Array:
    """`a @ b` for batches of matrices of one dtype, [..., rows, depth] and [..., depth, columns].

    Raises:
        ValueError: the sizes do not fit, or there is nothing to sum.
    """
    element, a, b = _operands(a[...], b[...])  # which no other thread can change
    return _batches(element, a, b)


def _batches(element: str, a: Array, b: Array) -> Array:
    if a.shape[:-2] != b.shape[:-2]:
        shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a = np.broadcast_to(a, (*shape, *a.shape[-2:]))
        b = np.broadcast_to(b, (*shape, *b.shape[-2:]))
        if not any(b.strides[:-2]) and _are_one(a):
            made = _product(element, a.reshape(-1, a.shape[-1]), b[(0,) * len(shape)])
            return made.reshape(*a.shape[:-1], -1)
    way = _way(a.shape, a.strides, b.shape, b.strides, element, False)
    if way is None:
        return _batches(element, *_copied(a, b))
    shape = (*a.shape[:-1], b.shape[-1])
    out = np.empty(shape, a.dtype)
    way.go(a, b, out, out)
    return out


def multiply_vectors(a: Array, b: Array) -> Array:
    """The sum of products of two contiguous vectors of one length and dtype, 0-d; no other thread
    can change them.

    Raises:
        ValueError: they differ.
    """
    made: Array | None = dot(a, b) if a.shape == b.shape else None
    if made is None:
        raise ValueError("vectors differ in length or dtype")
    return made


def _are_one(a: Array) -> bool:
    """Whether matrices follow each other as their rows do."""
    steps = zip(pairwise(a.strides[:-1]), a.shape[1:], strict=False)
    return bool(a.size) and all(wide == size * step for (wide, step), size in steps)


def _copied(a: Array, b: Array) -> tuple[Array, Array]:
    """Operands that lie as kernels read them; the second one stays turned if it is."""
    turned = b.swapaxes(-1, -2)
    is_turned = turned.strides[-1] == b.itemsize and b.strides[-1] != b.itemsize
    return _whole(a), _whole(turned).swapaxes(-1, -2) if is_turned else _whole(b)


def _whole(a: Array) -> Array:
    """An array in one piece whose strides follow from its sizes: those of dimensions of one as
    well, which NumPy takes for in order whatever they are."""
    return a.reshape(-1).reshape(a.shape) if a.flags.c_contiguous else in_order(a)


@lru_cache(1024)
def _way(
    a_shape: _Ints,
    a_strides: _Ints,
    b_shape: _Ints,
    b_strides: _Ints,
    element: str,
    is_biased: bool,
) -> _Way | None:
    """How matrices, or batches of one shape, are multiplied; None if they must be copied first.

    Raises:
        ValueError: the sizes do not fit, or there is nothing to sum.
    """
    rows, columns = a_shape[-2], b_shape[-1]
    depth, numbers = sorted((a_shape[-1], b_shape[-2]))
    if depth != (-(-numbers // 2) if element.startswith("rounded") else numbers) or not depth:
        raise ValueError("rows and columns differ in length, or have none")
    size = 8 if element == "double" else 4
    batch = _batch(a_shape[:-2], a_strides[:-2], b_strides[:-2])
    form = _form(rows, depth, columns, b_strides[-2:], size)
    aligned = not any(step % size for step in (*a_strides, *b_strides))
    if form is None or batch is None or not aligned or (form == "dots" and a_strides[-1] != size):
        return None
    width, several = strip(form, element), batch.outer * batch.inner
    block, gathered = rows_together(host()), AS_THEY_LIE
    if rows <= _SEVERAL:
        block = _even(max(1, -(-rows // 8)), _FEW // 8) * 8
    if form.startswith("packed"):
        is_rounded = element == "rounded rows"
        gathered = ROUNDED if is_rounded else _gathered(depth, a_strides[-2:], size)
        block, width = _unit(rows, depth, columns, several, width, gathered)
    strips = -(-columns // width) * several
    step = b_strides[-1] if form in ("dots", "packed turned") else b_strides[-2]
    steps = (*a_strides[-2:], step, *batch[2:])
    sizes = (rows, columns, depth, *(each // size for each in steps))
    counts = counts_of(*sizes, batch.inner, block, is_biased, width, gathered, numbers)
    kernel, least = product_kernel(form, element), _LEAST // max(1, block * width * depth) + 1
    return _Way(kernel, strips * -(-rows // block), least, counts)


def _form(rows: int, depth: int, columns: int, steps: _Ints, size: int) -> str | None:
    """The form of a product; None if no row or column of b is in one piece."""
    down, across = steps
    if size not in (down, across):
        return None
    if down == size and (across != size or columns == 1):
        return "dots" if rows <= _FEW else "packed turned"
    if rows == 1:
        return "row"
    several = _FEW if gathers_rows(host()) or depth * columns * size > _AT_HAND else _SEVERAL
    return "direct" if rows <= several or depth * columns * size <= _NEAR else "packed"


def _gathered(depth: int, steps: _Ints, size: int) -> int:
    """How rows are read where columns are packed."""
    down, across = steps
    if down == size and not across % _APART and depth > _LONG:
        return SIDE_BY_SIDE
    if across == size and not down % _APART and depth >= _DEEP and gathers_rows(host()):
        return ALONG
    return AS_THEY_LIE


def _batch(shape: _Ints, a_strides: _Ints, b_strides: _Ints) -> _Batch | None:
    """How two steps lead through batches; None if there are more."""
    steps: list[tuple[int, int, int]] = []  # how many, and what lies between them in a and b
    for count, a, b in zip(shape, a_strides, b_strides, strict=True):
        if steps and steps[-1][1:] == (count * a, count * b):
            steps[-1] = (steps[-1][0] * count, a, b)
        elif count != 1:
            steps.append((count, a, b))
    if len(steps) > 2:
        return None
    outer, inner = [(1, 0, 0)] * (2 - len(steps)) + steps
    return _Batch(outer[0], inner[0], outer[1], inner[1], outer[2], inner[2])


def _unit(
    rows: int, depth: int, columns: int, several: int, width: int, gathered: int
) -> tuple[int, int]:
    """Rows and columns of a unit: many, but so that there are some units for each thread."""
    tile, most = Tile.of(host()), panels_together(host())
    if gathered:
        most = _LESS_WIDE if gathered == ROUNDED and depth > CHUNK else _WIDE
    panels = _even(-(-columns // width), most)
    block = _even(-(-rows // tile.rows), rows_together(host(), gathered) // tile.rows)
    by_rows = gathered and rows > columns  # rather than to gather all rows for each part
    while several * -(-columns // (panels * width)) * -(-rows // (block * tile.rows)) < _UNITS:
        if panels > 1 and not (by_rows and block * tile.rows > 32):
            panels = -(-panels // 2)
        elif block * tile.rows > 32:
            block = _even(-(-rows // tile.rows), block - 1)
        else:
            break
    return block * tile.rows, panels * width


def _even(count: int, most: int) -> int:
    """How many of so many a part holds, where parts of at most some are about equal."""
    return -(-count // -(-count // most))
