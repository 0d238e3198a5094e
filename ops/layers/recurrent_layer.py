"""One layer of a recurrent network in one direction, which leaves what its gradient needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..kernels import family, in_order
from ..linear_algebra.linalg import linear
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.table import operator
from .recurrent import Options, Weights, are_plain, over_input, run_packed, steps

__all__ = ["KINDS", "kept_of", "takes"]

KINDS: Final = ("rnn_relu", "rnn_tanh", "lstm", "gru")
"""Networks by the numbers of their modes."""
_FLOAT32: Final = np.dtype(np.float32)


def kept_of(kind: str, workspace: Array, rows: int, width: int) -> tuple[Array, Array]:
    """What a workspace holds of a layer: open gates [rows, KEPT * width], and the cell states after
    each step [rows, width], which LSTMs alone have."""
    count = family("sequences.recurrent").KEPT[kind] * width
    gates, cells = np.split(workspace.view(np.float32), [rows * count])
    return gates.reshape(rows, count), cells.reshape(-1, width)


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
    """The output over input [T, B, F], or over packed rows [rows, F] of such batches, the states at
    the end, and bytes that hold what was made on the way.

    Of the settings, modes are relu, tanh, LSTM and GRU; the last state is of LSTMs alone, others
    are given any.  The number of layers, the sizes and what is said of directions say nothing.
    """
    if not 0 <= mode < len(KINDS):
        raise OperatorError("mkldnn_rnn_layer: the mode of a recurrent layer is one of 0 to 3")
    kind = KINDS[mode]
    weights = Weights(weight0, weight1, weight2, weight3, None)
    if not has_biases:
        weights = weights._replace(b_ih=None, b_hh=None)
    shape = 1, hx_.size // max(1, weight1.shape[-1]), weight1.shape[-1]
    given = (hx_, cx_) if kind == "lstm" else (hx_,)
    states = [in_order(each).reshape(shape) for each in given]
    is_native = takes(kind, input, states, [weights], batch_sizes)
    run = _natively if is_native else _step_by_step
    out, kept, *ends = run(kind, input, weights, states, reverse, batch_sizes)
    ends = [end.reshape(hx_.shape) for end in ends] + [np.empty_like(cx_)] * (2 - len(ends))
    return out, *ends, kept


def _step_by_step(
    kind: str,
    input: Array,
    weights: Weights,
    states: Sequence[Array],
    reverse: bool,
    sizes: list[int],
) -> list[Array]:
    """The same where native code has nothing for it; nothing is kept."""
    nothing = np.empty(0, np.uint8)
    if sizes:
        state = tuple(each[0] for each in states)
        out, last = run_packed(steps[kind], input, sizes, state, weights, reverse)
        return [out, nothing, *last]
    given, options = input[::-1] if reverse else input, Options(1, 0.0, True, False)
    out, *ends = over_input(steps[kind], given, states, [weights], options, False)
    return [out[::-1].copy() if reverse else out, nothing, *ends]


def _natively(
    kind: str, input: Array, weights: Weights, states: Sequence[Array], reverse: bool,
    sizes: list[int],
) -> list[Array]:  # fmt: skip
    """What the layer gives by native code, whose gates and states are kept."""
    kernels, width = family("sequences.recurrent"), states[0].shape[-1]
    rows = in_order(input).reshape(-1, input.shape[-1])
    many = tuple(sizes) or (input.shape[1],) * len(input)
    numbers = kernels.KEPT[kind] + (kind == "lstm")
    kept = np.empty(len(rows) * numbers * width * 4, np.uint8)
    opened, cells = kept_of(kind, kept, len(rows), width)
    if kind == "lstm":  # gates of the input, until each is opened where it lies
        gates = opened
        family("products.matrices").multiply_into(gates, rows, weights.w_ih.T, weights.b_ih)
    else:
        gates = linear(rows, weights.w_ih, weights.b_ih)
    out = np.empty((len(rows), width), _FLOAT32)
    ends = [np.empty(each.shape[1:], _FLOAT32) for each in states]
    kernels.through_time(
        kind,
        gates,
        tuple(each[0] for each in states),
        *(weights.w_hh, weights.b_hh),
        kernels.order_of(many, is_reversed=reverse),
        out,
        tuple(ends),
        (opened, cells)[: len(states)] if numbers else (),
    )
    return [out.reshape(*input.shape[:-1], width), kept, *ends]


def takes(
    kind: str,
    input: Array,
    states: Sequence[Array],
    groups: Sequence[Weights],
    sizes: Sequence[int],
) -> bool:
    """Whether native code keeps what layers make over input [T, B, F], or over packed rows if there
    are sizes of batches, with states [1, B, H]."""
    if family("sequences.recurrent") is None or not (input.size and states[0].size):
        return False
    shapes = {each.shape[1:] for each in states}
    if len(shapes) > 1 or states[0].ndim != 3 or input.ndim != (2 if sizes else 3):
        return False
    if sizes and (min(sizes) < 0 or sum(sizes) != len(input)):
        return False
    if states[0].shape[1] != (max(sizes) if sizes else input.shape[1]):
        return False
    if any(each.dtype is not _FLOAT32 for each in (input, *states)):
        return False
    fits = all(each.w_ih.shape[-1:] == input.shape[-1:] for each in groups)
    return fits and are_plain(steps[kind], groups, states[0].shape[-1])
