"""Attention in one sweep: which kernel does it, and what that is told.

Which one, and with it every bit of the result, depends on sizes and strides alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from ...memory.dtype import Array
from .attention_frame import Form
from .attention_lanes import ROOM, lanes_text, vectors_together
from .attention_rows import MOST, rows_text
from .objects import kernel
from .run import run
from .target import host

__all__ = ["attend"]

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
    way = _way(form, as_columns, *seen)
    if way is None:
        return None
    batch, heads, rows, _ = q.shape
    width = v.shape[3]
    if as_columns:
        whole = np.empty((batch, rows, heads, width), q.dtype)
        out = whole.swapaxes(1, 2)
    else:
        whole = out = np.empty((batch, heads, rows, width), q.dtype)
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


@lru_cache(1024)
def _way(form: Form, as_columns: bool, q: Any, k: Any, v: Any, mask: Any) -> _Way | None:
    """How it is done, by the shapes and strides of all arrays."""
    (batch, heads, rows, depth), (keys, width) = q[0], v[0][2:]
    group, size = heads // k[0][1], 8 if form.letter == "d" else 4
    is_short = group * rows <= MOST and k[1][3] == v[1][3] == size
    text = rows_text if is_short else lanes_text
    if is_short:
        block, units, work = rows, batch * heads // group, group * rows * keys * (depth + width)
    else:
        most = min(vectors_together(host()), ROOM // max(depth, width))
        if not most:
            return None
        vectors = -(-rows // form.lanes)
        block = -(-vectors // -(-vectors // most)) * form.lanes
        units, work = batch * heads * -(-rows // block), block * keys * (depth + width)
    steps = [step // size for step in (*q[1][:3], *k[1], *v[1])]
    out = (width, heads * width) if as_columns else (rows * width, width)
    masked = [0] * 4 if mask is None else [step // (size if form.added else 1) for step in mask[1]]
    sizes = heads, group, rows, keys, depth, width, block
    counts = np.array([*sizes, *steps, heads * rows * width, *out, *masked])
    counts.setflags(write=False)
    name = "rows" if is_short else "lanes"
    address = kernel("attention", (name, *form), lambda target: text(target, form))
    return _Way(address, units, _LEAST // max(1, work) + 1, counts)
