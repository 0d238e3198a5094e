"""Leaves that require gradients are not written to in script, nor are views of them."""

from __future__ import annotations

from typing import Optional

import pytest

import rushlight as torch

# ruff: noqa: UP045
# mypy: disable-error-code="no-untyped-def"


def element(x, c: float):
    x[0] = c
    return x


def view(x, c: float):
    x.t()[0].add_(c)
    return x


def view_of_then(x, c: float):
    y = x[0]
    with torch.no_grad():
        y += c
    y.mul_(2)
    return x


@pytest.mark.parametrize("written", [element, view])
def test_views_of_leaves_are_refused_before_they_change(written) -> None:
    scripted = torch.jit.script(written)
    for _ in range(3):
        x = torch.ones(2, 2, requires_grad=True)
        with pytest.raises(RuntimeError, match="failed in the TorchScript interpreter") as caught:
            scripted(x, 5.0)
        assert "a view of a leaf Variable that requires grad is being used" in str(caught.value)
        assert x.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        torch.jit.script(view_of_then)(x, 5.0)
    assert x.tolist() == [[6, 6], [1, 1]]


def allowed(x, c: float):
    with torch.no_grad():
        x[0] = c
    x.detach()[0] += 1
    x.data[1] = c
    y = x * 2
    y[0] = c
    return y


def detached(x, c: float):
    y = x * 2
    y.detach_()
    x.detach_()
    y[0] = c
    return y, x.requires_grad, y.requires_grad


def test_what_is_no_view_of_a_leaf_is_written() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    y = torch.jit.script(allowed)(x, 5.0)
    assert (x.tolist(), y.tolist()) == ([[6, 6], [5, 5]], [[5, 5], [10, 10]])
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0], [2, 2]]
    y, before, after = torch.jit.script(detached)(x, 5.0)
    assert (before, after, x.requires_grad, y.tolist()) == (False, False, False, [[5, 5], [10, 10]])


class Counted(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("last", torch.zeros(2))
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.last = self.w * x
        self.seen += 1
        return self.last


def test_attributes_have_their_history_though_buffers_are_written() -> None:
    module = torch.jit.script(Counted())
    for n in (1, 2, 3):
        result = module(torch.tensor([2.0, 3.0]))
        assert result.requires_grad
        assert module.last.requires_grad
        module.last.sum().backward()
        assert module.w.grad.tolist() == [2 * n, 3 * n]


class Keeps(Counted):
    kept: Optional[torch.Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.kept = None

    def forward(self, x):
        self.kept = self.w
        self.seen += 1
        return self.w, self.w * x


def test_a_parameter_in_another_attribute_is_the_parameter() -> None:
    module = torch.jit.script(Keeps())
    for _ in range(3):
        found, result = module(torch.tensor([2.0, 3.0]))
        assert found.requires_grad
        assert found.is_leaf
        assert result.requires_grad
        assert module.kept.requires_grad


def test_scripts_read_gradients_that_are_there_and_those_that_are_not() -> None:
    unit = torch.jit.CompilationUnit("def f(x: Tensor) -> Optional[Tensor]:\n    return x.grad\n")
    x = torch.ones(2, requires_grad=True)
    assert unit.f(x) is None
    assert unit.f(torch.ones(2)) is None
    (x * 3).sum().backward()
    found = unit.f(x)
    assert found is not None
    assert found.tolist() == [3.0, 3.0]
