"""Layers are scripted unchanged, under torch's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn

LAYERS: list[Callable[[], Any]] = [
    lambda: nn.Linear(3, 2),
    nn.ReLU,
    nn.Tanh,
    nn.Sigmoid,
    nn.Identity,
]


@pytest.mark.parametrize("make", LAYERS)
def test_layers_script(make: Callable[[], Any]) -> None:
    layer = make()
    scripted = torch.jit.script(layer)
    assert scripted.code.startswith("def forward(self,\n    input: Tensor) -> Tensor:\n")
    x = torch.tensor([[-1.0, 0.5, 2.0]])
    for _ in range(3):  # later calls may run other code
        assert scripted(x).tolist() == layer(x).tolist()


def test_class_names_are_those_of_torch() -> None:
    scripted = torch.jit.script(nn.Linear(1, 1))
    assert scripted._c.cls.qualified_name.startswith("__torch__.torch.nn.modules.linear.")


def test_scripted_modules_keep_the_protocol() -> None:
    model = nn.Linear(3, 2)
    scripted = torch.jit.script(model)
    assert scripted.weight is model.weight
    assert list(scripted.state_dict()) == ["weight", "bias"]
    other = nn.Linear(3, 2)
    scripted.load_state_dict(other.state_dict())
    assert model.weight.tolist() == other.weight.tolist()
    assert not scripted.eval().training
    scripted.double()
    assert scripted(torch.ones(3, dtype=torch.float64)).dtype is torch.float64
    assert [name for name, _ in scripted.named_parameters()] == ["weight", "bias"]
