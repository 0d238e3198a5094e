"""Recurrent layers by kernels: as step by step, on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.gradients.direct import recurrent as direct
from rushlight.ops.kernels import threads

recurrent = kernels.family("sequences.recurrent")
pytestmark = pytest.mark.skipif(recurrent is None, reason="no native code here")

LAYERS = ("LSTM", "GRU", "RNN")


def parts(made: Any) -> list[Any]:
    """The arrays of an output and its states, packed or not."""
    output, state = made
    output = getattr(output, "data", output)
    every = (output, *(state if isinstance(state, tuple) else (state,)))
    return [each.detach().numpy() for each in every]


def both_ways(call: Any) -> tuple[list[Any], list[Any]]:
    """What a call makes by kernels, and step by step."""
    with torch.no_grad(), pytest.MonkeyPatch.context() as patch:
        native = parts(call())
        patch.setitem(kernels._FAMILIES, "sequences.recurrent", None)
        return native, parts(call())


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(LAYERS),
    st.sampled_from([1, 2, 7, 16, 33]),
    st.sampled_from([1, 2, 5, 11]),
    st.sampled_from([1, 2, 3, 4, 9]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_layers_are_as_step_by_step(
    name: str, width: int, batch: int, length: int, bias: bool, twice: bool, packed: bool
) -> None:
    torch.manual_seed(width)
    layer = getattr(torch.nn, name)(3, width, bias=bias, bidirectional=twice).eval()
    x: Any = torch.randn(length, batch, 3)
    if packed:
        lengths = sorted((1 + i % length for i in range(batch)), reverse=True)
        x = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths))
    for one, other in zip(*both_ways(lambda: layer(x)), strict=True):
        assert one.shape == other.shape
        assert np.allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["LSTMCell", "GRUCell", "RNNCell"])
def test_cells_leave_their_state_as_it_is(name: str) -> None:
    cell = getattr(torch.nn, name)(5, 20)
    x, h = torch.randn(3, 5), torch.randn(3, 20)
    state = (h, torch.randn(3, 20)) if name == "LSTMCell" else h
    before = h.clone()
    made = both_ways(lambda: (x, cell(x, state)))
    assert all(np.allclose(one, two, rtol=1e-5, atol=1e-6) for one, two in zip(*made, strict=True))
    assert torch.equal(h, before)


@pytest.mark.parametrize("width", [1, 5, 24, 100])
@pytest.mark.parametrize("name", LAYERS)
def test_many_rows_are_multiplied_by_turned_weights(name: str, width: int) -> None:
    """A sequence is the same bits however many others are beside it, if weights are turned."""
    layer, x = getattr(torch.nn, name)(3, width).eval(), torch.randn(12, 15, 3)
    with torch.no_grad():
        whole, few = (layer(each)[0] for each in (x, x[:, 2:9].contiguous()))
    assert torch.equal(whole[:, 2:9], few)
    for one, other in zip(*both_ways(lambda: layer(x)), strict=True):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-6)


def test_what_is_not_a_number_stays_in_its_sequence() -> None:
    for name in LAYERS:
        layer = getattr(torch.nn, name)(4, 9).eval()
        x = torch.randn(6, 3, 4)
        x[2, 1, 0] = float("nan")
        found = parts([layer(x)[0], torch.zeros(1)])[0]
        assert np.isnan(found[2:, 1]).all()
        assert np.isfinite(found[:, [0, 2]]).all()
        assert np.isfinite(found[:2]).all()


def test_the_number_of_threads_changes_no_bit() -> None:
    layer, x = torch.nn.LSTM(60, 64).eval(), torch.randn(40, 7, 60)
    before, found = threads.get_threads(), set()
    for count in (1, 2, 3):
        threads.set_threads(count)
        with torch.no_grad():
            found.add(b"".join(each.tobytes() for each in parts(layer(x))))
    threads.set_threads(before)
    assert len(found) == 1


def test_sizes_that_do_not_fit_are_refused() -> None:
    f = np.zeros
    order = recurrent.order_of((2, 1), is_reversed=False)
    good: dict[str, Any] = {"gates": f((3, 12), "f"), "state": (f((2, 4), "f"),)}
    good |= {"weights": f((12, 4), "f"), "bias": f(12, "f"), "order": order}
    good |= {"out": f((3, 4), "f"), "ends": (f((2, 4), "f"),)}
    recurrent.through_time("gru", **good)
    wrong = {"gates": f((2, 12), "f"), "state": (f((1, 4), "f"),), "weights": f((12, 5), "f")}
    wrong |= {"bias": f(4, "f"), "order": recurrent.order_of((3, 1), is_reversed=False)}
    wrong |= {"out": f((2, 4), "f"), "ends": (f((2, 5), "f"),)}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match="do not fit"):
            recurrent.through_time("gru", **good | {name: value})
    for sizes in ((), (2, -1)):
        with pytest.raises(ValueError, match="negative"):
            recurrent.order_of(sizes, is_reversed=True)


@pytest.mark.parametrize("layer", ["RNN", "LSTM", "GRU"])
def test_batches_without_samples_and_sequences_without_steps(layer: str) -> None:
    module = getattr(torch.nn, layer)(4, 3, 2, bidirectional=True)
    x = torch.zeros(5, 0, 4, requires_grad=True)
    out = module(x)[0]
    out.sum().backward()
    assert (tuple(out.shape), tuple(x.grad.shape)) == ((5, 0, 6), (5, 0, 4))
    with pytest.raises(RuntimeError, match="Expected sequence length to be larger than 0 in RNN"):
        module(torch.zeros(0, 2, 4))


KEPT: list[dict[str, Any]] = [
    {},
    {"batch_first": True},
    {"bidirectional": True, "bias": False},
    {"num_layers": 2, "bidirectional": True},
]


def found_both_ways(
    made: tuple[Any, Any], given: list[Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, Any]:
    """The gradients of all that a layer made, by native code alone and operator by operator."""

    def never(*given: object) -> None:
        raise AssertionError

    outputs, states = made
    every = [getattr(outputs, "data", outputs), *(states if type(states) is tuple else (states,))]
    torch.manual_seed(8)
    total = sum((each * torch.randn_like(each)).sum() for each in every)
    composed = torch.autograd.grad(total, given, create_graph=True, retain_graph=True)
    for name in ("_opened", "_gates", "_before"):
        monkeypatch.setattr(direct, name, never)
    return composed, torch.autograd.grad(total, given)


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
@pytest.mark.parametrize("options", KEPT)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_keep_their_gates(
    name: str, options: dict[str, Any], nonlinearity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(5)
    kind = {"nonlinearity": nonlinearity} if name == "RNN" else {}
    layer = getattr(torch.nn, name)(7, 19, **options, **kind)
    x = torch.randn(4, 5, 7, requires_grad=True)
    with torch.no_grad():
        plain = layer(x)
    made = layer(x)
    for one, other in zip(parts(made), parts(plain), strict=True):
        assert np.array_equal(one, other)
    composed, native = found_both_ways(made, [x, *layer.parameters()], monkeypatch)
    for one, other in zip(composed, native, strict=True):
        torch.testing.assert_close(other, one.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", KEPT)
@pytest.mark.parametrize("name", LAYERS)
def test_packed_layers_keep_their_gates(
    name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(6)
    layer = getattr(torch.nn, name)(7, 19, **options)
    x, lengths = torch.randn(6, 5, 7, requires_grad=True), torch.tensor([5, 5, 4, 2, 2, 1])
    pack = torch.nn.utils.rnn.pack_padded_sequence
    packed = pack(x, lengths, batch_first=True)
    with torch.no_grad():
        plain = layer(pack(x.detach(), lengths, batch_first=True))
    made = layer(packed)
    for one, other in zip(parts(made), parts(plain), strict=True):
        assert np.array_equal(one, other)
    composed, native = found_both_ways(made, [x, *layer.parameters()], monkeypatch)
    for one, other in zip(composed, native, strict=True):
        torch.testing.assert_close(other, one.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_the_number_of_threads_changes_no_bit_of_a_gradient(name: str) -> None:
    layer, x = getattr(torch.nn, name)(60, 72), torch.randn(40, 23, 60)
    before, found = threads.get_threads(), set()
    for count in (1, 2, 3):
        threads.set_threads(count)
        layer.zero_grad()
        layer(x)[0].square().sum().backward()
        found.add(b"".join(each.grad.numpy().tobytes() for each in layer.parameters()))
    threads.set_threads(before)
    assert len(found) == 1


def test_sizes_of_gradients_that_do_not_fit_are_refused() -> None:
    kernels_back = kernels.family("sequences.recurrent_gradients")
    f = np.zeros
    good: dict[str, Any] = {"kept": f((3, 16), "f"), "after": f((3, 4), "f")}
    good |= {"first": f((2, 4), "f"), "grads": f((3, 4), "f"), "weights": f((12, 4), "f")}
    good |= {"order": recurrent.order_of((2, 1), is_reversed=False), "states": (f((2, 4), "f"),)}
    good |= {"found": (f((3, 12), "f"), f((3, 12), "f"))}
    kernels_back.back_through_time("gru", **good)
    wrong = {"kept": f((3, 12), "f"), "after": f((2, 4), "f"), "first": f((1, 4), "f")}
    wrong |= {"grads": f((3, 5), "f"), "weights": f((16, 4), "f")}
    wrong |= {"states": (f((2, 5), "f"),), "found": (f((3, 12), "f"), f((3, 16), "f"))}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match="do not fit"):
            kernels_back.back_through_time("gru", **good | {name: value})


@pytest.mark.parametrize("name", LAYERS)
def test_packed_sequences_of_one_length_are_one_layer(name: str) -> None:
    torch.manual_seed(6)
    layer, x = getattr(torch.nn, name)(7, 19, 2, bidirectional=True), torch.randn(5, 3, 7)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 5, 5]))
    (made, hidden), (plain, last) = layer(packed), layer(x)
    hidden, last = (each[0] if type(each) is tuple else each for each in (hidden, last))
    assert torch.equal(made.data, plain.flatten(0, 1))
    assert torch.equal(hidden, last)
    given = list(layer.parameters())
    weights = torch.randn_like(plain)
    ours = torch.autograd.grad((made.data * weights.flatten(0, 1)).sum() + hidden.sum(), given)
    theirs = torch.autograd.grad((plain * weights).sum() + last.sum(), given)
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("mode", "name"), [(0, "RNN"), (1, "RNN"), (3, "GRU")])
def test_a_layer_without_cells_in_one_direction(
    mode: int, name: str, reverse: bool, dtype: torch.dtype
) -> None:
    torch.manual_seed(7)
    kind = {"nonlinearity": ("relu", "tanh")[mode]} if name == "RNN" else {}
    layer = getattr(torch.nn, name)(3, 4, dtype=dtype, **kind)
    h, weights = torch.randn(2, 4, dtype=dtype), list(layer.parameters())
    data, sizes = torch.randn(5, 3, dtype=dtype), [2, 2, 1]
    packed = torch.nn.utils.rnn.PackedSequence(data, torch.tensor(sizes))
    both = getattr(torch.nn, name)(3, 4, dtype=dtype, bidirectional=True, **kind)
    for place, each in enumerate(both.parameters()):
        each.data = weights[place % 4].data
    plain, last = both(packed, torch.stack([h, h]))
    settings = mode, 4, 1, True, False, False, True
    out, hidden, _, _ = torch.mkldnn_rnn_layer(data, *weights, h, h[:0], reverse, sizes, *settings)
    assert torch.equal(out, plain.data[:, 4:] if reverse else plain.data[:, :4])
    assert torch.equal(hidden, last[int(reverse)])
    found = torch.autograd.grad(out.sum() + hidden.square().sum(), weights)
    wanted = torch.autograd.grad(
        (plain.data[:, 4:] if reverse else plain.data[:, :4]).sum()
        + last[int(reverse)].square().sum(),
        list(both.parameters())[4 * reverse :][:4],
    )
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_layer_in_one_direction(dtype: torch.dtype, reverse: bool) -> None:
    torch.manual_seed(7)
    layer = torch.nn.LSTM(3, 4, dtype=dtype)
    x, h, c = (torch.randn(*shape, dtype=dtype) for shape in ((5, 2, 3), (2, 4), (2, 4)))
    weights = [each.detach().requires_grad_() for each in layer.parameters()]
    settings = reverse, [], 2, 4, 1, True, False, False, True
    out, hidden, cell, kept = torch.mkldnn_rnn_layer(x, *weights, h, c, *settings)
    given = x.flip(0) if reverse else x
    plain, (last, end) = layer(given, (h[None], c[None]))
    assert torch.equal(out, plain.flip(0) if reverse else plain)
    assert torch.equal(hidden, last[0])
    assert torch.equal(cell, end[0])
    assert kept.dtype == torch.uint8
    assert not kept.requires_grad
    found = torch.autograd.grad(out.sum() + cell.sum(), weights)
    wanted = torch.autograd.grad(plain.sum() + end.sum(), list(layer.parameters()))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)
    with pytest.raises(RuntimeError, match="one of 0 to 3"):
        torch.mkldnn_rnn_layer(x, *weights, h, c, reverse, [], 4, *settings[3:])


@pytest.mark.parametrize("name", LAYERS)
def test_nodes_of_layers_have_the_names_of_what_made_them(name: str) -> None:
    x, plain = torch.randn(5, 2, 3), "StackBackward0"
    if name == "LSTM":
        plain = "MkldnnRnnLayerBackward0"
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3]))
    layer = getattr(torch.nn, name)(3, 4)
    assert layer(x)[0].grad_fn.name() == plain
    assert layer(packed)[0].data.grad_fn.name() == "CatBackward0"
    both = getattr(torch.nn, name)(3, 4, bidirectional=True)
    assert both(x)[0].grad_fn.name() == "CatBackward0"
