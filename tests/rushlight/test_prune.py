"""`nn.utils.prune` and weights in other memory formats; what is expected is PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn.utils import convert_conv2d_weight_memory_format, prune


def linear() -> Any:
    """12 weights, -5.75 to 5.25, no two as far from zero, and a bias of 1, 2, 3."""
    made: Any = nn.Linear(4, 3)
    made.weight = nn.Parameter(torch.arange(12.0).reshape(3, 4) - 5.75)
    made.bias = nn.Parameter(torch.arange(3.0) + 1)
    return made


def test_a_pruned_parameter_is_a_product_until_it_is_removed() -> None:
    module = linear()
    assert prune.l1_unstructured(module, "weight", 0.5) is module
    assert list(module.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    mask = [[1, 1, 1, 0], [0, 0, 0, 0], [0, 1, 1, 1]]
    assert module.weight_mask.tolist() == mask
    assert prune.is_pruned(nn.Sequential(module))
    module(torch.ones(4)).sum().backward()
    assert module.weight_orig.grad.tolist() == mask
    assert prune.remove(module, "weight") is module
    assert sorted(module.state_dict()) == ["bias", "weight"]
    assert not prune.is_pruned(module)
    assert module.weight.tolist() == [[-5.75, -4.75, -3.75, 0], [0, 0, 0, 0], [0, 3.25, 4.25, 5.25]]
    with pytest.raises(ValueError, match=r"Parameter 'weight' of module Linear.* has to be pruned"):
        prune.remove(module, "weight")


def test_later_methods_choose_among_what_is_left() -> None:
    module = linear()
    prune.l1_unstructured(module, "weight", 6)
    prune.ln_structured(module, "weight", 1, n=2, dim=1)
    prune.l1_unstructured(module, "weight", amount=1)
    (hook,) = module._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer)
    assert len(hook) == 3
    assert module.weight_mask.tolist() == [[1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize("kind", ["random_unstructured", "random_structured"])
def test_chance_takes_as_many_as_asked(kind: str) -> None:
    module = linear()
    extra = {"dim": 1} if kind == "random_structured" else {}
    getattr(prune, kind)(module, "weight", amount=0.5, **extra)
    assert module.weight_mask.sum().item() == 6
    if extra:
        assert sorted(module.weight_mask.sum(0).tolist()) == [0, 0, 3, 3]


def test_several_parameters_as_one() -> None:
    one, other = linear(), linear()
    both = [(one, "weight"), (other, "bias")]
    prune.global_unstructured(both, prune.L1Unstructured, amount=4)
    assert one.weight_mask.tolist() == [[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 1, 1]]
    assert other.bias_mask.tolist() == [0, 1, 1]
    with pytest.raises(TypeError, match='Only "unstructured" PRUNING_TYPE supported'):
        prune.global_unstructured(both, prune.LnStructured, amount=1, n=2)


def test_scores_and_masks_of_ones_own() -> None:
    module = prune.custom_from_mask(linear(), "bias", torch.tensor([0, 1, 0]))
    assert module.bias.tolist() == [0, 2, 0]
    scores = torch.tensor([3.0, 1.0, 2.0])
    assert prune.l1_unstructured(linear(), "bias", 2, scores).bias_mask.tolist() == [1, 0, 0]
    assert prune.identity(linear(), "bias").bias_mask.tolist() == [1, 1, 1]
    assert prune.L1Unstructured(0.5).prune(scores).tolist() == [3, 0, 0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: prune.l1_unstructured(m, "weight", -1), ValueError, "amount=-1 should either"),
        (
            lambda m: prune.l1_unstructured(m, "weight", "x"),
            TypeError,
            "Invalid type for amount: x",
        ),
        (lambda m: prune.l1_unstructured(m, "weight", 13), ValueError, "to prune=12"),
        (lambda m: prune.ln_structured(m, "bias", 1, 2, 0), ValueError, "multidimensional tensors"),
        (lambda m: prune.ln_structured(m, "weight", 1, 2, 5), IndexError, "Invalid index 5"),
    ],
)
def test_a_refused_call_leaves_the_module_whole(call: Any, error: Any, text: str) -> None:
    module = prune.identity(linear(), "weight")
    with pytest.raises(error, match=text):
        call(module)
    assert [type(h) for h in module._forward_pre_hooks.values()] == [prune.Identity]
    assert module.weight_mask.sum().item() == 12


def test_weights_in_channels_last() -> None:
    module = nn.Sequential(nn.Conv2d(2, 3, 2), nn.Conv3d(2, 3, 2))
    assert convert_conv2d_weight_memory_format(module, torch.channels_last) is module
    assert [p.stride() for p in module.parameters() if p.dim() > 1] == [
        (8, 1, 4, 2),
        (16, 8, 4, 2, 1),
    ]


def test_checks_of_amounts_have_names_for_methods_of_ones_own() -> None:
    checks: Any = prune
    assert checks._compute_nparams_toprune(0.5, 5) == 2
    assert checks._compute_nparams_toprune(20, 5) == 20
    with pytest.raises(ValueError, match="smaller than the number of parameters to prune=5"):
        checks._validate_pruning_amount(20, 5)
    with pytest.raises(TypeError, match="Invalid type for amount: x"):
        checks._validate_pruning_amount_init("x")
    with pytest.raises(IndexError, match="Invalid index 2 for tensor of size"):
        checks._validate_pruning_dim(torch.ones(1, 2), 2)
    with pytest.raises(ValueError, match="Structured pruning can only be applied to multidim"):
        checks._validate_structured_pruning(torch.ones(1))
    assert checks._compute_norm(torch.ones(2, 4), 2, 0).tolist() == [2, 2]


def test_recurrent_layers_have_their_weight_back() -> None:
    layer: Any = nn.LSTM(1, 1)
    prune.l1_unstructured(layer, "weight_ih_l0", 0.5)
    prune.remove(layer, "weight_ih_l0")
    assert all(isinstance(weight, nn.Parameter) for weight in layer._flat_weights)
