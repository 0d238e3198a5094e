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
    return [each.numpy() for each in (output, *(state if isinstance(state, tuple) else (state,)))]


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


@pytest.mark.parametrize("options", KEPT)
def test_lstm_keeps_its_gates(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(5)
    layer, x = torch.nn.LSTM(7, 19, **options), torch.randn(4, 5, 7, requires_grad=True)
    with torch.no_grad():
        plain = layer(x)
    outputs, (hidden, cell) = layer(x)
    for made, one in zip((outputs, hidden, cell), (plain[0], *plain[1]), strict=True):
        assert torch.equal(made, one)
    given = [x, *layer.parameters()]
    total = sum((each * torch.randn_like(each)).sum() for each in (outputs, hidden, cell))
    composed = torch.autograd.grad(total, given, create_graph=True, retain_graph=True)

    def never(*given: object) -> None:
        raise AssertionError

    monkeypatch.setattr(direct, "_opened", never)
    for one, other in zip(composed, torch.autograd.grad(total, given), strict=True):
        torch.testing.assert_close(other, one.detach(), rtol=1e-4, atol=1e-5)


def test_packed_sequences_of_one_length_are_one_layer() -> None:
    torch.manual_seed(6)
    layer, x = torch.nn.LSTM(7, 19, 2, bidirectional=True), torch.randn(5, 3, 7)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 5, 5]))
    made, (hidden, _) = layer(packed)
    plain, (last, _) = layer(x)
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
    with pytest.raises(RuntimeError, match="mode 2"):
        torch.mkldnn_rnn_layer(x, *weights, h, c, reverse, [], 3, *settings[3:])
