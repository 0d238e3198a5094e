"""What gradients of recurrent layers are made with, and those of layers done by native code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels import family
from ...kernels.products import dot
from ...layers.recurrent import Weights
from ...layers.recurrent_layer import kept_of, takes
from ...memory.dtype import Array

__all__ = ["Ends", "Found", "Layer", "collected", "flat_rows", "is_native", "through_rows"]

Ends = list[Array | None]
"""The gradients of last states; None where there is none."""


class Layer(NamedTuple):
    """A layer in one direction: the input [T, B, F], the states before the first step [B, H], and
    the hidden states after all steps [T, B, H], which a single step need not have."""

    input: Array
    states: list[Array]
    outputs: Array | None
    weights: list[Array]


class Found(NamedTuple):
    """The gradients of a layer's input, first states and weights."""

    input: Array
    states: list[Array]
    weights: list[Array]


def flat_rows(x: Array) -> Array:
    """[rows, F]."""
    return x.reshape(-1, x.shape[-1])


def collected(layer: Layer, before: Array, states: list[Array], mine: Array, own: Array) -> Found:
    """The gradients, from those of the two parts of the gates and of the first states."""
    w_ih = layer.weights[0]
    flat, other = flat_rows(mine), flat_rows(own)
    weights = [dot(flat.T, flat_rows(layer.input)), dot(other.T, flat_rows(before))]
    if len(layer.weights) > 2:
        first = flat.sum(0)
        weights += [first, first.copy() if own is mine else other.sum(0)]
    return Found(dot(flat, w_ih).reshape(layer.input.shape), states, weights)


def is_native(kind: str, layer: Layer, workspace: Array, sizes: list[int]) -> bool:
    """Whether native code did the layer, and has its way back."""
    kernels = family("sequences.recurrent")
    if kernels is None or family("sequences.recurrent_gradients") is None:
        return False
    weights = Weights._make((*layer.weights, *(None,) * (5 - len(layer.weights))))
    if not takes(kind, layer.input, [each[None] for each in layer.states], [weights], sizes):
        return False
    numbers = kernels.KEPT[kind] + (kind == "lstm")
    width = layer.states[0].shape[-1]
    return bool(workspace.size == len(flat_rows(layer.input)) * numbers * width * 4)


def through_rows(
    kind: str, layer: Layer, grads: Array | None, ends: Ends, workspace: Array, sizes: list[int],
    reverse: bool,
) -> Found:  # fmt: skip
    """The gradients of such a layer, whose rows lie as its input's do."""
    assert layer.outputs is not None
    many = tuple(sizes) or (layer.input.shape[1],) * len(layer.input)
    order = family("sequences.recurrent").order_of(many, is_reversed=reverse)
    outputs = flat_rows(layer.outputs)
    rows, width = outputs.shape
    opened, cells = kept_of(kind, workspace, rows, width)
    first, w_hh = layer.states[-1], layer.weights[1]
    found = np.empty((rows, len(w_hh)), np.float32)
    own = np.empty_like(found) if kind == "gru" else found
    states = [
        np.zeros(first.shape, np.float32) if end is None else np.array(end, np.float32, order="C")
        for end in ends
    ]
    family("sequences.recurrent_gradients").back_through_time(
        kind,
        opened,
        cells if kind == "lstm" else outputs,
        first,
        _as_rows(grads, rows, width),
        w_hh,
        order,
        tuple(states),
        (found, own),
    )
    return collected(layer, _rows_before(layer, many, reverse), states, found, own)


def _as_rows(grads: Array | None, rows: int, width: int) -> Array:
    """Gradients of outputs, zeros where there are none; rows may lie apart."""
    if grads is None:
        return np.broadcast_to(np.zeros(width, np.float32), (rows, width))
    found = grads.reshape(rows, width)
    return found if found.strides[1] == found.itemsize else np.ascontiguousarray(found)


def _rows_before(layer: Layer, sizes: tuple[int, ...], reverse: bool) -> Array:
    """The hidden states before each step, in the order of rows."""
    assert layer.outputs is not None
    outputs, first = flat_rows(layer.outputs), layer.states[0]
    if min(sizes) == max(sizes):
        parts = [outputs[len(first) :], first] if reverse else [first, outputs[: -len(first)]]
        return np.concatenate(parts)
    begins = np.cumsum([0, *sizes]).tolist()
    found, last = [], range(len(sizes))[0 if not reverse else -1]
    for step, size in enumerate(sizes):
        earlier = step + 1 if reverse else step - 1
        known = 0 if step == last else min(size, sizes[earlier])
        if known:
            found.append(outputs[begins[earlier] : begins[earlier] + known])
        found.append(first[known:size])
    return np.concatenate(found)
