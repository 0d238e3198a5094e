"""Gradients of the samples of a batch, by weights that stand in for those of a module."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn.utils._per_sample_grad import call_for_per_sample_grads

LAYERS = [
    (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False)), (4, 5, 3)),
    (nn.Sequential(nn.Conv2d(1, 2, 3, padding="same"), nn.GroupNorm(1, 2)), (3, 1, 4, 4)),
    (
        nn.Sequential(nn.Conv1d(2, 2, 2, stride=2, groups=2), nn.InstanceNorm1d(2, affine=True)),
        (3, 2, 8),
    ),
    (nn.LayerNorm(3), (4, 3)),
]


def by_loops(module: nn.Module, x: Any, factor: int) -> list[Any]:
    found = []
    for sample in x:
        module.zero_grad()
        (factor * module(sample[None]).square().sum()).backward()
        found.append([p.grad.clone() for p in module.parameters()])
    module.zero_grad()
    return [torch.stack(grads) for grads in zip(*found, strict=True)]


@pytest.mark.parametrize("case", range(len(LAYERS)))
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_each_sample_has_its_gradient(case: int, reduction: str) -> None:
    module, sizes = LAYERS[case]
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(3)).requires_grad_()
    wanted = by_loops(module, x.detach(), 1)
    loss = call_for_per_sample_grads(module, loss_reduction=reduction)(x).square().sum()
    (loss / len(x) if reduction == "mean" else loss).backward()
    for weight, its_wanted in zip(module.parameters(), wanted, strict=True):
        torch.testing.assert_close(weight.grad_sample, its_wanted)
        assert weight.grad is None
        weight.grad_sample = None
    onward = x.grad
    (wanted_onward,) = torch.autograd.grad(module(x).square().sum(), x)
    scale = len(x) if reduction == "mean" else 1
    torch.testing.assert_close(onward * scale, wanted_onward)


def test_rows_of_an_embedding_and_frozen_weights() -> None:
    table = nn.Embedding(4, 2)
    call_for_per_sample_grads(table)(torch.tensor([[1, 1], [0, 3]])).sum().backward()
    assert table.weight.grad_sample[:, :, 0].tolist() == [[0, 2, 0, 0], [1, 0, 0, 1]]
    layer = nn.Linear(3, 2)
    layer.bias.requires_grad_(False)
    call_for_per_sample_grads(layer, batch_size=2)(torch.ones(2, 3)).sum().backward()
    assert layer.weight.grad_sample.shape == (2, 2, 3)
    assert not hasattr(layer.bias, "grad_sample")


def test_a_weight_that_is_used_twice_has_one_gradient() -> None:
    layer = nn.Linear(2, 2, bias=False)
    twice = nn.Sequential(layer, layer)
    x = torch.ones(3, 2)
    wanted = by_loops(twice, x, 1)
    call_for_per_sample_grads(twice)(x).square().sum().backward()
    torch.testing.assert_close(layer.weight.grad_sample, wanted[0])


REFUSED = [
    (lambda layer: call_for_per_sample_grads(3), "Module passed must be nn.Module, got int"),
    (lambda layer: call_for_per_sample_grads(layer, batch_size=1.5), "must be None or an integer"),
    (lambda layer: call_for_per_sample_grads(layer, batch_size=0), "must be positive, got 0"),
    (lambda layer: call_for_per_sample_grads(layer, loss_reduction="max"), "to be sum or mean"),
    (lambda layer: call_for_per_sample_grads(layer)("x"), "Unable to find a tensor"),
    (lambda layer: call_for_per_sample_grads(layer)(torch.ones(3)), "rank 2, got of rank 1"),
    (lambda layer: call_for_per_sample_grads(layer)(X, X[:1]), "batch size 2 and one with batch"),
    (lambda layer: call_for_per_sample_grads(layer, batch_size=3)(X), "batch size of 2 with"),
    (lambda layer: call_for_per_sample_grads(nn.PReLU())(X), "cannot handle function prelu"),
]
X = torch.ones(2, 3)


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_has_no_samples_is_refused(case: int) -> None:
    attempt, sentence = REFUSED[case]
    with pytest.raises(RuntimeError, match=sentence):
        attempt(nn.Linear(3, 2))


def test_gradients_are_not_added_to_those_of_another_call() -> None:
    layer = nn.Linear(3, 2)
    call_for_per_sample_grads(layer)(X).sum().backward()
    with pytest.raises(RuntimeError, match="Please clear out the grad_sample parameter"):
        call_for_per_sample_grads(layer)
