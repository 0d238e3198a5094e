"""Gradients of tables of which rows were read, where they need no gradients themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ...arithmetic.chosen import by_rows, few_chosen, put_chosen
from ...layers.embedding import embedding_dense_backward, plain_embedding_bag
from ...memory.dtype import Array
from ...memory.errors import OperatorError
from ...selection.places import combined_natively
from ...selection.ranking import argsort_stable
from ...table.direct import direct_form
from ...table.table import TABLE
from ...tensors.tensor import Tensor
from ..table.rows import Grads, Ints, Wanted, direct
from ..table.rules import are_wide, is_narrow


def _table(rows: Array, flat: Array, sizes: Ints, padding: int) -> Tensor | None:
    """Rows added up at their places in a table, but for those at the place `padding`; None where
    there is no native code for them."""
    if flat.dtype.char not in "lq" or not rows.size:
        return None
    if padding >= 0:
        hidden = flat == padding
        if hidden.any():
            rows = np.where(hidden[:, None], rows.dtype.type(0), rows)
    table = np.zeros(tuple(sizes), rows.dtype)
    done = combined_natively(table, 0, flat, np.ascontiguousarray(rows), "sum")
    return Tensor._of(table) if done else None


@direct("aten::embedding", of="weight")
def embedding(
    g: Tensor | None, weight_sizes: Ints, indices: Tensor, padding_idx: int,
    scale_grad_by_freq: bool, sparse: bool,
) -> tuple[Tensor] | None:  # fmt: skip
    """Rows by their numbers."""
    if g is None or scale_grad_by_freq or len(weight_sizes) != 2:
        return None
    if not (are_wide(g) or (is_narrow(g) and not sparse)):
        return None
    if sparse:
        return (_few_rows(g._array, indices._array, weight_sizes, padding_idx),)
    made = embedding_dense_backward(g._array, indices._array, weight_sizes[0], padding_idx, False)
    return (Tensor._of(made),)


def _few_rows(grad: Array, indices: Array, sizes: Ints, padding: int) -> Tensor:
    """A sparse tensor of rows at their places, but for those at the place `padding`."""
    flat = indices.reshape(-1).astype(np.int64)
    rows = grad.reshape(flat.size, *sizes[1:])
    if padding >= 0:
        seen = flat != padding
        if not seen.all():
            flat, rows = flat[seen], rows[seen]
    if 0 in rows.strides:  # one row for several: those of a gradient may be written
        rows = rows.copy()
    coordinates, of_parts = _sparse()
    return of_parts(coordinates(Tensor._of(flat[None]), Tensor._of(rows), tuple(sizes)))


@cache
def _sparse() -> tuple[Callable[..., object], Callable[..., Tensor]]:
    """What makes sparse tensors, which few programs need."""
    parts = import_module("...sparse_tensors.parts", __package__)
    return parts.Coo, import_module("...sparse_tensors.tensors", __package__).of_parts


def _bags(
    gs: Grads, sizes: Ints, indices: Tensor, offsets: Tensor, mode: int, padding: int
) -> tuple[Tensor, None] | None:
    g, flat, starts = gs[0], indices._array.reshape(-1), offsets._array
    if g is None or mode > 1 or not are_wide(g) or not flat.size:
        return None
    grad = g._array
    lengths = np.diff(starts, append=flat.size)
    bags = np.minimum(np.repeat(np.arange(len(starts)), lengths), len(grad) - 1)
    if mode == 1:
        counts = np.bincount(bags, flat != padding, len(grad)).clip(1)
        grad = grad / counts[:, None].astype(grad.dtype)
    made = _table(grad.take(bags, 0), flat, sizes, padding)
    return None if made is None else (made, None)


def _shared_bags(
    gs: Grads, sizes: Ints, indices: Tensor, offsets: Tensor, shares: Tensor
) -> tuple[Tensor, None] | None:
    """The same of weighted rows: each row of the table is a bag of the gradient's rows."""
    g, flat, starts = gs[0], indices._array.reshape(-1), offsets._array
    if g is None or not are_wide(g, shares) or not flat.size:
        return None
    bags = np.repeat(np.arange(len(starts)), np.diff(starts, append=flat.size))
    order = argsort_stable(flat, True, 0, False)
    begins = np.zeros(sizes[0] + 1, np.int64)
    np.cumsum(np.bincount(flat, minlength=sizes[0]), out=begins[1:])
    named, given = np.minimum(bags, len(g._array) - 1)[order], shares._array[order]
    grad = np.ascontiguousarray(g._array)
    made = plain_embedding_bag(grad, named, begins, False, 0, False, given, True, -1)[0]
    return Tensor._of(made), None


@direct("aten::embedding_bag", of="weight per_sample_weights")
def embedding_bag(
    gs: Grads, wanted: Wanted, weight_sizes: Ints, indices: Tensor, offsets: Tensor, mode: int,
    per_sample_weights: Tensor | None, scale_grad_by_freq: bool, sparse: bool,
    padding_idx: int | None = None,
) -> tuple[Tensor, None] | None:  # fmt: skip
    """Sums and means of rows; a negative `padding_idx` counts from the end."""
    padding = -1 if padding_idx is None else padding_idx % weight_sizes[0]
    return plain_bags(
        gs, wanted, weight_sizes, indices, offsets, mode, per_sample_weights, scale_grad_by_freq,
        sparse, padding,
    )  # fmt: skip


@direct("aten::_embedding_bag", of="weight per_sample_weights")
def plain_bags(
    gs: Grads, wanted: Wanted, weight_sizes: Ints, indices: Tensor, offsets: Tensor, mode: int,
    per_sample_weights: Tensor | None, scale_grad_by_freq: bool, sparse: bool, padding_idx: int,
) -> tuple[Tensor, None] | None:  # fmt: skip
    """The same; a negative `padding_idx` says that there is none."""
    if scale_grad_by_freq or sparse or wanted["per_sample_weights"]:
        return None
    if per_sample_weights is None:
        return _bags(gs, weight_sizes, indices, offsets, mode, padding_idx)
    if padding_idx >= 0:
        return None
    return _shared_bags(gs, weight_sizes, indices, offsets, per_sample_weights)


# --------------------------------------------------------------------------- slices


def _slices(g: Tensor, sizes: Ints, dim: int, index: Array) -> tuple[Tensor] | None:
    """Slices along a dimension, added up where they were read."""
    if index.dtype.char not in "lq" or not are_wide(g) or not g._array.size:
        return None
    dim %= len(sizes)
    flat = index if index.ndim == 1 else index.reshape(-1)
    source = g._array
    if index.ndim != 1:
        source = source.reshape(*sizes[:dim], flat.size, *sizes[dim + 1 :])
    whole = np.zeros(tuple(sizes), source.dtype)
    try:
        return (Tensor._of(_added()(whole, dim, flat, source, 1)),)
    except (IndexError, OperatorError):
        pass  # places that count from the end, of which nothing is added yet
    places = np.where(flat < 0, flat + sizes[dim], flat)
    done = combined_natively(whole, dim, places, np.ascontiguousarray(source), "sum")
    return (Tensor._of(whole),) if done else None


@cache
def _added() -> Callable[..., Array]:
    """What adds slices at places."""
    entry = TABLE.operator("aten::index_add_")
    assert entry is not None
    added: Callable[..., Any] = direct_form(entry)
    return added


@direct("aten::index", of="self")
def index(g: Tensor | None, self_sizes: Ints, indices: Grads) -> tuple[Tensor] | None:
    """By whole numbers along one dimension, or a mask of the first ones; the rest is left to the
    formula."""
    dim = len(indices) - 1
    each = indices[dim] if indices else None
    if g is None or each is None or any(other is not None for other in indices[:dim]):
        return None
    if each._array.dtype.kind == "b":
        return None if dim else _chosen(g, self_sizes, each._array)
    return _slices(g, self_sizes, dim, each._array)


def _chosen(g: Tensor, sizes: Ints, mask: Array) -> tuple[Tensor] | None:
    """What a mask chose of the first dimensions, among zeros."""
    if not are_wide(g) or not mask.ndim or not g._array.size:
        return None
    whole = np.zeros(tuple(sizes), g._array.dtype)
    source = g._array + 0.0  # no zero stays negative that is added to one
    rows = few_chosen(mask)
    if rows is not None and mask.shape == whole.shape[: mask.ndim]:
        by_rows(whole, mask)[rows] = source
        return (Tensor._of(whole),)
    return (Tensor._of(whole),) if put_chosen(whole, mask, source) else None


@direct("aten::index_put", of="self values")
def index_put(
    g: Tensor | None, asked: tuple[bool, ...], indices: Grads, accumulate: bool = False
) -> tuple[Tensor | None, Tensor | None] | None:
    """By a mask of few of the first dimensions; the rest is left to the formulas."""
    if g is None or accumulate or len(indices) != 1 or indices[0] is None or not are_wide(g):
        return None
    mask, array = indices[0]._array, g._array
    is_mask = mask.dtype.kind == "b" and mask.ndim > 0 and mask.shape == array.shape[: mask.ndim]
    rows = few_chosen(mask) if is_mask and array.flags.c_contiguous and array.size else None
    if rows is None:
        return None
    whole = part = None
    if asked[0]:
        rest = array.copy()
        by_rows(rest, mask)[rows] = 0
        whole = Tensor._of(rest)
    if asked[1]:
        part = Tensor._of(by_rows(array, mask).take(rows, 0))
    return whole, part


@direct("aten::index_select", of="self")
def index_select(
    g: Tensor | None, self_sizes: Ints, dim: int, index: Tensor | None
) -> tuple[Tensor] | None:
    """By a vector of places."""
    if g is None or index is None or not self_sizes:
        return None
    return _slices(g, self_sizes, dim, index._array)
