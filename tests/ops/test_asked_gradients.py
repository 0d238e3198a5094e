"""What a walk back computes: only what leads to the gradients that are asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight import Tensor


def leaf() -> Tensor:
    return torch.tensor([1.0, 2.0, 2.0], requires_grad=True)


def test_branches_to_no_asked_tensor_are_not_walked() -> None:
    w, u, heard = leaf(), leaf(), []
    branch = u * 2
    branch.register_hook(lambda grad: heard.append(grad))
    branch.retain_grad()
    total = (w * branch).sum()
    assert torch.autograd.grad(total, [w], retain_graph=True)[0].tolist() == [2, 4, 4]
    assert heard == []
    assert branch.grad is None
    total.backward(inputs=[u])
    assert u.grad.tolist() == [2, 4, 4]
    assert len(heard) == 1
    assert w.grad is None


def test_formulas_of_arguments_nobody_asks_for_are_not_run() -> None:
    x, order = leaf(), leaf()
    total = torch.igamma(order, x).sum()  # has no gradient by its order
    expected = (x ** (order - 1) * (-x).exp() / torch.lgamma(order).exp()).tolist()
    assert torch.autograd.grad(total, x, retain_graph=True)[0].tolist() == pytest.approx(expected)
    with pytest.raises(NotImplementedError, match="'igamma: input' is not implemented"):
        torch.autograd.grad(total, order)


def test_a_walk_inside_a_walk_asks_for_its_own() -> None:
    x, w = leaf(), leaf()
    inner: list[Tensor] = []
    y = x * 3

    def walk(grad: Tensor) -> None:
        with torch.enable_grad():
            inner.extend(torch.autograd.grad((w * w).sum(), w))

    y.register_hook(walk)
    assert torch.autograd.grad((y * w).sum(), x)[0].tolist() == [3, 6, 6]
    assert inner[0].tolist() == [2, 4, 4]


@pytest.mark.parametrize("dim", [None, 0])
def test_runs_of_equal_elements_have_no_gradient(dim: int | None) -> None:
    found = torch.unique_consecutive(leaf(), dim=dim)
    with pytest.raises(NotImplementedError, match="'unique_consecutive' is not implemented"):
        found.sum().backward()


@pytest.mark.parametrize("function", [torch.linspace, torch.logspace])
def test_steps_between_tensors_have_no_history(function: Callable[..., torch.Tensor]) -> None:
    ends = [torch.tensor(end, requires_grad=True) for end in (0.0, 3.0)]
    assert not function(*ends, 4).requires_grad
    assert not function(ends[0], 3.0, 1).requires_grad


def test_nodes_wait_for_all_that_leads_to_them_and_for_nothing_else() -> None:
    """A result that is on the way to another one, a branch that leads nowhere, and one that is
    gone through twice."""
    x = torch.arange(1.0, 4.0, requires_grad=True)
    other = torch.ones(3, requires_grad=True)
    middle = x * x
    end = (middle * middle).sum() + middle.sum() + (other * middle.detach()).sum()
    for wanted in ([x], [x, other], [middle], [x, middle], [other], [other, x]):
        found = torch.autograd.grad([end, middle.sum()], wanted, retain_graph=True)
        by_itself = {
            id(x): 4 * x**3 + 4 * x,
            id(middle): 2 * middle + 2,
            id(other): middle,
        }
        for one, gradient in zip(wanted, found, strict=True):
            assert torch.equal(gradient, by_itself[id(one)].detach())
    assert torch.autograd.grad(end, [x, other], allow_unused=True)[1] is not None
