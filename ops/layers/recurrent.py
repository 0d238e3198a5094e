"""Recurrent layers and their cells: plain, LSTM and GRU.

A layer's weights come flat, for each layer and direction: `w_ih`, `w_hh`, the biases of both if
there are any, and for an LSTM with projections the matrix that makes the hidden state smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..arithmetic.maths import sigmoid, tanh
from ..kernels import family, in_order, written_by_numpy
from ..linear_algebra.linalg import linear
from ..memory.dims import size_at
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.pointwise import as_array
from ..table.table import operator
from .dropout import dropped as drop

__all__ = ["Options", "Weights", "are_plain", "over_input", "over_packed", "run_packed", "steps"]

_FLOAT32: Final = np.dtype(np.float32)

State = tuple[Array, ...]
"""The hidden state; of an LSTM also the cell state."""


class Weights(NamedTuple):
    """The weights of one layer in one direction.

    Where `w_ih` and `w_hh` are no arrays, they are functions that multiply and add the bias.
    """

    w_ih: Any
    w_hh: Any
    b_ih: Array | None
    b_hh: Array | None
    w_hr: Array | None


def _gates(input: Array, weight: Any, bias: Array | None) -> Array:
    if isinstance(weight, np.ndarray):
        return linear(input, weight, bias)
    made: Array = weight(input)
    return made


class Options(NamedTuple):
    """What a layer is told besides its weights."""

    layers: int
    dropout: float
    train: bool
    bidirectional: bool


Step = Callable[[Array, State, Weights], State]
"""From the input's gates, the state before and the weights to the state after."""


def _tanh_step(gates: Array, state: State, weights: Weights) -> State:
    return (tanh(as_array(gates + _gates(state[0], weights.w_hh, weights.b_hh))),)


def _relu_step(gates: Array, state: State, weights: Weights) -> State:
    return (as_array(np.maximum(gates + _gates(state[0], weights.w_hh, weights.b_hh), 0)),)


def _lstm_step(gates: Array, state: State, weights: Weights) -> State:
    hidden, cell = state
    gates = as_array(gates + _gates(hidden, weights.w_hh, weights.b_hh))
    size = cell.shape[-1]
    opened = sigmoid(gates)  # what is made of the new content is not used: one call is quicker
    new = tanh(gates[..., 2 * size : 3 * size])
    cell = as_array(opened[..., size : 2 * size] * cell + opened[..., :size] * new)
    hidden = as_array(opened[..., 3 * size :] * tanh(cell))
    if weights.w_hr is not None:
        hidden = linear(hidden, weights.w_hr, None)
    return hidden, cell


def _gru_step(gates: Array, state: State, weights: Weights) -> State:
    hidden = state[0]
    size = gates.shape[-1] // 3
    of_hidden = _gates(hidden, weights.w_hh, weights.b_hh)
    opened = sigmoid(as_array(gates[..., : 2 * size] + of_hidden[..., : 2 * size]))
    reset, update = opened[..., :size], opened[..., size:]
    new = tanh(as_array(gates[..., 2 * size :] + reset * of_hidden[..., 2 * size :]))
    return (as_array(new + update * (hidden - new)),)


steps: Final[dict[str, Step]] = {
    "rnn_tanh": _tanh_step,
    "rnn_relu": _relu_step,
    "lstm": _lstm_step,
    "gru": _gru_step,
}
"""The step of each kind of network."""

# --------------------------------------------------------------------------- through time

_KINDS: Final = {step: kind for kind, step in steps.items()}


def _by_kernel(
    step: Step,
    data: Array,
    sizes: tuple[int, ...],
    states: Sequence[Array],
    groups: list[Weights],
    options: Options,
) -> tuple[Array, ...] | None:
    """All layers by native code, over rows [rows, F]; None if it has none for that.

    In a step so many of the first sequences go on as `sizes` says.
    """
    kernels = family("sequences.recurrent")
    if kernels is None or not sizes or min(sizes) < 0 or data.ndim != 2 or len(data) != sum(sizes):
        return None
    directions = 2 if options.bidirectional else 1
    count, shape = options.layers * directions, states[0].shape
    if len(groups) < count or not are_plain(step, groups[:count], shape[-1]):
        return None
    if any(each.shape != (count, max(sizes), shape[-1]) for each in states):
        return None
    if not all(each.dtype is _FLOAT32 and each.size for each in (data, *states)):
        return None
    ends = tuple(np.empty(each.shape, _FLOAT32) for each in states)
    width, states = shape[-1], [in_order(each) for each in states]
    for layer in range(options.layers):
        out = np.empty((len(data), directions * width), _FLOAT32)
        for direction in range(directions):
            place = layer * directions + direction
            weights = groups[place]
            kernels.through_time(
                _KINDS[step],
                _gates(data, weights.w_ih, weights.b_ih),
                tuple(each[place] for each in states),
                *(weights.w_hh, weights.b_hh),
                kernels.order_of(sizes, is_reversed=direction == 1),
                out[:, direction * width : (direction + 1) * width],
                tuple(each[place] for each in ends),
            )
        data = _dropped(out, layer, options)
    return (data, *ends)


def _once(step: Step, input: Array, state: State, weights: Weights) -> State:
    """The state of a cell after a step: by native code, if there is some for that."""
    kernels, width = family("sequences.recurrent"), state[0].shape[-1]
    gates = linear(input, weights.w_ih, weights.b_ih)
    if kernels is None or not are_plain(step, (weights,), width):
        return step(gates, state, weights)
    if not all(each.dtype is _FLOAT32 and each.size for each in (gates, *state)):
        return step(gates, state, weights)
    state = tuple(map(in_order, state))
    ends = tuple(np.empty(each.shape, _FLOAT32) for each in state)
    order = kernels.order_of((len(gates),), is_reversed=False)
    kind, out = _KINDS[step], ends[0]
    kernels.through_time(kind, gates, state, weights.w_hh, weights.b_hh, order, out, ends)
    return ends


def are_plain(step: Step, groups: Sequence[Weights], width: int) -> bool:
    """Whether native code takes such weights: what does not fit is refused step by step."""
    deep = family("sequences.recurrent").GATES[_KINDS[step]] * width
    for each in groups:
        if each.w_hr is not None or type(each.w_ih) is not np.ndarray:
            return False
        biases = (each.b_ih, each.b_hh)
        if any(one is not None and (one.shape, one.dtype) != ((deep,), _FLOAT32) for one in biases):
            return False
        if each.w_hh.shape != (deep, width) or each.w_ih.shape[:1] != (deep,):
            return False
        if each.w_ih.ndim != 2 or {each.w_ih.dtype, each.w_hh.dtype} != {_FLOAT32}:
            return False
    return True


def _dropped(data: Array, layer: int, options: Options) -> Array:
    """What the layer after one is given."""
    if options.dropout and options.train and layer < options.layers - 1:
        written_by_numpy()
        return drop(data, options.dropout, True)
    return data


def _run(
    step: Step, input: Array, state: State, weights: Weights, reverse: bool
) -> tuple[Array, State]:
    """One layer in one direction over input [T, B, F]: the hidden states and the last state."""
    gates = _gates(input, weights.w_ih, weights.b_ih)
    times = range(len(gates))
    outputs: list[Array] = []
    for time in reversed(times) if reverse else times:
        state = step(gates[time], state, weights)
        outputs.append(state[0])
    if reverse:
        outputs.reverse()
    if not outputs:
        return np.stack(outputs), state
    return np.concatenate(outputs).reshape(len(outputs), *outputs[0].shape), state


def run_packed(
    step: Step,
    data: Array,
    sizes: Sequence[int],
    state: State,
    weights: Weights,
    reverse: bool,
) -> tuple[Array, State]:
    """The same over packed data; the last state of each sequence is the one at its own end."""
    gates = _gates(data, weights.w_ih, weights.b_ih)
    ends = np.cumsum(sizes).tolist()
    last = tuple(part.copy() for part in state)
    outputs: list[Array] = []
    times = range(len(sizes))
    for time in reversed(times) if reverse else times:
        size = sizes[time]
        before = tuple(part[:size] for part in last)
        after = step(gates[ends[time] - size : ends[time]], before, weights)
        for part, new in zip(last, after, strict=True):
            part[:size] = new
        outputs.append(after[0])
    if reverse:
        outputs.reverse()
    return np.concatenate(outputs), last


def _grouped(params: Sequence[Array], has_biases: bool, projected: bool) -> list[Weights]:
    """The flat list of weights, by layer and direction."""
    count = 2 + 2 * has_biases + projected
    if len(params) % count:
        raise OperatorError("got an incorrect number of RNN parameters")
    groups = []
    for start in range(0, len(params), count):
        group = list(params[start : start + count])
        last = group.pop() if projected else None
        biases = group[2:] if has_biases else [None, None]
        groups.append(Weights(group[0], group[1], biases[0], biases[1], last))
    return groups


def _layers(
    run: Callable[[Array, State, Weights, bool], tuple[Array, State]],
    data: Array,
    states: Sequence[Array],
    groups: list[Weights],
    options: Options,
) -> tuple[Array, ...]:
    """All layers: the output of the last one and the final states of all."""
    directions = 2 if options.bidirectional else 1
    if len(groups) < options.layers * directions:
        raise OperatorError("got an incorrect number of RNN parameters")
    finals: list[State] = []
    for layer in range(options.layers):
        outputs = []
        for direction in range(directions):
            place = layer * directions + direction
            state = tuple(part[place] for part in states)
            output, final = run(data, state, groups[place], direction == 1)
            outputs.append(output)
            finals.append(final)
        joined = outputs[0] if directions == 1 else np.concatenate(outputs, -1)
        data = _dropped(joined, layer, options)
    return (data, *(np.stack(parts) for parts in zip(*finals, strict=True)))


def over_input(
    step: Step,
    input: Array,
    states: Sequence[Array],
    groups: list[Weights],
    options: Options,
    batch_first: bool,
) -> tuple[Array, ...]:
    """A network over input [T, B, F], or [B, T, F]: the outputs and the final states."""
    for weights in groups:
        _check_cell(step, size_at(states[0].shape, -1), weights)
    size_at(input.shape, 2)
    for state in states:
        size_at(state.shape, 2)
    data = in_order(np.swapaxes(input, 0, 1) if batch_first else input)
    if not len(data):
        raise OperatorError("Expected sequence length to be larger than 0 in RNN")
    rows, sizes = data.reshape(-1, data.shape[2]), data.shape[1:2] * len(data)
    found = _by_kernel(step, rows, sizes, states, groups, options) if data.size else None
    if found is None:
        found = _layers(lambda *args: _run(step, *args), data, states, groups, options)
    output, *rest = found
    output = output.reshape(*data.shape[:2], output.shape[-1])
    return (np.swapaxes(output, 0, 1) if batch_first else output, *rest)


def over_packed(
    step: Step,
    data: Array,
    batch_sizes: Array,
    states: Sequence[Array],
    groups: list[Weights],
    options: Options,
) -> tuple[Array, ...]:
    """The same over packed data."""
    sizes = batch_sizes.tolist()
    found = _by_kernel(step, data, tuple(sizes), states, groups, options)
    if found is not None:
        return found

    def run(data: Array, state: State, weights: Weights, reverse: bool) -> tuple[Array, State]:
        return run_packed(step, data, sizes, state, weights, reverse)

    return _layers(run, data, states, groups, options)


def _check_cell(step: Step, hidden: int, weights: Weights) -> None:
    """A GRU's gates are cut in three: other sizes would be cut wrongly."""
    if not isinstance(weights.w_ih, np.ndarray):
        return
    if step is _gru_step and weights.w_ih.shape[0] != 3 * hidden:
        raise OperatorError(
            f"weight_ih first dim must be 3 * hidden_size = {3 * hidden}, but got "
            f"{weights.w_ih.shape[0]}",
            code="shape-mismatch",
        )


def _check_step(input: Array, states: list[Array], weights: Weights, gates: int) -> None:
    """Input [B, F] and states [B, H] must fit the weights of a cell, and each other."""
    given, size = input.shape, size_at(weights.w_hh.shape, 1)
    if len(given) != 2 or given[1] != size_at(weights.w_ih.shape, 1):
        _refuse_input(given, size_at(weights.w_ih.shape, 1))
    fitting = (given[0], size)
    for number, state in enumerate(states):
        if state.shape != fitting:
            _refuse_state(number, state.shape, *fitting)
    for name, weight in (("weight_ih", weights.w_ih), ("weight_hh", weights.w_hh)):
        if weight.shape[0] != gates * size:
            raise OperatorError(
                f"{name} first dim must be {gates} * hidden_size = {gates * size}, but got "
                f"{weight.shape[0]}",
                code="shape-mismatch",
            )


def _refuse_input(given: tuple[int, ...], size: int) -> None:
    """Raises: IndexOutOfRange, OperatorError: unless there is another dimension behind."""
    if size_at(given, 1) != size:
        raise OperatorError(
            f"input has inconsistent input_size: got {given[1]} expected {size}",
            code="shape-mismatch",
        )


def _refuse_state(number: int, given: tuple[int, ...], batch: int, size: int) -> None:
    """Raises: OperatorError: unless there is another dimension behind."""
    if size_at(given, 0) != batch:
        raise OperatorError(
            f"Input batch size {batch} doesn't match hidden{number} batch size {given[0]}",
            code="shape-mismatch",
        )
    if size_at(given, 1) != size:
        raise OperatorError(
            f"hidden{number} has inconsistent hidden_size: got {given[1]}, expected {size}",
            code="shape-mismatch",
        )


# --------------------------------------------------------------------------- declarations

_REST: Final = (
    "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional"
)
_CELL: Final = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"


def _declare(name: str, step: Step) -> None:
    """Declare a layer with one state, for input and for packed data."""

    def of_input(
        input: Array,
        hx: Array,
        params: list[Array],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Array, ...]:
        options = Options(num_layers, dropout, train, bidirectional)
        return over_input(
            step, input, [hx], _grouped(params, has_biases, False), options, batch_first
        )

    def of_packed(
        data: Array,
        batch_sizes: Array,
        hx: Array,
        params: list[Array],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> tuple[Array, ...]:
        options = Options(num_layers, dropout, train, bidirectional)
        groups = _grouped(params, has_biases, False)
        return over_packed(step, data, batch_sizes, [hx], groups, options)

    operator(
        f"aten::{name}.input(Tensor input, Tensor hx, {_REST}, bool batch_first) "
        "-> (Tensor, Tensor)",
        out="",
        cost="recurrent",
        prepared=True,
    )(of_input)
    operator(
        f"aten::{name}.data(Tensor data, Tensor batch_sizes, Tensor hx, {_REST}) "
        "-> (Tensor, Tensor)",
        out="",
        cost="recurrent",
    )(of_packed)


def _declare_cell(name: str, step: Step) -> None:
    """Declare one step of such a layer."""

    def cell(
        input: Array,
        hx: Array,
        w_ih: Array,
        w_hh: Array,
        b_ih: Array | None,
        b_hh: Array | None,
    ) -> Array:
        weights = Weights(w_ih, w_hh, b_ih, b_hh, None)
        _check_step(input, [hx], weights, 3 if step is _gru_step else 1)
        return _once(step, input, (hx,), weights)[0]

    operator(
        f"aten::{name}_cell(Tensor input, Tensor hx, {_CELL}) -> Tensor",
        autocast_in_graphs="lower",
        out="",
        cost="recurrent",
        prepared=True,
    )(cell)


for _name, _step in (("rnn_tanh", _tanh_step), ("rnn_relu", _relu_step), ("gru", _gru_step)):
    _declare(_name, _step)
    _declare_cell(_name, _step)


def _check_states(hx: list[Array], name: str = "lstm") -> None:
    if len(hx) != 2:
        raise OperatorError(f"{name} expects two hidden states")


@operator(
    f"aten::lstm.input(Tensor input, Tensor[] hx, {_REST}, bool batch_first) "
    "-> (Tensor, Tensor, Tensor)",
    out="",
    cost="recurrent",
    prepared=True,
)
def lstm(
    input: Array,
    hx: list[Array],
    params: list[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Array, ...]:
    """The output, the hidden states and the cell states of an LSTM."""
    _check_states(hx)
    groups = _grouped(params, has_biases, size_at(hx[0].shape, 2) != size_at(hx[1].shape, 2))
    options = Options(num_layers, dropout, train, bidirectional)
    return over_input(_lstm_step, input, hx, groups, options, batch_first)


@operator(
    f"aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, {_REST}) "
    "-> (Tensor, Tensor, Tensor)",
    out="",
    cost="recurrent",
)
def lstm_packed(
    data: Array,
    batch_sizes: Array,
    hx: list[Array],
    params: list[Array],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Array, ...]:
    """`lstm` over packed data."""
    _check_states(hx)
    groups = _grouped(params, has_biases, size_at(hx[0].shape, 2) != size_at(hx[1].shape, 2))
    options = Options(num_layers, dropout, train, bidirectional)
    return over_packed(_lstm_step, data, batch_sizes, hx, groups, options)


@operator(
    f"aten::lstm_cell(Tensor input, Tensor[] hx, {_CELL}) -> (Tensor, Tensor)",
    out="",
    autocast_in_graphs="lower",
    cost="recurrent",
    prepared=True,
)
def lstm_cell(
    input: Array,
    hx: list[Array],
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
) -> tuple[Array, ...]:
    """One step of an LSTM: the new hidden and the new cell state."""
    _check_states(hx, "lstm_cell")
    weights = Weights(w_ih, w_hh, b_ih, b_hh, None)
    _check_step(input, hx, weights, 4)
    return _once(_lstm_step, input, (hx[0], hx[1]), weights)
