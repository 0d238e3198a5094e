"""Attention in one sweep: which kernel does it, and what that is told.

Which one, and with it every bit of the result, depends on sizes and strides alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array, Dtype
from ..calls.run import run
from ..functions.formulas import HALVES
from ..language.named_counts import counts_of
from ..language.target import host
from ..loading.objects import kernel
from .frame import Form
from .gradients import gradients_text
from .lanes import ROOM, lanes_text, vectors_together
from .operands import Given, rounded
from .rows import rows_text

__all__ = ["attend", "gradients"]

_LEAST: Final = 1 << 19
"""Multiplications that are worth another thread."""
_Ints = tuple[int, ...]
_Lies = tuple[_Ints, _Ints]
"""Sizes and strides of an array."""


class _Way(NamedTuple):
    """A kernel with its units, and what it is told."""

    kernel: int
    units: int
    least: int
    counts: Array


def attend(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    *,
    is_causal: bool = False,
    hides: bool = False,
    as_columns: bool = False,
    sums: Array | None = None,
) -> Array | None:
    """`softmax(query @ key.T * scale + mask) @ value`, [batch, heads, length, width]; None of what
    is too wide.

    Nothing is empty.  The dtype is a float; those of 16 bits are computed with in float32.  Of keys
    and values there are as many heads, or some of which each is for a group of heads.  A mask, of
    bools or of what is computed with, has the scores' shape; `hides` is as in `Form`.  Heads of the
    result lie beside one another if they shall be `as_columns`.  `sums` is an array that logarithms
    of sums are written to.

    Raises:
        ValueError: sizes or dtypes do not fit.
    """
    query, key, value = map(_own, (query, key, value))
    mask = None if mask is None else _lying(_own(mask))
    _check(query, key, value, mask)
    if sums is not None and (sums.shape, sums.flags.c_contiguous) != (query.shape[:3], True):
        raise ValueError("the logarithms do not lie as the queries do")
    given = Given.of(query, key, value)
    form = Form(given.letter, _extent(mask), _is_added(mask), is_causal, hides, sums is not None)
    batch, heads, rows, _ = query.shape
    wide = np.dtype(np.float32) if query.itemsize == 2 else query.dtype
    whole, out = _made((batch, heads, rows, value.shape[3]), wide, as_columns)
    operands = (*given[2:], mask)
    lie = [None if x is None else (x.shape, x.strides) for x in operands]
    way = _way(form, given.are_few, key.shape[2], *lie, out.strides)
    if way is None:
        return None
    arrays = (*given[2:], whole if mask is None else mask, whole, whole if sums is None else sums)
    run(way.kernel, way.units, way.least, *arrays, scale, way.counts)
    if wide == query.dtype:
        return out
    made = rounded(whole, query.dtype)
    return made.swapaxes(1, 2) if as_columns and made is not None else made


def _own(x: Array) -> Array:
    """An array that no other thread can change, whose steps are whole elements."""
    x = x[...]
    return x.copy() if any(step % x.itemsize for step in x.strides) else x


def _check(q: Array, k: Array, v: Array, mask: Array | None) -> None:
    """Raise a ValueError if sizes or dtypes of operands do not fit."""
    fit = k.shape[:3] == v.shape[:3] and q.dtype == k.dtype == v.dtype
    fit = fit and (q.shape[0], q.shape[3]) == (k.shape[0], k.shape[3])
    if not fit or not k.shape[1] or q.shape[1] % k.shape[1]:
        raise ValueError("queries, keys and values do not fit")
    if mask is not None and mask.shape != (*q.shape[:3], k.shape[2]):
        raise ValueError("the mask is not that of the scores")
    wide = np.dtype(np.float64 if q.itemsize == 8 else np.float32)
    if mask is not None and mask.dtype not in (np.dtype(bool), wide):
        raise ValueError("the mask holds other numbers")


def _is_added(mask: Array | None) -> bool:
    """Whether a mask holds numbers that are added to scores."""
    return mask is not None and mask.dtype != np.bool_


def _extent(mask: Array | None) -> str:
    """How far a mask reaches, as `Form` has it."""
    if mask is None:
        return "none"
    return "whole" if mask.shape[2] > 1 and mask.strides[2] else "line"


def _lying(mask: Array) -> Array:
    """The mask, with columns side by side if they are more than one and there are several."""
    if mask.shape[3] == 1 or mask.strides[3] == mask.itemsize:
        return mask
    parts = tuple(slice(None) if step else slice(1) for step in mask.strides[:3])
    return np.broadcast_to(np.ascontiguousarray(mask[parts]), mask.shape)


def _made(shape: _Ints, dtype: Dtype, as_columns: bool) -> tuple[Array, Array]:
    """Memory for a result, and the result in it."""
    batch, heads, rows, width = shape
    if not as_columns:
        whole = np.empty(shape, dtype)
        return whole, whole
    whole = np.empty((batch, rows, heads, width), dtype)
    return whole, whole.swapaxes(1, 2)


class _Sizes(NamedTuple):
    """The first of `COUNTS`."""

    heads: int
    group: int
    rows: int
    keys: int
    depth: int
    width: int
    block: int

    @staticmethod
    def of(form: Form, keys: int, q: _Ints, v: _Ints, kept: int) -> _Sizes:
        """Those of queries side by side, by shapes; `kept` is how many heads have keys.  Units have
        no queries where rows are too wide."""
        (_, heads, rows, depth), width = q, v[3]
        most, vectors = min(vectors_together(host()), ROOM // max(depth, width)), 0
        if most:
            vectors = -(-rows // form.lanes)
            vectors = -(-vectors // -(-vectors // most))
        return _Sizes(heads, heads // kept, rows, keys, depth, width, vectors * form.lanes)


@lru_cache(1024)
def _way(
    form: Form,
    are_few: bool,
    keys: int,
    q: _Lies,
    k: _Lies,
    v: _Lies,
    mask: _Lies | None,
    out: _Ints,
) -> _Way | None:
    """How it is done, by the shapes and strides of all arrays."""
    sizes = _Sizes.of(form, keys, q[0], v[0], k[0][1])
    heads, group, rows, _, depth, width, block = sizes
    text, name = (rows_text, "rows") if are_few else (lanes_text, "lanes")
    if are_few:
        units, work = q[0][0] * heads // group, group * rows * keys * (depth + width)
    elif block:
        units, work = q[0][0] * heads * -(-rows // block), block * keys * (depth + width)
    else:
        return None
    steps = [*_steps(form, q[1][:3]), *_steps(form, k[1], v[1], of_keys=True)]
    counts = counts_of(*sizes, *steps, *_steps(form, out[:3]), *_mask_steps(form, mask))
    address = kernel("attention", (name, *form), lambda target: text(target, form))
    return _Way(address, units, _LEAST // max(1, work) + 1, counts)


def _steps(form: Form, *strides: _Ints, of_keys: bool = False) -> list[int]:
    """Strides in numbers, or in what keys and values hold."""
    size = 8 if form.letter == "d" else 2 if of_keys and form.letter in HALVES else 4
    return [stride // size for each in strides for stride in each]


def _mask_steps(form: Form, mask: _Lies | None) -> list[int]:
    if mask is None:
        return [0] * 4
    return _steps(form, mask[1]) if form.added else list(mask[1])


def gradients(
    g: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    result: Array,
    scale: float,
    is_causal: bool,
    as_columns: bool,
) -> tuple[Array, Array, Array] | None:
    """The gradients of queries, keys and values of `attend`, whose result had the gradient `g`;
    None of what is too wide.

    Heads of all of them lie beside one another if they shall be `as_columns`.  The dtype is float32
    or float64.

    Raises:
        ValueError: sizes or dtypes do not fit.
    """
    g, q, k, v, out = map(_own, (g, query, key, value, result))
    mask = None if mask is None else _lying(_own(mask))
    _check(q, k, v, mask)
    if (
        not g.shape == out.shape == (*q.shape[:3], v.shape[3])
        or not g.dtype == out.dtype == q.dtype
    ):
        raise ValueError("results do not fit")
    g, q, out = (x if x.strides[3] == x.itemsize else x.copy() for x in (g, q, out))
    form = Form("d" if q.itemsize == 8 else "f", _extent(mask), _is_added(mask), is_causal)
    lie = [None if x is None else (x.shape, x.strides) for x in (q, k, v, mask)]
    made = [_made(x.shape, x.dtype, as_columns) for x in (q, k, v)]
    rows = [x.strides for x in (out, g, *(each[1] for each in made))]
    way = _way_back(form, *lie, *rows)
    if way is None:
        return None
    arrays = q, k, v, out if mask is None else mask, out, g, *(each[0] for each in made)
    run(way.kernel, way.units, way.least, *arrays, scale, way.counts)
    of_query, of_key, of_value = (each[1] for each in made)
    return of_query, of_key, of_value


@lru_cache(1024)
def _way_back(
    form: Form, q: _Lies, k: _Lies, v: _Lies, mask: _Lies | None, out: _Ints, *more: _Ints
) -> _Way | None:
    """How gradients are made, by the shapes and strides of all arrays."""
    sizes = _Sizes.of(form, k[0][2], q[0], v[0], k[0][1])
    if not sizes.block:
        return None
    steps = _steps(form, q[1][:3], k[1], v[1], out[:3]) + _mask_steps(form, mask)
    counts = counts_of(*sizes, *steps, *_steps(form, *(each[:3] for each in more)))
    address = kernel("attention", ("gradients", *form), lambda target: gradients_text(target, form))
    return _Way(address, q[0][0] * sizes.heads // sizes.group, 1, counts)
