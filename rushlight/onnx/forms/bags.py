"""Bags of embeddings: sums, means and maxima of rows."""

from __future__ import annotations

import numpy as np

from ..items import Item, Operand
from ..table import exports
from ..writer import END, INT, Writer


@exports("aten::embedding_bag")
def embedding_bag(
    w: Writer,
    weight: Item,
    indices: Item,
    offsets: Item,
    scale_grad_by_freq: Item = False,
    mode: Item = 0,
    sparse: Item = False,
    per_sample_weights: Item = None,
    include_last_offset: Item = False,
    padding_idx: Item = None,
) -> Item:
    """A matrix that says which rows are in which bag; the other results are for gradients alone."""
    table, places = w.tensor(weight), w.tensor(indices)
    starts = w.cast(w.tensor(offsets), INT)
    count = w.tensor(w.size(places, 0), INT)
    last = w.op("Reshape", count, w.ints(1))
    if include_last_offset is True:
        ends, starts = w.slice(starts, 0, 1, END), w.slice(starts, 0, 0, -1)
    else:
        ends = w.op("Concat", w.slice(starts, 0, 1, END), last, axis=0)
    order = w.op("Range", w.constant(0, INT), w.op("Squeeze", last), w.constant(1, INT))
    inside = w.op(
        "And",
        w.op("GreaterOrEqual", order, w.unsqueeze(starts, 1)),
        w.op("Less", order, w.unsqueeze(ends, 1)),
    )
    if padding_idx is not None:
        left_out = w.tensor(padding_idx, places.dtype)
        inside = w.op("And", inside, w.op("Not", w.op("Equal", places, left_out)))
    rows = w.op("Gather", table, places, axis=0)
    if per_sample_weights is not None:
        rows = w.op("Mul", rows, w.unsqueeze(w.tensor(per_sample_weights), 1))
    kind = w.whole(mode, "mode")
    if kind == 2:
        return _largest_of_bags(w, rows, inside), None, None, None
    held = w.cast(inside, table.dtype)
    made = w.op("MatMul", held, rows)
    if kind == 1:
        sizes = w.reduce("ReduceSum", held, [1], True)
        made = w.op("Div", made, w.op("Max", sizes, w.constant(1, table.dtype)))
    return made, None, None, None


def _largest_of_bags(w: Writer, rows: Operand, inside: Operand) -> Operand:
    """The largest of each column in each bag; 0 in empty ones."""
    low = w.constant(np.finfo(rows.dtype).min, rows.dtype)
    chosen = w.where(w.unsqueeze(inside, 2), w.unsqueeze(rows, 0), low)
    best = w.reduce("ReduceMax", chosen, [1], False)
    some = w.reduce("ReduceMax", w.cast(inside, np.dtype(np.int32)), [1], True)
    is_some = w.op("Greater", some, w.constant(0, np.dtype(np.int32)))
    return w.where(is_some, best, w.constant(0, rows.dtype))
