"""Recurrent layers as ONNX's LSTM, GRU and RNN, and their cells."""

from __future__ import annotations

from collections.abc import Sequence

from ..items import Item, Operand, Unsupported
from ..table import exports
from ..writer import Writer
from .products import linear

_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}
"""Where ONNX's gates stand among torch's: input, output, forget, cell; update, reset, hidden."""


def _ordered(w: Writer, kind: str, operand: Operand) -> Operand:
    """Weights or biases with the gates in ONNX's order."""
    gates = _GATES[kind]
    if len(gates) == 1:
        return operand
    size = w.known_size(operand, 0, "the width of the layer") // len(gates)
    parts = [w.slice(operand, 0, gate * size, (gate + 1) * size) for gate in gates]
    return w.op("Concat", *parts, axis=0)


def _weights(
    w: Writer, kind: str, groups: Sequence[Sequence[Operand]], has_biases: bool
) -> tuple[Operand, Operand, Operand | None]:
    """W, R and B of all directions."""

    def both(number: int) -> Operand:
        parts = [w.unsqueeze(_ordered(w, kind, group[number]), 0) for group in groups]
        return parts[0] if len(parts) == 1 else w.op("Concat", *parts, axis=0)

    inward, inner = both(0), both(1)
    if not has_biases:
        return inward, inner, None
    return inward, inner, w.op("Concat", both(2), both(3), axis=1)


def _layers(
    w: Writer,
    kind: str,
    x: Operand,
    states: Sequence[Operand],
    params: Item,
    has_biases: Item,
    num_layers: Item,
    dropout: Item,
    train: Item,
    bidirectional: Item,
    **options: object,
) -> tuple[Operand, list[Operand]]:
    """All layers over a sequence whose first dimension is time."""
    if train is True and w.real(dropout, "dropout") != 0:
        raise Unsupported("it draws random numbers in training; export the model in `eval()`")
    if not isinstance(params, list):
        raise Unsupported("weights that only a run knows")
    directions = 2 if bidirectional is True else 1
    with_biases = has_biases is True
    weights = [w.tensor(each) for each in params]
    each = 4 if with_biases else 2
    count = w.whole(num_layers, "num_layers")
    if len(weights) != each * directions * count:
        raise Unsupported("projections")
    ends: list[list[Operand]] = [[] for _ in states]
    if kind == "RNN" and directions == 2:
        options["activations"] = list(options["activations"]) * 2  # type: ignore[call-overload]
    for layer in range(count):
        first = layer * directions
        groups = [weights[each * n : each * (n + 1)] for n in range(first, first + directions)]
        starts = [w.slice(state, 0, first, first + directions) for state in states]
        width = w.known_size(groups[0][1], 1, "the width of the layer")
        found = w.ops(
            1 + len(states),
            kind,
            x,
            *_weights(w, kind, groups, with_biases),
            None,
            *starts,
            hidden_size=width,
            direction="bidirectional" if directions == 2 else "forward",
            **options,
        )
        x = _joined(w, found[0], directions, width)
        for number, end in enumerate(found[1:]):
            ends[number].append(end)
    joined = [parts[0] if count == 1 else w.op("Concat", *parts, axis=0) for parts in ends]
    return x, joined


def _joined(w: Writer, y: Operand, directions: int, width: int) -> Operand:
    """(time, direction, batch, width) as (time, batch, directions * width)."""
    if directions == 1:
        return w.squeeze(y, 1)
    turned = w.op("Transpose", y, perm=[0, 2, 1, 3])
    return w.op("Reshape", turned, w.ints(0, 0, directions * width))


def _sequence(
    w: Writer, kind: str, args: Sequence[Item], states: int, **options: object
) -> tuple[Operand, ...]:
    """`(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`."""
    if len(args) != 9 or not isinstance(args[2], list) or isinstance(args[3], list):
        raise Unsupported("packed sequences")
    input, given, *rest, batch_first = args
    x = w.tensor(input)
    starts = [w.tensor(each) for each in (given if isinstance(given, list) else [given])]
    if len(starts) != states:
        raise Unsupported("the number of states")
    is_single = w.rank(x) == 2
    if is_single:
        x, starts = w.unsqueeze(x, 1), [w.unsqueeze(each, 1) for each in starts]
    elif batch_first is True:
        x = w.transpose(x, [1, 0, 2])
    y, ends = _layers(w, kind, x, starts, *rest, **options)
    if is_single:
        return tuple(w.squeeze(each, 1) for each in (y, *ends))
    return (w.transpose(y, [1, 0, 2]) if batch_first is True else y, *ends)


@exports("aten::lstm")
def lstm(w: Writer, *args: Item) -> Item:
    return _sequence(w, "LSTM", args, 2)


@exports("aten::gru")
def gru(w: Writer, *args: Item) -> Item:
    return _sequence(w, "GRU", args, 1, linear_before_reset=1)


@exports("aten::rnn_tanh")
def rnn_tanh(w: Writer, *args: Item) -> Item:
    return _sequence(w, "RNN", args, 1, activations=["Tanh"])


@exports("aten::rnn_relu")
def rnn_relu(w: Writer, *args: Item) -> Item:
    return _sequence(w, "RNN", args, 1, activations=["Relu"])


# ------------------------------------------------------------------------------------ cells


def _gates(
    w: Writer, x: Item, h: Item, weights: Sequence[Item], count: int
) -> tuple[list[Operand], list[Operand]]:
    """What the input and the state give to each gate."""
    w_ih, w_hh, b_ih, b_hh = weights
    found = []
    for item, matrix, bias in ((x, w_ih, b_ih), (h, w_hh, b_hh)):
        all_gates = w.tensor(linear(w, item, matrix, bias))
        size = w.known_size(w.tensor(matrix), 0, "the width of the cell") // count
        found.append([w.slice(all_gates, -1, n * size, (n + 1) * size) for n in range(count)])
    return found[0], found[1]


@exports("aten::lstm_cell")
def lstm_cell(w: Writer, input: Item, hx: Item, *weights: Item) -> Item:
    if not isinstance(hx, list):
        raise Unsupported("states that only a run knows")
    from_input, from_state = _gates(w, input, hx[0], weights, 4)
    i, f, g, o = (w.op("Add", a, b) for a, b in zip(from_input, from_state, strict=True))
    kept = w.op("Mul", w.op("Sigmoid", f), w.tensor(hx[1]))
    cell = w.op("Add", kept, w.op("Mul", w.op("Sigmoid", i), w.op("Tanh", g)))
    return w.op("Mul", w.op("Sigmoid", o), w.op("Tanh", cell)), cell


@exports("aten::gru_cell")
def gru_cell(w: Writer, input: Item, hx: Item, *weights: Item) -> Item:
    from_input, from_state = _gates(w, input, hx, weights, 3)
    reset = w.op("Sigmoid", w.op("Add", from_input[0], from_state[0]))
    update = w.op("Sigmoid", w.op("Add", from_input[1], from_state[1]))
    new = w.op("Tanh", w.op("Add", from_input[2], w.op("Mul", reset, from_state[2])))
    return w.op("Add", new, w.op("Mul", update, w.op("Sub", w.tensor(hx), new)))


def _simple_cell(kind: str, w: Writer, input: Item, hx: Item, weights: Sequence[Item]) -> Operand:
    from_input, from_state = _gates(w, input, hx, weights, 1)
    return w.op(kind, w.op("Add", from_input[0], from_state[0]))


@exports("aten::rnn_tanh_cell")
def rnn_tanh_cell(w: Writer, input: Item, hx: Item, *weights: Item) -> Item:
    return _simple_cell("Tanh", w, input, hx, weights)


@exports("aten::rnn_relu_cell")
def rnn_relu_cell(w: Writer, input: Item, hx: Item, *weights: Item) -> Item:
    return _simple_cell("Relu", w, input, hx, weights)
