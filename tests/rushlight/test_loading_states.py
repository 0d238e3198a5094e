"""Loading state dicts: what hooks see, swapped and lazy parameters.  Texts are torch 2.13's."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn import replacement


@pytest.fixture
def swapping() -> Iterator[None]:
    replacement.REPLACEMENT.swap = True
    yield
    replacement.REPLACEMENT.swap = False


def test_a_module_is_given_what_its_prefix_begins() -> None:
    m: Any = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)))
    seen: list[list[str]] = []
    m[1].register_load_state_dict_pre_hook(lambda module, state, *_: seen.append(list(state)))
    m.load_state_dict(m.state_dict())
    assert seen == [["1.0.weight", "1.0.bias", "1.1.weight", "1.1.bias"]]


def test_loading_leaves_no_circle_of_references() -> None:
    m = nn.Linear(1, 1)
    state = m.state_dict()
    gc.collect()
    gc.disable()
    m.load_state_dict(state)
    try:
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_values_for_a_meta_parameter_are_lost_with_a_warning() -> None:
    m = nn.Linear(1, 1, bias=False, device="meta")
    with pytest.warns(UserWarning, match=r"^for weight: copying from a non-meta parameter in the"):
        m.load_state_dict(nn.Linear(1, 1, bias=False).state_dict())
    assert m.weight.is_meta


def test_assigned_parameters_require_gradients_as_before() -> None:
    m = nn.Linear(1, 1, bias=False).requires_grad_(False)
    given = nn.Parameter(torch.ones(1, 1))
    m.load_state_dict({"weight": given}, assign=True)
    assert m.weight is given
    assert not given.requires_grad


@pytest.mark.usefixtures("swapping")
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_swapped_parameters_stay_the_same_objects(device: str) -> None:
    m: Any = nn.Linear(1, 1, bias=False, device=device)
    weight, given = m.weight, torch.ones(1, 1)
    m.load_state_dict({"weight": given}, assign=True)
    assert m.weight is weight
    assert weight.data_ptr() == given.data_ptr()
    assert type(weight) is nn.Parameter
    assert weight.requires_grad


@pytest.mark.usefixtures("swapping")
def test_what_module_load_gives_must_be_new() -> None:
    class Same(nn.Parameter):
        def module_load(self, other: Any, assign: bool = False) -> Any:
            return other

    m: Any = nn.Linear(1, 1, bias=False)
    m.weight = Same(torch.ones(1, 1))
    with pytest.raises(RuntimeError, match=r"While swapping .*module_load returned one of self or"):
        m.load_state_dict({"weight": torch.ones(1, 1)})


def test_lazy_parameters_load_lazy_ones_and_sizes() -> None:
    lazy: Any = nn.LazyLinear(1)
    lazy.load_state_dict(nn.LazyLinear(1).state_dict())
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        nn.Linear(1, 1).load_state_dict(nn.LazyLinear(1).state_dict())
    lazy.load_state_dict(nn.Linear(2, 1).state_dict())
    with pytest.raises(AssertionError, match=r"inferred from input: 3 is not equal .*weight: 2"):
        lazy(torch.ones(3))
    assert lazy(torch.ones(2)).shape == (1,)
    assert lazy.in_features == 2


def test_uninitialized_parameters_refuse_functions() -> None:
    p: Any = nn.UninitializedParameter()
    assert p.dtype is torch.float32
    assert p.size() == (0,)
    for function in (p.mean, lambda: p + 1, lambda: nn.functional.linear(torch.ones(1), p)):
        with pytest.raises(ValueError, match=r"^Attempted to use an uninitialized parameter in "):
            function()
    with pytest.raises(RuntimeError, match=r"^Can't share memory on an uninitialized parameter"):
        nn.LazyLinear(1).share_memory()
    with pytest.raises(ValueError, match="passed to `SpectralNorm` can't have uninitialized"):
        nn.utils.spectral_norm(nn.LazyLinear(1))
    p.materialize(3)
    assert p.shape == (3,)
    assert type(p) is nn.Parameter
