"""`torch.autograd.Variable`: calls give tensors."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight.autograd import Variable


def test_gives_a_leaf_on_the_same_memory() -> None:
    x = torch.ones(2)
    leaf = Variable(x, requires_grad=True)
    assert type(leaf) is torch.Tensor
    assert leaf.requires_grad
    assert not x.requires_grad
    x.add_(1)
    assert leaf.tolist() == [2.0, 2.0]


def test_the_way_back_ends_at_it() -> None:
    made = Variable(torch.ones(2, requires_grad=True) * 2)
    assert made.grad_fn is None
    assert not made.requires_grad


def test_every_tensor_counts_as_one() -> None:
    assert isinstance(torch.ones(2), Variable)
    assert not isinstance([1.0], Variable)
    assert not issubclass(torch.Tensor, Variable)


def test_what_it_refuses() -> None:
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1])
    with pytest.warns(UserWarning, match="volatile was removed"):
        Variable(torch.ones(2), volatile=True)
