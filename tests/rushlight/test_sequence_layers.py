"""Layers over sequences: what they leave out, and what they refuse, as in torch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

nn: Any = torch.nn


def encoder(**options: Any) -> Any:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    return nn.TransformerEncoder(layer, 2, **options).eval()


PADDING = torch.tensor([[False, False, False], [False, True, True]])


def test_hooks_in_an_encoder_do_not_change_what_it_leaves_out() -> None:
    x = torch.randn(2, 3, 4)
    plain, watched, shapes = encoder(), encoder(), []
    for module in watched.layers.modules():
        module.register_forward_hook(lambda *call: shapes.append(call[0]))
    with torch.no_grad():
        wanted, got = (each(x, src_key_padding_mask=PADDING) for each in (plain, watched))
    assert shapes
    assert torch.allclose(got, wanted, atol=1e-6)
    assert got[1, 1:].tolist() == [[0.0] * 4] * 2


@pytest.mark.parametrize("mask_check", [True, False])
def test_padding_must_fit_the_batch(mask_check: bool) -> None:
    with torch.no_grad(), pytest.raises(RuntimeError, match=r"^Mask size should match input size$"):
        encoder(mask_check=mask_check)(torch.randn(2, 3, 4), None, PADDING[:, :2])


def test_padding_that_is_not_checked_counts_from_the_end() -> None:
    x = torch.randn(1, 3, 4)
    one, other = torch.tensor([[True, False, False]]), torch.tensor([[False, False, True]])
    with torch.no_grad():
        model = encoder(mask_check=False)
        assert torch.equal(model(x, None, one), model(x, None, other))


def test_who_may_attend_to_nothing_gets_nan_in_inference_too() -> None:
    attention = nn.MultiheadAttention(4, 2, batch_first=True).eval()
    x, nobody = torch.randn(1, 3, 4), torch.ones(1, 3).bool()
    for context in (torch.no_grad(), torch.enable_grad()):
        with context:
            output, weights = attention(x, x, x, key_padding_mask=nobody)
        assert output.isnan().all()
        assert weights.isnan().all()
    with torch.no_grad():
        assert attention(x, x, x, need_weights=False)[1] is None


@pytest.mark.parametrize("options", [{"kdim": 3, "vdim": 5}, {"bias": False}], ids=str)
def test_attention_of_any_form_can_be_scripted(options: dict[str, Any]) -> None:
    attention = nn.MultiheadAttention(4, 2, **options)
    inputs = (
        torch.randn(2, 1, 4),
        torch.randn(3, 1, attention.kdim),
        torch.randn(3, 1, attention.vdim),
    )
    for one, other in zip(attention(*inputs), torch.jit.script(attention)(*inputs), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (((2, 4), (2, 4)), "input has inconsistent input_size: got 4 expected 3"),
        (((2, 3), (2, 1)), "hidden0 has inconsistent hidden_size: got 1, expected 4"),
        (((2, 3), (1, 4)), "Input batch size 2 doesn't match hidden0 batch size 1"),
        (((2, 3), (4,)), "Input batch size 2 doesn't match hidden0 batch size 4"),
    ],
    ids=str,
)
def test_cells_never_broadcast(given: tuple[tuple[int, ...], ...], sentence: str) -> None:
    x, state = map(torch.randn, given)
    for cell, hx in (
        (nn.RNNCell(3, 4), state),
        (nn.GRUCell(3, 4), state),
        (nn.LSTMCell(3, 4), (state, state)),
    ):
        with pytest.raises(RuntimeError) as caught:
            cell(x, hx)
        assert str(caught.value).splitlines()[0] == sentence


def test_layers_whose_parts_were_replaced_are_computed_by_them() -> None:
    torch.manual_seed(2)
    layer = torch.nn.TransformerEncoderLayer(4, 2, 6).eval()
    x = torch.randn(3, 2, 4)
    wanted = layer(x)
    layer.linear1 = torch.nn.Sequential(layer.linear1)  # has no weight of its own
    assert torch.allclose(layer(x), wanted)
