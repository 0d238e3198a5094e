"""Gradients of recurrent layers: the cells, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...layers.dropout import FACTORS
from ...layers.recurrent import Weights, are_plain, steps
from ...layers.recurrent_layer import KINDS, takes
from ...memory.dtype import Array
from ...tensors.tensor import Tensor
from ..table.rows import Grads, Run, Tensors, aten, composite, rewritten

Step = Callable[[Tensor, Tensors, Grads], tuple[Tensor, ...]]
"""A cell: (the input's part, the state, weights) -> the state."""
Options = tuple[Tensors, int, bool]
"""Weights, whether there are biases, layers, dropout, training, both directions."""


def _parts(x: Tensor, h: Tensor, weights: Grads) -> tuple[Tensor, Tensor]:
    w_ih, w_hh, *biases = [*weights, None, None][:4]
    return aten.linear(x, w_ih, biases[0]), aten.linear(h, w_hh, biases[1])


def _lstm_step(x: Tensor, state: Tensors, weights: Grads) -> tuple[Tensor, Tensor]:
    h, c = state
    if len(weights) in (3, 5):  # the last one projects the state
        *weights, projection = weights
    else:
        projection = None
    mine, own = _parts(x, h, weights)
    i, f, g, o = (mine + own).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return (h if projection is None else aten.linear(h, projection)), c


def _gru_step(x: Tensor, state: Tensors, weights: Grads) -> tuple[Tensor, ...]:
    (h,) = state
    mine, own = _parts(x, h, weights)
    r, z, n = mine.chunk(3, -1)
    own_r, own_z, own_n = own.chunk(3, -1)
    r, z = (r + own_r).sigmoid(), (z + own_z).sigmoid()
    n = (n + r * own_n).tanh()
    return ((h - n) * z + n,)


def _tanh_step(x: Tensor, state: Tensors, weights: Grads) -> tuple[Tensor, ...]:
    mine, own = _parts(x, state[0], weights)
    return ((mine + own).tanh(),)


def _relu_step(x: Tensor, state: Tensors, weights: Grads) -> tuple[Tensor, ...]:
    mine, own = _parts(x, state[0], weights)
    return ((mine + own).relu(),)


_STEPS: Final[dict[str, Step]] = dict(
    zip(KINDS, (_relu_step, _tanh_step, _lstm_step, _gru_step), strict=True)
)


def _one_way(
    step: Step, inputs: Tensors, state: Tensors, weights: Tensors
) -> tuple[list[Tensor], Tensors]:
    """One layer in one direction; later steps may be of fewer rows, whose states come to rest."""
    outputs, resting = [], []
    for x in inputs:
        rows = x.shape[0]
        if state[0].shape[0] > rows:
            left = state[0].shape[0] - rows
            resting.append([s.narrow(0, rows, left) for s in state])
            state = [s.narrow(0, 0, rows) for s in state]
        state = step(x, state, weights)
        outputs.append(state[0])
    for rest in reversed(resting):
        state = [aten.cat([s, r], 0) for s, r in zip(state, rest, strict=True)]
    return outputs, state


def _other_way(
    step: Step, inputs: Tensors, state: Tensors, weights: Tensors
) -> tuple[list[Tensor], Tensors]:
    """From the last step on, which may be of fewer rows than earlier ones."""
    outputs: list[Tensor] = []
    now: Tensors = [s.narrow(0, 0, inputs[-1].shape[0]) for s in state]
    for x in reversed(inputs):
        rows = now[0].shape[0]
        if x.shape[0] > rows:
            more = x.shape[0] - rows
            now = [
                aten.cat([s, whole.narrow(0, rows, more)], 0)
                for s, whole in zip(now, state, strict=True)
            ]
        now = step(x, now, weights)
        outputs.insert(0, now[0])
    return outputs, now


def _layers(
    step: Step,
    inputs: Tensors,
    states: Tensors,
    params: Tensors,
    num_layers: int,
    bidirectional: bool,
) -> tuple[Tensors, list[Tensor]]:
    """All layers: the outputs by step, and the last states stacked."""
    ways = 2 if bidirectional else 1
    each = len(params) // (num_layers * ways)
    ends: list[Tensors] = []
    for layer in range(num_layers):
        found = []
        for way in range(ways):
            number = layer * ways + way
            weights = list(params[number * each : (number + 1) * each])
            state = [s.select(0, number) for s in states]
            run = _other_way if way else _one_way
            outputs, end = run(step, inputs, state, weights)
            found.append(outputs)
            ends.append(end)
        both = zip(*found, strict=True)
        inputs = found[0] if ways == 1 else [aten.cat(list(pair), -1) for pair in both]
    stacked = [aten.stack([end[i] for end in ends], 0) for i in range(len(states))]
    return inputs, stacked


def _whole(
    step: Step, input: Tensor, states: Tensors, batch_first: bool, *options: *Options
) -> tuple[Tensor, ...]:
    single = input.ndim == 2
    x = input.unsqueeze(1) if single else input.transpose(0, 1) if batch_first else input
    states = [s.unsqueeze(1) for s in states] if single and states[0].ndim == 2 else states
    outputs, ends = _layers(step, list(x.unbind(0)), states, *options)
    y = aten.stack(outputs, 0)
    if single:
        return y.squeeze(1), *(e.squeeze(1) for e in ends)
    return (y.transpose(0, 1) if batch_first else y), *ends


def _packed(
    step: Step, data: Tensor, batch_sizes: Tensor, states: Tensors, *options: *Options
) -> tuple[Tensor, ...]:
    inputs = list(data.split(batch_sizes.tolist(), 0))
    outputs, ends = _layers(step, inputs, states, *options)
    return aten.cat(outputs, 0), *ends


@composite("aten::lstm.input", name="TransposeBackward0")
def lstm(
    input: Tensor, hx: Tensors, params: Tensors, has_biases: bool, num_layers: int, dropout: float,
    train: bool, bidirectional: bool, batch_first: bool,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Long short-term memory."""
    options = (params, num_layers, bidirectional)
    return _whole(_lstm_step, input, list(hx), batch_first, *options)


@composite("aten::mkldnn_rnn_layer", apart=(3,))
def recurrent_layer(
    input: Tensor, weight0: Tensor, weight1: Tensor, weight2: Tensor, weight3: Tensor, hx_: Tensor,
    cx_: Tensor, reverse: bool, batch_sizes: Sequence[int], mode: int, has_biases: bool,
    results: Tensors,
) -> tuple[Tensor, ...]:  # fmt: skip
    """One layer of a recurrent network in one direction."""
    weights = [weight0, weight1, *([weight2, weight3] if has_biases else [])]
    given = (hx_, cx_) if KINDS[mode] == "lstm" else (hx_,)
    state = [each.reshape(each.shape[-2:]) for each in given]
    inputs = input.split(list(batch_sizes), 0) if batch_sizes else input.unbind(0)
    run = _other_way if reverse else _one_way
    outputs, ends = run(_STEPS[KINDS[mode]], list(inputs), state, weights)
    last = [end.reshape(hx_.shape) for end in ends] + [results[2]] * (2 - len(ends))
    made = aten.cat(outputs, 0) if batch_sizes else aten.stack(outputs, 0)
    return made, *last, results[3]


@composite("aten::lstm.data", name="CatBackward0")
def lstm_packed(
    data: Tensor, batch_sizes: Tensor, hx: Tensors, params: Tensors, has_biases: bool,
    num_layers: int, dropout: float, train: bool, bidirectional: bool,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Long short-term memory over packed sequences."""
    options = (params, num_layers, bidirectional)
    return _packed(_lstm_step, data, batch_sizes, list(hx), *options)


def _declare(name: str, step: Step) -> None:
    @composite(f"aten::{name}.input", name="TransposeBackward0")
    def whole(
        input: Tensor, hx: Tensor, params: Tensors, has_biases: bool, num_layers: int,
        dropout: float, train: bool, bidirectional: bool, batch_first: bool,
    ) -> tuple[Tensor, ...]:  # fmt: skip
        options = (params, num_layers, bidirectional)
        return _whole(step, input, [hx], batch_first, *options)

    @composite(f"aten::{name}.data", name="CatBackward0")
    def packed(
        data: Tensor, batch_sizes: Tensor, hx: Tensor, params: Tensors, has_biases: bool,
        num_layers: int, dropout: float, train: bool, bidirectional: bool,
    ) -> tuple[Tensor, ...]:  # fmt: skip
        options = (params, num_layers, bidirectional)
        return _packed(step, data, batch_sizes, [hx], *options)

    @composite(f"aten::{name}_cell", name="AddBackward0")
    def cell(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None,
        b_hh: Tensor | None,
    ) -> Tensor:  # fmt: skip
        return step(input, (hx,), [w_ih, w_hh, b_ih, b_hh])[0]


# --------------------------------------------------------------------------- layer by layer


def _plain_layers(
    kind: str, data: Array, states: list[Array], params: Sequence[Array], has_biases: bool,
    num_layers: int, bidirectional: bool, sizes: list[int],
) -> list[list[Weights]]:  # fmt: skip
    """The weights of the layers, by direction, if operators of one layer and direction each take
    all of them."""
    ways, count = 2 if bidirectional else 1, 4 if has_biases else 2
    if len(states) != (2 if kind == "lstm" else 1) or len(params) != num_layers * ways * count:
        return []
    if any(s.ndim != 3 or len(s) != num_layers * ways for s in states):
        return []
    nothing, size = (None,) * (4 - count), states[0].shape[-1]
    groups = [
        Weights._make((*params[at : at + count], *nothing, None))
        for at in range(0, len(params), count)
    ]
    if not takes(kind, data, states, groups[:ways], sizes):
        return []
    if not are_plain(steps[kind], groups[ways:], size):
        return []
    if any(each.w_ih.shape[1] != ways * size for each in groups[ways:]):
        return []
    return [groups[at : at + ways] for at in range(0, len(groups), ways)]


def _kept(
    run: Run, kind: str, data: Array, given: list[Array], layers: Sequence[Sequence[Weights]],
    noise: float, sizes: list[int],
) -> tuple[Array, ...]:  # fmt: skip
    """A network as operators of one layer and direction each, which leave gates and states."""
    size, mode, ends = given[0].shape[-1], KINDS.index(kind), []
    states = zip(*(run("aten::unbind.int", each, 0) for each in given), strict=True)
    for layer, ways in enumerate(layers):
        data, outputs = _thinned(run, data, noise if layer else 0.0), []
        for number, way in enumerate(ways):
            has_biases = way.b_ih is not None
            biases = (way.b_ih, way.b_hh) if has_biases else [np.zeros(0, np.float32)] * 2
            state = next(states)
            both = state if len(state) == 2 else (*state, np.zeros(0, np.float32))
            settings = number == 1, sizes, mode, size, 1, has_biases, len(ways) == 2, False, True
            weights = way.w_ih, way.w_hh, *biases
            out, *end = run("aten::mkldnn_rnn_layer", data, *weights, *both, *settings)[:3]
            outputs.append(out)
            ends.append(end[: len(state)])
        data = outputs[0] if len(ways) == 1 else run("aten::cat", outputs, -1)
    return data, *(run("aten::stack", list(each), 0) for each in zip(*ends, strict=True))


def _thinned(run: Run, data: Array, noise: float) -> Array:
    """What a layer is given, times noise if there is to be some."""
    factors = FACTORS["aten::dropout"](data, noise, True) if noise else None
    made: Array = data if factors is None else run("aten::mul.Tensor", data, factors[0])
    return made


def _one_by_one(
    run: Run, layer: Callable[..., tuple[Array, ...]], data: Array, hx: Array | list[Array],
    params: Sequence[Array], num_layers: int, dropout: float, bidirectional: bool,
) -> tuple[Array, ...]:  # fmt: skip
    """The layers as operators of one layer each, which leave what each gave for its gradient."""
    ways = 2 if bidirectional else 1
    each = len(params) // num_layers
    ends = []
    for number in range(num_layers):
        data = _thinned(run, data, dropout if number else 0.0)
        states = [
            run("aten::narrow", s, 0, number * ways, ways)
            for s in (hx if type(hx) is list else [hx])
        ]
        weights = params[number * each : (number + 1) * each]
        data, *end = layer(data, states if type(hx) is list else states[0], weights)
        ends.append(end)
    if len(ends) == 1:
        return data, *ends[0]
    return data, *(run("aten::cat", list(parts), 0) for parts in zip(*ends, strict=True))


def _declare_by_layers(name: str) -> None:
    @rewritten(f"aten::{name}.input")
    def whole(
        run: Run, input: Array, hx: Array | list[Array], params: Sequence[Array], has_biases: bool,
        num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
    ) -> tuple[Array, ...] | None:  # fmt: skip
        turned, states = batch_first and input.ndim == 3, hx if isinstance(hx, list) else [hx]
        lying = np.swapaxes(input, 0, 1) if turned else input
        options = params, has_biases, num_layers, bidirectional
        layers = _plain_layers(name, lying, states, *options, [])
        if num_layers < 2 and not layers:
            return None
        noise = dropout if train else 0.0

        def layer(data: Array, hx: Any, weights: Sequence[Array]) -> tuple[Array, ...]:
            given = weights, has_biases, 1, 0.0, train, bidirectional, False
            made: tuple[Array, ...] = run(f"aten::{name}.input", data, hx, *given)
            return made

        data = run("aten::transpose.int", input, 0, 1) if turned else input
        if layers:
            data, *ends = _kept(run, name, data, states, layers, noise, [])
        else:
            rest = num_layers, noise, bidirectional
            data, *ends = _one_by_one(run, layer, data, hx, params, *rest)
        return run("aten::transpose.int", data, 0, 1) if turned else data, *ends

    @rewritten(f"aten::{name}.data")
    def packed(
        run: Run, data: Array, batch_sizes: Array, hx: Array | list[Array], params: Sequence[Array],
        has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool,
    ) -> tuple[Array, ...] | None:  # fmt: skip
        noise, sizes = dropout if train else 0.0, batch_sizes.tolist()
        states = hx if isinstance(hx, list) else [hx]
        options = params, has_biases, num_layers, bidirectional
        layers = _plain_layers(name, data, states, *options, sizes) if sizes else []
        if layers:
            return _kept(run, name, data, states, layers, noise, sizes)
        if num_layers < 2:
            return None

        def layer(data: Array, hx: object, weights: Sequence[Array]) -> tuple[Array, ...]:
            given = weights, has_biases, 1, 0.0, train, bidirectional
            made: tuple[Array, ...] = run(f"aten::{name}.data", data, batch_sizes, hx, *given)
            return made

        return _one_by_one(run, layer, data, hx, params, num_layers, noise, bidirectional)


for _name in ("gru", "rnn_tanh", "rnn_relu"):
    _declare(_name, _STEPS[_name])


@composite("aten::lstm_cell", name="MulBackward0")
def lstm_cell(
    input: Tensor, hx: Tensors, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> tuple[Tensor, Tensor]:
    """One step of a long short-term memory."""
    return _lstm_step(input, tuple(hx), [w_ih, w_hh, b_ih, b_hh])


for _name in _STEPS:
    _declare_by_layers(_name)
