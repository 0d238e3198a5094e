"""Gradients of recurrent layers and cells, where they need no gradients themselves.

All that does not depend on the next step's gradient is computed for all steps at once, from the
states that the forward gave: gates, their slopes, and the products with the weights.  What is left
for each step, from the last to the first, is a few products of elements and one of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import numpy as np

from ...arithmetic.maths import sigmoid, tanh
from ...kernels.products import dot
from ...layers.recurrent_layer import KINDS
from ...memory.dtype import Array
from ...memory.quiet import QUIET, enter, leave
from ...tensors.tensor import Tensor
from ..table.rows import Grads, Tensors, direct
from .recurrent_rows import Ends, Found, Layer, collected, flat_rows, is_native, through_rows

T = TypeVar("T")


def _before(layer: Layer) -> Array:
    """The hidden states before each step."""
    first = layer.states[0][None]
    if len(layer.input) == 1 or layer.outputs is None:
        return first
    return np.concatenate([first, layer.outputs[:-1]])


def _gates(layer: Layer, before: Array) -> tuple[Array, Array]:
    """The parts of the gates that come of the input and of the state, [T, B, gates]."""
    w_ih, w_hh, *biases = layer.weights
    shape = *layer.input.shape[:2], -1
    first, second = biases or (None, None)
    mine = dot(flat_rows(layer.input), w_ih.T, first).reshape(shape)
    return mine, dot(flat_rows(before), w_hh.T, second).reshape(shape)


def _opened(layer: Layer, before: Array) -> tuple[Array, Array]:
    """An LSTM's open gates and its cell states, made anew; those before the first step too."""
    mine, own = _gates(layer, before)
    opened = mine + own
    steps, batch, size = *opened.shape[:2], opened.shape[2] // 4
    new = tanh(opened[..., 2 * size : 3 * size])
    opened = sigmoid(opened)
    opened[..., 2 * size : 3 * size] = new
    parts = opened.reshape(steps, batch, 4, size)
    taken, kept = (parts[:, :, i] for i in range(2))
    cells = np.empty((steps + 1, batch, size), new.dtype)
    cells[0] = layer.states[1]
    np.multiply(taken, new, cells[1:])
    for step in range(steps):
        cells[step + 1] += kept[step] * cells[step]
    return opened, cells


def _lstm(layer: Layer, grads: Array | None, ends: Ends) -> Found:
    before = _before(layer)
    opened, cells = _opened(layer, before)
    steps, batch, size = *opened.shape[:2], opened.shape[2] // 4
    parts = opened.reshape(steps, batch, 4, size)
    taken, kept, new, shown = (parts[:, :, i] for i in range(4))
    bent = tanh(cells[1:])
    slopes = parts * (1 - parts)
    slopes[:, :, 2] = 1 - new * new
    slopes[:, :, 0] *= new
    slopes[:, :, 1] *= cells[:-1]
    slopes[:, :, 2] *= taken
    slopes[:, :, 3] *= bent
    through = shown * (1 - bent * bent)
    found = np.empty(parts.shape, parts.dtype)
    flat, w_hh = found.reshape(steps, batch, -1), layer.weights[1]
    hidden, cell = ends
    for step in range(steps - 1, -1, -1):
        hidden = _plus(hidden, None if grads is None else grads[step], cells[0])
        passed = hidden * through[step]
        cell = passed if cell is None else np.add(passed, cell, passed)
        np.multiply(slopes[step, :, :3], cell[:, None], found[step, :, :3])
        np.multiply(slopes[step, :, 3], hidden, found[step, :, 3])
        cell = cell * kept[step]
        hidden = dot(flat[step], w_hh)
    assert hidden is not None
    assert cell is not None
    return collected(layer, before, [hidden, cell], flat, flat)


def _plus(one: Array | None, other: Array | None, like: Array) -> Array:
    if one is None:
        return np.zeros_like(like) if other is None else other
    return one if other is None else one + other


def _gru(layer: Layer, grads: Array | None, ends: Ends) -> Found:
    before = _before(layer)
    mine, own = _gates(layer, before)
    steps, batch, size = *mine.shape[:2], mine.shape[2] // 3
    opened = sigmoid(mine[..., : 2 * size] + own[..., : 2 * size])
    reset, update = opened[..., :size], opened[..., size:]
    of_own = own[..., 2 * size :]
    new = tanh(mine[..., 2 * size :] + reset * of_own)
    slopes = np.empty((steps, batch, 3, size), new.dtype)
    slope = (1 - update) * (1 - new * new)
    slopes[:, :, 0] = slope * of_own * reset * (1 - reset)
    slopes[:, :, 1] = (before - new) * update * (1 - update)
    slopes[:, :, 2] = slope * reset
    found = np.empty_like(slopes)
    flat, w_hh = found.reshape(steps, batch, -1), layer.weights[1]
    arrived = np.empty_like(new)
    (hidden,) = ends
    for step in range(steps - 1, -1, -1):
        hidden = _plus(hidden, None if grads is None else grads[step], before[0])
        arrived[step] = hidden
        np.multiply(slopes[step], hidden[:, None], found[step])
        hidden = dot(flat[step], w_hh) + hidden * update[step]
    assert hidden is not None
    of_input = found.copy()
    np.multiply(slope, arrived, of_input[:, :, 2])
    return collected(layer, before, [hidden], of_input.reshape(flat.shape), flat)


def _simple(slope: Callable[[Array], Array]) -> Callable[[Layer, Array | None, Ends], Found]:
    def through(layer: Layer, grads: Array | None, ends: Ends) -> Found:
        before = _before(layer)
        outputs = layer.outputs
        assert outputs is not None
        slopes, w_hh = slope(outputs), layer.weights[1]
        found = np.empty_like(slopes)
        (hidden,) = ends
        for step in range(len(slopes) - 1, -1, -1):
            hidden = _plus(hidden, None if grads is None else grads[step], before[0])
            np.multiply(slopes[step], hidden, found[step])
            hidden = dot(found[step], w_hh)
        assert hidden is not None
        return collected(layer, before, [hidden], found, found)

    return through


_tanh = _simple(lambda outputs: 1 - outputs * outputs)
_relu = _simple(lambda outputs: (outputs > 0).astype(outputs.dtype))

Through = Callable[[Layer, Array | None, Ends], Found]
_THROUGH: Final[dict[str, Through]] = dict(zip(KINDS, (_relu, _tanh, _lstm, _gru), strict=True))


def _is_wide(tensors: Sequence[Tensor | None]) -> bool:
    given = [each._array for each in tensors if each is not None]
    return all(a.dtype.char in "fd" and a.dtype is given[0].dtype and a.size for a in given)


# --------------------------------------------------------------------------- layers


_Gradients = tuple[Tensor, list[Tensor], list[Tensor | None]]
"""The gradients of the input, the states and the weights."""


def _turned(x: Array, way: int) -> Array:
    return x[::-1] if way else x


def _whole(
    through: Through, gs: Grads, input: Tensor, hx: Tensors, params: Tensors, has_biases: bool,
    num_layers: int, bidirectional: bool, batch_first: bool, result: Tensor,
) -> _Gradients | None:  # fmt: skip
    """The gradients of input, states and weights of one layer; None for several, which are recorded
    as layers."""
    ways = 2 if bidirectional else 1
    each = 4 if has_biases else 2
    if num_layers != 1 or len(params) != ways * each or not _is_wide([input, *hx, *params, *gs]):
        return None
    x, outputs = _in_order(input, batch_first), _in_order(result, batch_first)
    states = [s._array.reshape(s._array.shape[0], x.shape[1], -1) for s in hx]
    if any(s.shape[2] != states[0].shape[2] for s in states):
        return None
    grads = None if gs[0] is None else _in_order(gs[0], batch_first)
    ends = [
        [None] * len(states[0]) if g is None else g._array.reshape(states[0].shape) for g in gs[1:]
    ]
    size = states[0].shape[2]
    of_states = [np.empty_like(s) for s in states]
    of_params: list[Array] = []
    inputs = []
    for way in range(ways):
        columns = slice(way * size, (way + 1) * size)
        weights = [p._array for p in params[way * each : (way + 1) * each]]
        made = through(
            Layer(
                _turned(x, way), [s[way] for s in states], _turned(outputs[..., columns], way),
                weights,
            ),
            None if grads is None else _turned(grads[..., columns], way),
            [end[way] for end in ends],
        )  # fmt: skip
        for into, state in zip(of_states, made.states, strict=True):
            into[way] = state
        inputs.append(_turned(made.input, way))
        of_params += made.weights
    first = (inputs[0] if ways == 1 else inputs[0] + inputs[1]).reshape(x.shape)
    if batch_first and input._array.ndim == 3:
        first = np.swapaxes(first, 0, 1)
    return (
        Tensor._of(first.reshape(input._array.shape)),
        [Tensor._of(s.reshape(h._array.shape)) for s, h in zip(of_states, hx, strict=True)],
        [Tensor._of(p) for p in of_params],
    )


def _in_order(x: Tensor, batch_first: bool) -> Array:
    """[T, B, F]."""
    array = x._array
    if array.ndim == 2:
        return array[:, None]
    return np.ascontiguousarray(np.swapaxes(array, 0, 1)) if batch_first else array


def _quietly(work: Callable[[], T]) -> T:
    state = enter(QUIET)
    try:
        return work()
    finally:
        leave(state)


@direct("aten::lstm.input", of="input hx params")
def lstm(
    gs: Grads, input: Tensor, hx: Tensors, params: Tensors, has_biases: bool, num_layers: int,
    bidirectional: bool, batch_first: bool, result: Tensor,
) -> _Gradients | None:  # fmt: skip
    """Long short-term memory."""
    options = has_biases, num_layers, bidirectional, batch_first, result
    return _quietly(lambda: _whole(_lstm, gs, input, hx, params, *options))


@direct("aten::mkldnn_rnn_layer", of="input weight0 weight1 weight2 weight3 hx_ cx_")
def rnn_layer(
    gs: Grads, input: Tensor, weight0: Tensor, weight1: Tensor, weight2: Tensor, weight3: Tensor,
    hx_: Tensor, cx_: Tensor, reverse: bool, batch_sizes: Sequence[int], mode: int,
    has_biases: bool, results: Tensors,
) -> tuple[Tensor | None, ...] | None:  # fmt: skip
    """One layer of a network in one direction, whose open gates and states were kept."""
    weights = [weight0, weight1, *([weight2, weight3] if has_biases else [])]
    kind, state = KINDS[mode], hx_._array.shape[-2:]
    given = [hx_, cx_] if kind == "lstm" else [hx_]
    grads, *ends = (None if g is None else g._array for g in gs[: 1 + len(given)])
    if not _is_wide([input, *given, *weights, *gs[: 1 + len(given)]]):
        return None
    layer = Layer(
        input._array, [each._array.reshape(state) for each in given], results[0]._array,
        [each._array for each in weights],
    )  # fmt: skip
    last = [None if end is None else end.reshape(state) for end in ends]
    sizes, kept = list(batch_sizes), results[3]._array
    if is_native(kind, layer, kept, sizes):
        found = _quietly(lambda: through_rows(kind, layer, grads, last, kept, sizes, reverse))
    elif sizes:
        return None
    else:
        found = _quietly(lambda: _one_way(_THROUGH[kind], layer, grads, last, int(reverse)))
    of_weights: list[Tensor | None] = [Tensor._of(each) for each in found.weights]
    of_states = [Tensor._of(each.reshape(hx_._array.shape)) for each in found.states]
    return (
        Tensor._of(found.input), *of_weights, *([None] * (4 - len(of_weights))),
        *of_states, *([None] * (2 - len(of_states))),
    )  # fmt: skip


def _one_way(through: Through, layer: Layer, grads: Array | None, ends: Ends, way: int) -> Found:
    """The gradients of a layer, made of arrays."""
    assert layer.outputs is not None
    lying = layer._replace(input=_turned(layer.input, way), outputs=_turned(layer.outputs, way))
    found = through(lying, None if grads is None else _turned(grads, way), ends)
    return found._replace(input=_turned(found.input, way))


def _declare(name: str, through: Through) -> None:
    @direct(f"aten::{name}.input", of="input hx params")
    def whole(
        gs: Grads, input: Tensor, hx: Tensor, params: Tensors, has_biases: bool, num_layers: int,
        bidirectional: bool, batch_first: bool, result: Tensor,
    ) -> tuple[Tensor, Tensor, list[Tensor | None]] | None:  # fmt: skip
        options = has_biases, num_layers, bidirectional, batch_first, result
        found = _quietly(lambda: _whole(through, gs, input, [hx], params, *options))
        return None if found is None else (found[0], found[1][0], found[2])

    @direct(f"aten::{name}_cell", of="input hx w_ih w_hh b_ih b_hh")
    def cell(
        gs: Grads, input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None,
        b_hh: Tensor | None, result: Tensor,
    ) -> tuple[Tensor | None, ...] | None:  # fmt: skip
        weights = [w_ih, w_hh, b_ih, b_hh]
        found = _quietly(lambda: _one_step(through, gs, input, [hx], weights, result))
        return None if found is None else (found[0], found[1][0], *found[2])


def _rows(array: Array) -> Array:
    return array if array.ndim > 1 else array[None]


def _one_step(
    through: Through, gs: Grads, input: Tensor, hx: Tensors, params: Grads, result: Tensor | None
) -> _Gradients | None:
    """The gradients of input, states and weights of a cell."""
    weights = [each for each in params if each is not None]
    if len(weights) == 3 or not _is_wide([input, *hx, *weights, *gs]):
        return None
    if any(each._array.ndim != 1 for each in weights[2:]):
        return None  # one for each sample, which cells take
    states = [_rows(h._array) for h in hx]
    ends = [None if g is None else _rows(g._array) for g in gs[: len(hx)]]
    made = through(
        Layer(
            _rows(input._array)[None], states,
            None if result is None else _rows(result._array)[None],
            [each._array for each in weights],
        ),
        None, ends,
    )  # fmt: skip
    found: list[Tensor | None] = [Tensor._of(each) for each in made.weights]
    return (
        Tensor._of(made.input.reshape(input._array.shape)),
        [Tensor._of(s.reshape(h._array.shape)) for s, h in zip(made.states, hx, strict=True)],
        found + [None] * (4 - len(found)),
    )


@direct("aten::lstm_cell", of="input hx w_ih w_hh b_ih b_hh")
def lstm_cell(
    gs: Grads, input: Tensor, hx: Tensors, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> tuple[list[Tensor] | Tensor | None, ...] | None:  # fmt: skip
    """One step of a long short-term memory."""
    weights = [w_ih, w_hh, b_ih, b_hh]
    found = _quietly(lambda: _one_step(_lstm, gs, input, hx, weights, None))
    return None if found is None else (found[0], found[1], *found[2])


for _name in ("gru", "rnn_tanh", "rnn_relu"):
    _declare(_name, _THROUGH[_name])
