"""Scripts that walk back themselves, and are walked back through."""

from __future__ import annotations

import pytest

import rushlight as torch

Tensor = torch.Tensor


class Forces(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, 3))

    def forward(self, places: Tensor, create: bool) -> tuple[Tensor, Tensor]:
        places = places.detach().requires_grad_(True)
        energy = (places * self.weight).sin().sum()
        slope = torch.autograd.grad([energy], [places], create_graph=create, retain_graph=True)[0]
        assert slope is not None
        return energy, -slope


@pytest.mark.parametrize("create", [True, False])
def test_gradients_in_scripts_have_the_history_of_their_walk(create: bool) -> None:
    model, places = Forces(), torch.linspace(0, 2, 12).reshape(4, 3)
    scripted = torch.jit.script(model)
    for _ in range(5):  # later calls are known as a whole
        found = []
        for module in (scripted, model):
            model.zero_grad()
            energy, force = module(places, create)
            assert force.requires_grad is create
            (energy.square() + force.square().sum()).backward()
            assert model.weight.grad is not None
            found.append(model.weight.grad)
        assert torch.equal(*found)


def test_gradients_of_leaves_are_constants_in_scripts() -> None:
    def twice(x: Tensor) -> Tensor:
        (x * x).sum().backward()
        slope = x.grad
        assert slope is not None
        return slope * 2 + x

    scripted = torch.jit.script(twice)
    for _ in range(5):
        x = torch.ones(3, requires_grad=True)
        made = scripted(x)
        assert made.tolist() == [5, 5, 5]
        x.grad = None
        made.sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [1, 1, 1]
