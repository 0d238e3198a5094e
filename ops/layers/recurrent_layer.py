"""One layer of an LSTM in one direction, which leaves what its gradient needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..kernels import family, in_order
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.table import operator
from .recurrent import Options, Weights, are_plain, over_input, steps

__all__ = ["kept_of", "takes"]

_LSTM: Final = 2
_FLOAT32: Final = np.dtype(np.float32)


def kept_of(workspace: Array, length: int, batch: int, width: int) -> tuple[Array, Array]:
    """The open gates [T, B, 4 * width] and the cell states after each step [T, B, width] that a
    workspace holds."""
    kept = workspace.view(np.float32)
    gates, cells = np.split(kept, [length * batch * 4 * width])
    return gates.reshape(length, batch, -1), cells.reshape(length, batch, -1)


@operator(
    "aten::mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, "
    "Tensor weight3, Tensor hx_, Tensor cx_, bool reverse, SymInt[] batch_sizes, int mode, "
    "SymInt hidden_size, int num_layers, bool has_biases, bool bidirectional, bool batch_first, "
    "bool train) -> (Tensor, Tensor, Tensor, Tensor)",
    out="",
    face="function",
    cost="recurrent",
    prepared=True,
)
def rnn_layer(
    input: Array,
    weight0: Array,
    weight1: Array,
    weight2: Array,
    weight3: Array,
    hx_: Array,
    cx_: Array,
    reverse: bool,
    batch_sizes: list[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> tuple[Array, ...]:
    """The output over input [T, B, F], the states at the end, and bytes that hold what was made on
    the way; all but the first setting and `has_biases` say nothing of one layer."""
    if mode != _LSTM:
        raise OperatorError("mkldnn_rnn_layer: rushlight has LSTMs of it, mode 2")
    weights = Weights(weight0, weight1, weight2, weight3, None)
    if not has_biases:
        weights = weights._replace(b_ih=None, b_hh=None)
    shape = 1, input.shape[1], weight1.shape[-1]
    states = [in_order(each).reshape(shape) for each in (hx_, cx_)]
    found = _natively(in_order(input), weights, states, reverse)
    if found is None:
        given = input[::-1] if reverse else input
        options = Options(1, 0.0, train, False)
        made = over_input(steps["lstm"], given, states, [weights], options, False)
        found = made[0][::-1].copy() if reverse else made[0], *made[1:], np.empty(0, np.uint8)
    out, hidden, cell, kept = found
    return out, hidden.reshape(hx_.shape), cell.reshape(cx_.shape), kept


def _natively(
    input: Array, weights: Weights, states: Sequence[Array], reverse: bool
) -> tuple[Array, ...] | None:
    """What the layer gives by native code, whose gates and states are kept; None if it has none."""
    length, batch, _ = input.shape
    if not takes(input, states, [weights]):
        return None
    kernels, width = family("sequences.recurrent"), states[0].shape[-1]
    rows = input.reshape(length * batch, -1)
    kept = np.empty(rows.shape[0] * 5 * width * 4, np.uint8)
    opened, cells = kept_of(kept, length, batch, width)
    out, hidden, cell = (np.empty((n, batch, width), _FLOAT32) for n in (length, 1, 1))
    gates = opened.reshape(len(rows), -1)  # of the input, until each is opened where it lies
    family("products.matrices").multiply_into(gates, rows, weights.w_ih.T, weights.b_ih)
    kernels.through_time(
        "lstm",
        gates,
        tuple(each[0] for each in states),
        *(weights.w_hh, weights.b_hh),
        kernels.order_of((batch,) * length, is_reversed=reverse),
        out.reshape(-1, width),
        (hidden[0], cell[0]),
        (gates, cells.reshape(len(rows), width)),
    )
    return out, hidden, cell, kept


def takes(input: Array, states: Sequence[Array], groups: Sequence[Weights]) -> bool:
    """Whether native code keeps what layers over input [T, B, F] make, with states [1, B, H]."""
    if family("sequences.recurrent") is None or not (input.size and states[0].size):
        return False
    shapes = {each.shape[1:] for each in states}
    if len(shapes) > 1 or not input.ndim == states[0].ndim == 3:
        return False
    if states[0].shape[1] != input.shape[1]:
        return False
    if any(each.dtype is not _FLOAT32 for each in (input, *states)):
        return False
    fits = all(each.w_ih.shape[-1:] == input.shape[2:] for each in groups)
    return fits and are_plain(steps["lstm"], groups, states[0].shape[-1])
