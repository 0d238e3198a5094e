"""Parameters that lists, tuples and dicts of compiled modules hold as well."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import pytest

import rushlight as torch
from rushlight import nn


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


class Held(nn.Module):
    pair: Pair

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.weights = [self.inner.weight, self.inner.weight]
        self.named = {"bias": self.inner.bias}
        self.pair = Pair(self.inner.weight, self.inner.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weights[0] + x @ self.pair.first + self.named["bias"] + self.pair.second


class Recurrent(nn.Module):
    def __init__(self, make: Any) -> None:
        super().__init__()
        self.inner = make(3, 4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)[0]


def both_ways(module: nn.Module) -> list[Any]:
    """A module that is scripted, and what its archive holds."""
    scripted = torch.jit.script(module)
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    return [scripted, torch.jit.load(io.BytesIO(file.getvalue()))]


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers_change_their_dtype(make: Any) -> None:
    x = torch.rand(5, 2, 3)
    for made in both_ways(Recurrent(make)):
        expected = made(x)
        assert torch.allclose(made.double()(x.double()).float(), expected, atol=1e-5)
        assert made.float()(x).dtype == torch.float32
        assert made.to(torch.bfloat16)(x.bfloat16()).dtype == torch.bfloat16


def test_containers_hold_what_the_parameters_hold_now() -> None:
    for made in both_ways(Held()):
        assert made.double()(torch.rand(3, 2).double()).dtype == torch.float64
        assert made.weights[0] is made.inner.weight
        assert made.pair.second is made.inner.bias
        assert made.named["bias"].dtype == torch.float64


def test_loaded_containers_hold_the_parameters_themselves() -> None:
    made = both_ways(Held())[1]
    assert made.weights[1] is made.inner.weight
    assert made.named["bias"].requires_grad
    made.weights[0].sum().backward()
    assert made.inner.weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_what_containers_alone_hold_wants_gradients_as_it_did() -> None:
    class Alone(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ones = [torch.ones(2, requires_grad=True), torch.ones(2)]

        def forward(self) -> torch.Tensor:
            return (self.ones[0] * 3 + self.ones[1]).sum()

    made = both_ways(Alone())[1]
    assert [each.requires_grad for each in made.ones] == [True, False]
    made().backward()
    assert made.ones[0].grad.tolist() == [3.0, 3.0]


def test_many_calls_of_a_loaded_layer_with_and_without_gradients() -> None:
    made = both_ways(Recurrent(nn.GRU))[1]
    x = torch.rand(5, 2, 3)
    expected = made(x).tolist()
    for _ in range(3):
        with torch.no_grad():
            results = [made(x) for _ in range(60)]
        assert not results[-1].requires_grad
        assert results[-1].tolist() == expected
        result = made(x)
        assert result.requires_grad
        result.sum().backward()
        assert made.inner.weight_ih_l0.grad is not None
        made.zero_grad()
