"""Calls that write their first argument, recorded over and over: gradients, versions, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

TIMES = 70
"""Calls after which what is written for such calls is at work."""

WRITING: dict[str, Callable[[Any, Any], Any]] = {
    "add_": lambda x, y: x.add_(y),
    "sub_": lambda x, y: x.sub_(y, alpha=2),
    "add a number": lambda x, y: x.add_(1.5),
    "mul_": lambda x, y: x.mul_(y),
    "mul by a number": lambda x, y: x.mul_(3),
    "div_": lambda x, y: x.div_(y),
    "exp_": lambda x, y: x.exp_(),
    "relu_": lambda x, y: x.relu_(),
    "sigmoid_": lambda x, y: x.sigmoid_(),
    "sin_": lambda x, y: x.sin_(),
    "pow_": lambda x, y: x.pow_(y),
    "addcmul_": lambda x, y: x.addcmul_(y, y, value=2),
    "clamp_": lambda x, y: x.clamp_(0.1, 0.9),
    "masked_fill_": lambda x, y: x.masked_fill_(y > 1, 0.5),
    "zero_": lambda x, y: x.zero_(),
    "copy_": lambda x, y: x.copy_(y),
    "index_add_": lambda x, y: x.index_add_(0, torch.tensor([1, 0]), y[:2]),
    "of itself": lambda x, y: x.add_(x),
}
LEAVES = "x", "y", "xy"
"""Which operands gradients are wanted of."""


def gradients(write: Callable[[Any, Any], Any], whose: str) -> tuple[Any, ...]:
    """The result, its node's name and what operands get, of one call."""
    x = torch.tensor([0.5, 0.25, 0.75]).requires_grad_("x" in whose)
    y = torch.tensor([0.75, 1.5, 0.5]).requires_grad_("y" in whose)
    made = x * 1.0
    version = made._version
    result = write(made, y)
    assert result is made
    assert made._version == version + 1
    name = type(result.grad_fn).__name__
    if result.requires_grad:
        (result * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    found = [None if each.grad is None else each.grad.tolist() for each in (x, y)]
    return (result.tolist(), name, *found)


@pytest.mark.parametrize("whose", LEAVES)
@pytest.mark.parametrize("name", WRITING)
def test_the_hundredth_call_has_the_history_of_the_first(name: str, whose: str) -> None:
    first = gradients(WRITING[name], whose)
    assert all(gradients(WRITING[name], whose) == first for _ in range(TIMES))


def test_leaves_and_views_are_told_apart_when_others_come_often() -> None:
    leaf = torch.ones(3, requires_grad=True)
    for _ in range(TIMES):
        (leaf * 1.0).add_(1)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf"):
        leaf[:2].add_(1)
    whole = leaf * 2.0
    part = whole[:2]
    part.add_(1)
    assert type(whole.grad_fn).__name__ == "CopySlices"
    whole.mul_(3)
    assert part.tolist() == [9, 9]
    part.sum().backward()
    assert leaf.grad.tolist() == [6, 6, 0]


def test_what_had_no_history_gets_one_with_its_views() -> None:
    leaf = torch.ones(3, requires_grad=True)
    for _ in range(TIMES):
        plain = torch.zeros(3)
        before = plain[1:]
        plain.add_(leaf)
        assert plain.requires_grad
        assert before.requires_grad
    before.sum().backward()
    assert leaf.grad.tolist() == [0, 1, 1]


def test_what_was_kept_and_written_since_is_refused() -> None:
    leaf = torch.ones(3, requires_grad=True)
    for _ in range(TIMES):
        made = (leaf * 1.0).exp_()
        made.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            made.sum().backward()
    made = leaf * 1.0
    made.mul_(made.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.sum().backward()


def test_gradients_that_are_kept_and_hooks_follow_what_stands_there_now() -> None:
    leaf = torch.ones(2, requires_grad=True)
    for _ in range(TIMES):
        (leaf * 1.0).mul_(2)
    heard: list[list[float]] = []
    made = leaf * 1.0
    made.retain_grad()
    made.register_hook(lambda grad: heard.append(grad.tolist()))
    made.mul_(2)
    (made * 3).sum().backward()
    assert made.grad.tolist() == [3, 3]
    assert heard == [[6, 6]]
    assert leaf.grad.tolist() == [6, 6]
