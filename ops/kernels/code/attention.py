"""Attention in one sweep: which kernel does it, and what that is told.

Which one, and with it every bit of the result, depends on sizes and strides alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from ...memory.dtype import Array
from .attention_frame import Form
from .attention_gradients import gradients_text
from .attention_lanes import ROOM, lanes_text, vectors_together
from .attention_rows import MOST, rows_text
from .objects import kernel
from .run import run
from .target import host

__all__ = ["attend", "gradients"]

_LEAST: Final = 1 << 19
"""Multiplications that are worth another thread."""
_LETTERS: Final = {"float32": "f", "float64": "d", "bfloat16": "E", "float16": "e"}
_Ints = tuple[int, ...]


class _Way(NamedTuple):
    """A kernel with its units, and what it is told."""

    kernel: int
    units: int
    least: int
    counts: Any


def attend(
    query: Array,
    key: Array,
    value: Array,
    mask: Any,
    scale: float,
    *,
    is_causal: bool = False,
    hides: bool = False,
    as_columns: bool = False,
    sums: Any = None,
) -> Any:
    """`softmax(query @ key.T * scale + mask) @ value`, [batch, heads, length, width]; None of what
    is too wide.

    Nothing is empty.  The dtype is float32 or float64.  Of keys and values there are as many heads,
    or some of which each is for a group of heads.  A mask, of bools or of that dtype, has the
    scores' shape; `hides` is as in `Form`.  Heads of the result lie beside one another if they
    shall be `as_columns`.  `sums` is an array that logarithms of sums are written to.
    """
    q, k, v = (x[...] for x in (query, key, value))  # which no other thread can change
    if q.strides[3] != q.itemsize:
        q = q.copy()
    if mask is not None:
        mask = _lying(mask[...])
    seen = [None if x is None else (x.shape, x.strides) for x in (q, k, v, mask)]
    form = Form(
        _LETTERS[q.dtype.name],
        _extent(mask),
        mask is not None and mask.dtype != np.bool_,
        is_causal,
        hides,
        sums is not None,
    )
    whole, out = _made((*q.shape[:3], v.shape[3]), q.dtype, as_columns)
    way = _way(form, *seen, out.strides)
    if way is None:
        return None
    arrays = q, k, v, whole if mask is None else mask, whole, whole if sums is None else sums
    run(way.kernel, way.units, way.least, *arrays, scale, way.counts)
    return out


def _extent(mask: Any) -> str:
    """How far a mask reaches, as `Form` has it."""
    if mask is None:
        return "none"
    return "whole" if mask.shape[2] > 1 and mask.strides[2] else "line"


def _lying(mask: Any) -> Any:
    """The mask, with columns side by side if they are more than one and there are several."""
    if mask.shape[3] == 1 or mask.strides[3] == mask.itemsize:
        return mask
    parts = tuple(slice(None) if step else slice(1) for step in mask.strides[:3])
    return np.broadcast_to(np.ascontiguousarray(mask[parts]), mask.shape)


def _made(shape: _Ints, dtype: Any, as_columns: bool) -> tuple[Array, Array]:
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
    def of(form: Form, q: Any, k: Any, v: Any) -> _Sizes:
        """Those of arrays, by shapes and strides, where queries are side by side; units have no
        queries where rows are too wide."""
        (_, heads, rows, depth), (keys, width) = q[0], v[0][2:]
        most, vectors = min(vectors_together(host()), ROOM // max(depth, width)), 0
        if most:
            vectors = -(-rows // form.lanes)
            vectors = -(-vectors // -(-vectors // most))
        return _Sizes(heads, heads // k[0][1], rows, keys, depth, width, vectors * form.lanes)


@lru_cache(1024)
def _way(form: Form, q: Any, k: Any, v: Any, mask: Any, out: _Ints) -> _Way | None:
    """How it is done, by the shapes and strides of all arrays."""
    sizes, size = _Sizes.of(form, q, k, v), 8 if form.letter == "d" else 4
    heads, group, rows, keys, depth, width, block = sizes
    is_short = group * rows <= MOST and k[1][3] == v[1][3] == size
    text, name = (rows_text, "rows") if is_short else (lanes_text, "lanes")
    if is_short:
        units, work = q[0][0] * heads // group, group * rows * keys * (depth + width)
    elif block:
        units, work = q[0][0] * heads * -(-rows // block), block * keys * (depth + width)
    else:
        return None
    steps = [step // size for step in (*q[1][:3], *k[1], *v[1], *out[:3])]
    masked = [0] * 4 if mask is None else [step // (size if form.added else 1) for step in mask[1]]
    counts = np.array([*sizes, *steps, *masked])
    counts.setflags(write=False)
    address = kernel("attention", (name, *form), lambda target: text(target, form))
    return _Way(address, units, _LEAST // max(1, work) + 1, counts)


def gradients(
    g: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Any,
    result: Array,
    scale: float,
    is_causal: bool,
    as_columns: bool,
) -> tuple[Array, Array, Array] | None:
    """The gradients of queries, keys and values of `attend`, whose result had the gradient `g`;
    None of what is too wide.

    Heads of all of them lie beside one another if they shall be `as_columns`.
    """
    g, q, k, v, out = (x[...] for x in (g, query, key, value, result))
    g, q, out = (x if x.strides[3] == x.itemsize else x.copy() for x in (g, q, out))
    if mask is not None:
        mask = _lying(mask[...])
    added = mask is not None and mask.dtype != np.bool_
    form = Form(_LETTERS[q.dtype.name], _extent(mask), added, is_causal)
    seen = [None if x is None else (x.shape, x.strides) for x in (g, q, k, v, mask, out)]
    made = [_made(x.shape, x.dtype, as_columns) for x in (q, k, v)]
    way = _way_back(form, *seen, *(each[1].strides for each in made))
    if way is None:
        return None
    arrays = q, k, v, out if mask is None else mask, out, g, *(each[0] for each in made)
    run(way.kernel, way.units, way.least, *arrays, scale, way.counts)
    of_query, of_key, of_value = (each[1] for each in made)
    return of_query, of_key, of_value


@lru_cache(1024)
def _way_back(
    form: Form, g: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, *made: _Ints
) -> _Way | None:
    """How gradients are made, by the shapes and strides of all arrays."""
    sizes = _Sizes.of(form, q, k, v)
    if not sizes.block:
        return None
    size = 8 if form.letter == "d" else 4
    steps = [*q[1][:3], *k[1], *v[1], *out[1][:3]]
    more = [step for each in (g[1], *made) for step in each[:3]]
    masked = [0] * 4 if mask is None else [step // (size if form.added else 1) for step in mask[1]]
    counts = np.array([*sizes, *(s // size for s in steps), *masked, *(s // size for s in more)])
    counts.setflags(write=False)
    address = kernel("attention", ("gradients", *form), lambda target: gradients_text(target, form))
    units = q[0][0] * sizes.heads // sizes.group
    return _Way(address, units, 1, counts)
