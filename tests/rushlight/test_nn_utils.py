"""Tools for parameters, gradients and sequences; figures from torch 2.13."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import rushlight as torch

nn: Any = torch.nn
tools = nn.utils


def test_gradients_are_clipped_together() -> None:
    parameters = [
        nn.Parameter(torch.ones(2)),
        nn.Parameter(torch.ones(1)),
        nn.Parameter(torch.ones(1)),
    ]
    parameters[0].grad = torch.tensor([3.0, 0.0])
    parameters[1].grad = torch.tensor([4.0])
    assert tools.clip_grad_norm_(parameters, 1.0).item() == 5.0
    assert parameters[0].grad.tolist() == pytest.approx([0.6, 0.0])
    tools.clip_grad_value_(parameters, 0.5)
    assert parameters[1].grad.tolist() == [0.5]
    parameters[0].grad = torch.tensor([float("inf"), 0.0])
    with pytest.raises(RuntimeError, match=r"total norm of order 2\.0"):
        tools.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)


def test_parameters_become_a_vector_and_back() -> None:
    layer = nn.Linear(2, 2)
    vector = tools.parameters_to_vector(layer.parameters())
    assert vector.shape == (6,)
    tools.vector_to_parameters(torch.arange(6.0), layer.parameters())
    assert (layer.weight.tolist(), layer.bias.tolist()) == ([[0.0, 1.0], [2.0, 3.0]], [4.0, 5.0])


def test_packed_sequences_come_back_in_their_order() -> None:
    given = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0, 5.0]), torch.tensor([6.0])]
    packed = tools.rnn.pack_sequence(given, enforce_sorted=False)
    assert packed.data.tolist() == [3.0, 1.0, 6.0, 4.0, 2.0, 5.0]
    assert packed.batch_sizes.tolist() == [3, 2, 1]
    assert (packed.sorted_indices.tolist(), packed.unsorted_indices.tolist()) == (
        [1, 0, 2],
        [1, 0, 2],
    )
    back = tools.rnn.unpack_sequence(packed)
    assert [t.tolist() for t in back] == [t.tolist() for t in given]
    padded, lengths = tools.rnn.pad_packed_sequence(packed, True, -1.0, total_length=4)
    assert padded.tolist()[2] == [6.0, -1.0, -1.0, -1.0]
    assert lengths.tolist() == [2, 3, 1]


def test_a_recurrent_layer_is_copied_with_its_weights() -> None:
    layer = nn.LSTM(2, 3)
    other = copy.deepcopy(layer)
    assert other._flat_weights[0] is other.weight_ih_l0
    assert other.weight_ih_l0 is not layer.weight_ih_l0
    layer.weight_ih_l0 = nn.Parameter(torch.zeros(12, 2))
    assert layer._flat_weights[0] is layer.weight_ih_l0
    x = torch.ones(2, 1, 2)
    again = pickle.loads(pickle.dumps(other))
    assert torch.equal(again(x)[0], other(x)[0])


def test_weight_norm_keeps_the_weight_and_can_be_taken_away() -> None:
    layer = nn.Linear(3, 2)
    weight = layer.weight.detach().clone()
    tools.parametrizations.weight_norm(layer)
    assert type(layer).__name__ == "ParametrizedLinear"
    assert torch.allclose(layer.weight, weight)
    assert "parametrizations.weight.original1" in layer.state_dict()
    tools.parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert isinstance(layer.weight, nn.Parameter)
    assert torch.allclose(layer.weight, weight)


def test_a_fused_convolution_normalises() -> None:
    convolution, norm = nn.Conv2d(2, 3, 1).eval(), nn.BatchNorm2d(3).eval()
    norm.running_mean.copy_(torch.tensor([0.1, -0.2, 0.3]))
    x = torch.randn(1, 2, 4, 4)
    fused = tools.fuse_conv_bn_eval(convolution, norm)
    assert torch.allclose(fused(x), norm(convolution(x)), atol=1e-6)


def test_a_module_is_called_with_other_parameters() -> None:
    layer = nn.Linear(3, 2)
    before = layer.weight
    given = {"weight": torch.ones(2, 3), "bias": torch.zeros(2)}
    assert torch.func.functional_call(layer, given, (torch.ones(3),)).tolist() == [3.0, 3.0]
    assert layer.weight is before
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'foo'"):
        torch.func.functional_call(layer, {"foo": before}, (torch.ones(3),), strict=True)


def test_an_encoder_in_inference_gives_zero_where_it_is_padded() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    x = torch.randn(2, 3, 4)
    padding = torch.tensor([[False, False, False], [False, True, True]])
    slow = encoder(x, src_key_padding_mask=padding)
    with torch.no_grad():
        fast = encoder(x, src_key_padding_mask=padding)
    assert fast[1, 1:].tolist() == [[0.0] * 4] * 2
    assert torch.allclose(fast[0], slow[0], atol=1e-5)
    assert torch.allclose(fast[1, 0], slow[1, 0], atol=1e-5)


def with_spectral_norms() -> Any:
    made = nn.Sequential(
        tools.spectral_norm(nn.Linear(3, 2)), tools.spectral_norm(nn.ConvTranspose2d(2, 3, 2))
    )
    made[0](torch.ones(1, 3))
    made[1](torch.ones(1, 2, 3, 3))
    return made.eval()


def test_states_of_spectral_norms_say_their_version() -> None:
    state = with_spectral_norms().state_dict()
    assert state._metadata["0"]["spectral_norm"] == {"weight.version": 1}


def test_the_hook_of_a_spectral_norm_puts_itself_on() -> None:
    layer = nn.Linear(3, 4)
    hook = torch.nn.utils.spectral_norm.__globals__["SpectralNorm"].apply(
        layer, "weight", 1, 0, 1e-12
    )
    assert hook in layer._forward_pre_hooks.values()
    assert sorted(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    with pytest.raises(RuntimeError, match="two spectral_norm hooks"):
        type(hook).apply(layer, "weight", 1, 0, 1e-12)
    with pytest.raises(KeyError, match="absent"):
        type(hook).apply(layer, "absent", 1, 0, 1e-12)


def test_states_of_spectral_norms_without_a_version_hold_the_weight() -> None:
    torch.manual_seed(0)
    written = with_spectral_norms()
    result = written[0](torch.ones(1, 3))
    old = {key: value for key, value in written.state_dict().items() if not key.endswith("_v")}
    old |= {f"{n}.weight": written[n].weight.detach().clone() for n in (0, 1)}
    read = with_spectral_norms()
    read.load_state_dict(old)
    for n in (0, 1):
        assert torch.allclose(read[n].weight_v, written[n].weight_v, atol=1e-5)
    assert torch.allclose(read[0](torch.ones(1, 3)), result, atol=1e-5)
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0.weight_u"'):
        read.load_state_dict({key: value for key, value in old.items() if key != "0.weight_u"})


def test_modules_with_spectral_norms_are_pickled_whole() -> None:
    module = with_spectral_norms()
    again = pickle.loads(pickle.dumps(module))
    again.load_state_dict(module.state_dict())
    assert torch.equal(again[0](torch.ones(1, 3)), module[0](torch.ones(1, 3)))
    tools.remove_spectral_norm(again[0])
    assert not again[0]._state_dict_hooks
    assert not again[0]._load_state_dict_pre_hooks


def test_hooks_before_loading_are_pickled_with_their_module() -> None:
    module = nn.Linear(1, 1)
    module.register_load_state_dict_pre_hook(remember)
    again = copy.deepcopy(module)
    again.load_state_dict(module.state_dict())
    assert [again] == SEEN


SEEN: list[Any] = []


def remember(module: Any, *_: object) -> None:
    SEEN.append(module)


@pytest.mark.parametrize("filled", [-1.0, 2.0, 7.0])
def test_what_pads_sequences_has_no_gradient_and_takes_none(filled: float) -> None:
    long, short = torch.arange(3.0).requires_grad_(), torch.ones(1, requires_grad=True)
    weights = torch.arange(1.0, 9.0).reshape(2, 4, 1)
    padded = tools.rnn.pad_sequence([long, short], batch_first=True, padding_value=filled)
    (padded * weights[:, :3, 0]).sum().backward()
    assert (long.grad.tolist(), short.grad.tolist()) == ([1.0, 2.0, 3.0], [5.0])
    x = torch.zeros(2, 4, 1, requires_grad=True)
    packed = tools.rnn.pack_padded_sequence(x, torch.tensor([4, 2]), batch_first=True)
    padded, _ = tools.rnn.pad_packed_sequence(packed, batch_first=True, padding_value=filled)
    (padded * weights).sum().backward()
    assert x.grad.flatten().tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]
