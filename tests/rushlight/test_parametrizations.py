"""Parametrizations: what registering checks and keeps, orthogonal weights."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn.utils import parametrize
from rushlight.nn.utils.parametrizations import orthogonal, spectral_norm


class Doubled(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * 2

    def right_inverse(self, x: Any) -> Any:
        return x / 2


class Made(nn.Module):
    """Gives what it is told to, whatever it gets."""

    def __init__(self, forward: Any, inverse: Any) -> None:
        super().__init__()
        self.made = forward
        self.inverse = inverse

    def forward(self, *x: Any) -> Any:
        return self.made(*x)

    def right_inverse(self, x: Any) -> Any:
        return self.inverse(x)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3)])
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("has_base", [True, False])
def test_orthogonal_weights(shape: tuple[int, ...], kind: str, has_base: bool) -> None:
    module = nn.Module()
    module.weight = nn.Parameter(torch.randn(*shape))
    orthogonal(module, "weight", kind, use_trivialization=has_base)
    weight = module.weight
    assert weight.shape == shape
    product = weight @ weight.mT if shape[-2] < shape[-1] else weight.mT @ weight
    assert torch.allclose(product, torch.eye(min(shape[-2:])), atol=1e-5)
    weight.sum().backward()
    assert module.parametrizations.weight.original.grad is not None


def test_orthogonal_weights_are_assigned() -> None:
    module = orthogonal(nn.Linear(3, 3))
    wanted = torch.tensor([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]])
    module.weight = wanted
    assert torch.allclose(module.weight, wanted, atol=1e-6)
    tall = orthogonal(nn.Linear(2, 3), use_trivialization=False)
    again = tall.weight.detach()
    tall.weight = again
    assert torch.allclose(tall.weight, again, atol=1e-5)
    with pytest.raises(ValueError, match="Expected a matrix or batch of matrices of shape"):
        module.weight = torch.ones(2, 2)
    with pytest.raises(ValueError, match="Got a tensor of 1 dimensions"):
        orthogonal(nn.Linear(2, 2), "bias")
    with pytest.raises(ValueError, match='one of "matrix_exp", "cayley", "householder"'):
        orthogonal(nn.Linear(2, 2), "weight", "other")
    with pytest.raises(NotImplementedError, match="not possible to assign"):
        orthogonal(nn.Linear(2, 2), use_trivialization=False).weight = torch.eye(2)


def test_more_parametrizations_follow_each_other() -> None:
    layer = nn.Linear(1, 1)
    before = layer.weight.item()
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert layer.weight.item() == before
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert layer.weight.item() == 2 * before


def test_the_parameter_stays_when_its_parametrization_goes() -> None:
    layer = nn.Linear(1, 1)
    weight = layer.weight
    parametrize.register_parametrization(layer, "weight", Doubled())
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is weight


@pytest.mark.parametrize(
    ("forward", "inverse", "message"),
    [
        (lambda x: (x,), lambda x: x, "must return a tensor. Got tuple"),
        (lambda x: x.double(), lambda x: x, "unparametrized dtype: torch.float32"),
        (lambda x: x[:1], lambda x: x, r"parametrized shape: torch.Size\(\[1, 2\]\)"),
        (lambda x: x, lambda x: None, "Sequence of tensors .* Got NoneType"),
        (lambda x: x, lambda x: (x, 3), "Got element 1 of the sequence with type int"),
        (lambda x: x, lambda x: x.double(), "may not change the dtype"),
    ],
)
def test_what_registering_refuses(forward: Any, inverse: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Made(forward, inverse))


def test_what_registering_one_more_refuses() -> None:
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Doubled())
    for forward, inverse, message in (
        (lambda x: x.double(), lambda x: x, r"parametrization\(module.weight\).dtype"),
        (lambda x: x, lambda x: (x, x), "right_inverse must return a tensor. Got: tuple"),
        (lambda x: x, lambda x: x[:1], "must have the same shape as module.weight"),
    ):
        with pytest.raises(ValueError, match=message):
            parametrize.register_parametrization(layer, "weight", Made(forward, inverse))


def test_parametrizations_are_transferred_with_what_they_work_on() -> None:
    source, target = nn.Linear(2, 2), nn.Linear(2, 2)
    parametrize.register_parametrization(source, "weight", Doubled())
    parametrize.transfer_parametrizations_and_params(source, target)
    assert target.parametrizations.weight.original is source.parametrizations.weight.original
    assert target.weight.tolist() == source.weight.tolist()


def test_complex_weights_have_a_spectral_norm() -> None:
    layer = nn.Linear(2, 2, dtype=torch.complex64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[3j, 0], [0, 1]]))
        spectral_norm(layer)
        assert torch.allclose(layer.weight.abs(), torch.tensor([[1, 0], [0, 1 / 3]]), atol=1e-4)


class Twice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def test_scripted_parametrizations_say_that_they_do_not_work_when_they_run() -> None:
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Twice())
    scripted: Any = torch.jit.script(layer)
    with pytest.raises(torch.jit.Error, match="Parametrization is not working with scripting"):
        scripted(torch.ones(2))
