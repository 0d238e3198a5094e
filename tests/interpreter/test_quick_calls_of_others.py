"""Calls of scripted code that calls methods of objects it knows by an interface are quick, too."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

from .test_quick_calls import _quick, hot

nn = torch.nn
Tensor = torch.Tensor


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Scaled(nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.tensor([by]), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.by


class Product(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x @ x


class Counting(nn.Module):
    last: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.register_buffer("last", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.last = x + self.calls
        return self.last


class WithoutGradients(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            return x @ x


class Outer(nn.Module):
    step: Step

    def __init__(self, step: nn.Module) -> None:
        super().__init__()
        self.step = step

    def forward(self, x: Tensor) -> Tensor:
        return self.step.forward(x)


def scripted(step: nn.Module) -> Any:
    return torch.jit.script(Outer(step))


def test_what_stands_behind_an_interface_may_be_exchanged() -> None:
    script, x = scripted(Scaled(2.0)), torch.ones(2)
    hot(script, x)
    assert script(x).tolist() == [2.0, 2.0]
    script.step = torch.jit.script(Scaled(3.0))
    assert script(x).tolist() == [3.0, 3.0]
    hot(script, x)
    script.step = torch.jit.script(Counting())
    for number in range(1, 80):
        found = script(x)
        assert found.tolist() == [1.0 + number] * 2
        assert script.step.last is found
    assert script.step.calls == 79


def test_gradients_of_what_stands_behind_it() -> None:
    script, x = scripted(Scaled(2.0)), torch.ones(2)
    hot(script, x)
    script.step.by.requires_grad_(True)
    assert script(x).requires_grad
    script.step.by.requires_grad_(False)
    y = torch.ones(2, requires_grad=True)
    script(y).sum().backward()
    assert y.grad is not None
    assert y.grad.tolist() == [2.0, 2.0]


def test_tensors_that_come_out_are_those_of_attributes() -> None:
    class Given(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2), requires_grad=False)

        def forward(self, x: Tensor) -> Tensor:
            return self.weight if x.size(0) == 2 else x

    script, x = scripted(Given()), torch.ones(2)
    hot(script, x)
    assert script(x) is script.step.weight
    longer = torch.ones(3)
    assert script(longer) is longer


def test_faults_are_told_as_ever() -> None:
    script = scripted(Product())
    with pytest.raises(RuntimeError) as first:
        script(torch.ones(2, 3))
    hot(script, torch.ones(2, 2))
    with pytest.raises(RuntimeError) as later:
        script(torch.ones(2, 3))
    assert str(later.value) == str(first.value)
    assert "return self.step.forward(x)" in str(first.value)


def test_code_that_enters_contexts_is_left_alone() -> None:
    script, x = scripted(WithoutGradients()), torch.ones(2, 2)
    for _ in range(80):
        script(x)
    assert _quick(script).call is None
    with pytest.raises(RuntimeError):
        script(torch.ones(2, 3))
    assert torch.is_grad_enabled()


def test_methods_that_have_not_run_are_not_trusted() -> None:
    class Either(nn.Module):
        first: Step
        second: Step

        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Scaled(2.0), WithoutGradients()

        def forward(self, x: Tensor, n: int) -> Tensor:
            return self.first.forward(x) if n < 100 else self.second.forward(x)

    script, x = torch.jit.script(Either()), torch.ones(2, 2)
    for n in range(80):
        assert script(x, n).tolist() == [[2.0, 2.0]] * 2
    assert _quick(script).call is None
    assert script(x, 100).tolist() == [[2.0, 2.0]] * 2
    with pytest.raises(RuntimeError):
        script(torch.ones(2, 3), 100)
    assert torch.is_grad_enabled()
