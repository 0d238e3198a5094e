"""Modules called with other tensors, and what is refused as a future."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.func import functional_call


class Adds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.l1 = nn.Linear(1, 1)
        self.plain = torch.ones(1)
        self.count = 3

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.plain = self.plain + 1
        return x + self.plain + getattr(self, "extra", 0)


def test_attributes_are_exchanged_too_and_what_the_module_sets_is_given_back() -> None:
    module, given = Adds(), {"plain": torch.full((1,), 5.0), "extra": torch.ones(1)}
    assert functional_call(module, given, torch.zeros(1)).tolist() == [7.0]
    assert given["plain"].tolist() == [6.0]
    assert module.plain.tolist() == [1.0]
    assert not hasattr(module, "extra")


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"l1.weight": 3}, TypeError, "3 is not an instance of torch.Tensor"),
        ({"count": torch.ones(1)}, TypeError, "attribute `count`: 3 is not an instance of"),
        ({"l2.bias": torch.ones(1)}, AttributeError, "Adds has no attribute `l2`"),
        ({"plain.bias": torch.ones(1)}, TypeError, r"submodule `plain`: tensor\(\[1.\]\) is not"),
    ],
)
def test_a_name_that_leads_to_no_tensor_leaves_the_module_alone(
    given: dict[str, Any], error: type[Exception], text: str
) -> None:
    module = Adds()
    before = module.l1.weight
    with pytest.raises(error, match=text):
        functional_call(module, {"l1.bias": torch.ones(1), **given}, torch.zeros(1))
    assert module.l1.weight is before


def test_a_module_that_is_there_twice_gets_its_tensors_back() -> None:
    layer = nn.Linear(1, 1, bias=False)
    weight, both = layer.weight, nn.Sequential(layer, layer)
    given = {"0.weight": torch.full((1, 1), 3.0)}
    assert functional_call(both, given, torch.ones(1)).tolist() == [9.0]
    assert layer.weight is weight


def test_several_values_for_one_tensor_or_name_are_refused() -> None:
    layer = nn.Linear(1, 1, bias=False)
    both = nn.Sequential(layer, layer)
    given = {"0.weight": torch.ones(1, 1), "1.weight": torch.zeros(1, 1)}
    with pytest.raises(ValueError, match=r"keys \['0.weight', '1.weight'\], which are tied"):
        functional_call(both, given, torch.ones(1))
    with pytest.raises(ValueError, match=r"\['weight'\] appeared in multiple dictionaries"):
        functional_call(layer, ({"weight": weight_of(1)}, {"weight": weight_of(2)}), torch.ones(1))


def weight_of(value: float) -> torch.Tensor:
    return torch.full((1, 1), value)


def test_scripted_modules_are_refused() -> None:
    with pytest.raises(RuntimeError, match="can't be used with Jitted modules"):
        functional_call(torch.jit.script(nn.ReLU()), {}, torch.ones(1))


def test_futures_are_not_pickled_and_none_is_not_one() -> None:
    with pytest.raises(RuntimeError, match=r"Can not pickle torch\.futures\.Future"):
        pickle.dumps(torch.futures.Future())
    for function in (torch.futures.wait_all, torch.futures.collect_all):
        with pytest.raises(RuntimeError, match="Future can't be None"):
            function([torch.futures.Future(), None])
