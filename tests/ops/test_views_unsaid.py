"""Views that no schema speaks of, and what is known of views made without gradients."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch

View = Callable[[torch.Tensor], torch.Tensor]
UNSAID: dict[str, View] = {
    "atleast_1d": lambda x: torch.atleast_1d(x[0, 0]),
    "atleast_2d": lambda x: torch.atleast_2d(x[0]),
    "atleast_3d": torch.atleast_3d,
    "einsum": lambda x: torch.einsum("ij->ji", x),
    "einsum of a diagonal": lambda x: torch.einsum("ii->i", x),
}
SAID: dict[str, View] = {
    "atleast_1d": lambda x: x[0, 0].view(1),
    "atleast_2d": lambda x: x[0].view(1, 2),
    "atleast_3d": lambda x: x.unsqueeze(-1),
    "einsum": lambda x: x.T,
    "einsum of a diagonal": lambda x: x.diagonal(),
}


def leaf() -> torch.Tensor:
    return torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


@pytest.mark.parametrize("view", UNSAID)
def test_gradients_follow_what_is_written_through_a_view(view: str) -> None:
    found = []
    for make in (UNSAID[view], SAID[view]):
        start = leaf()
        x = start * 1
        v = make(x)
        assert v._is_view()
        assert v._base is x
        v.mul_(3)
        (x.pow(2).sum() + v.sum()).backward()
        found.append(start.grad)
    assert torch.equal(*found)


@pytest.mark.parametrize("view", UNSAID)
def test_views_of_leaves_are_not_written(view: str) -> None:
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        UNSAID[view](leaf()).mul_(2)


@pytest.mark.parametrize("split", ["hsplit", "vsplit", "tensor_split"])
def test_slices_that_are_made_together_may_be_written(split: str) -> None:
    for _ in range(40):  # the ways of later calls, too
        x, w = torch.ones(2, 2), torch.full((1,), 3.0, requires_grad=True)
        getattr(x, split)(2)[0].mul_(w)
        x.sum().backward()
        assert w.grad.tolist() == [2.0]
    x = torch.ones(2, 2)
    with pytest.raises(RuntimeError, match="a function that returns multiple views"):
        x.unbind()[0].mul_(w)


def test_a_view_made_without_gradients_of_a_leaf_that_is_a_view() -> None:
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    with torch.no_grad():
        v = x.view(-1)
    assert not v.requires_grad
    assert not (v * 2).requires_grad
    v.add_(1)
    assert x.detach().tolist() == [[1, 2, 3], [4, 5, 6]]
    w = torch.ones(6, requires_grad=True)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being"):
        v.mul_(w)
    with torch.no_grad():
        of_leaf = leaf().view(-1)
    assert of_leaf.requires_grad
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being"):
        of_leaf.mul_(2)


def test_views_of_memory_for_inference() -> None:
    with torch.inference_mode():
        x = torch.arange(6.0).view(2, 3)
        views = x.T, x[1:], x.diagonal(), x.T[1:].diagonal(), x.unfold(0, 2, 1)
    assert all(v.is_inference() and not v._is_view() for v in views)
    for v in views:
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
            v.add_(1)


def test_what_lies_over_itself_is_not_filled_by_a_tensor() -> None:
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.ones(1, 3).expand(2, 3).fill_(torch.tensor(2.0))


def test_a_write_that_fails_is_not_counted() -> None:
    a = torch.arange(3.0)
    for key, value in ((5, 1), (slice(0, 2), torch.ones(3)), (torch.tensor([0, 7]), 1), (0, "x")):
        with pytest.raises((IndexError, RuntimeError, TypeError)):
            a[key] = value
        assert a._version == 0
    a[0] = 1
    assert a._version == 1


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: torch.Tensor) -> torch.Tensor:
        made = x * 2
        ctx.save_for_backward(made)
        return made

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, g: torch.Tensor) -> torch.Tensor:
        (made,) = ctx.saved_tensors
        return g * made


def test_errors_name_functions_as_torch_does() -> None:
    made = Doubled.apply(torch.ones(2, requires_grad=True))
    made.mul_(3)
    with pytest.raises(RuntimeError, match="which is output 0 of Doubled, is at version 1"):
        made.sum().backward()
