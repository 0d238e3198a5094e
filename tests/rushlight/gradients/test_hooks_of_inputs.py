"""`backward(inputs=...)`, gradients that come together, and gradients kept of views."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.nn import functional as F

Tensor = torch.Tensor


def test_leaves_that_are_asked_for_get_their_gradient_once_and_with_all_hooks() -> None:
    x, heard = torch.ones(2, requires_grad=True), []
    y = x * 2
    x.register_hook(lambda grad: heard.append("of x"))
    x.register_post_accumulate_grad_hook(lambda leaf: heard.append(leaf.grad.tolist()))
    leaf = y.grad_fn.next_functions[0][0]
    leaf.register_prehook(lambda grads: heard.append("before"))
    leaf.register_hook(lambda own, grads: heard.append("after"))
    (y * 3).sum().backward(inputs=[x, x])
    assert heard == ["of x", "before", [6.0, 6.0], "after"]
    assert x.grad.tolist() == [6.0, 6.0]


def test_results_that_are_asked_for_keep_their_gradient_and_their_node_is_run() -> None:
    x, heard = torch.ones(2, requires_grad=True), []
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: heard.append("before"))
    y.register_hook(lambda grad: heard.append("of y"))
    y.grad_fn.register_hook(lambda own, grads: heard.append(own[0]))
    (y * 3).sum().backward(inputs=[y])
    assert heard == ["of y", "before", None]
    assert x.grad is None
    assert y.retains_grad
    assert y.grad.tolist() == [3.0, 3.0]


def test_views_keep_the_gradient_of_what_stands_in_them_now() -> None:
    base = torch.ones(1, requires_grad=True).clone()
    view, other = base[:], base[:]
    view.retain_grad()
    other.retain_grad()
    view.mul_(2)
    (view + other).sum().backward()
    assert [view.grad.tolist(), other.grad.tolist()] == [[1.0], [1.0]]


WEIGHT, BIAS = torch.ones(4, requires_grad=True), torch.ones(4, requires_grad=True)
KERNEL = torch.ones(4, 4, 1, requires_grad=True)
FUNCTIONS: list[Callable[[Tensor], Tensor]] = [
    lambda x: F.layer_norm(x, (4,), WEIGHT, BIAS),
    lambda x: F.batch_norm(x, None, None, WEIGHT, BIAS, training=True),
    lambda x: F.conv1d(x.t()[None], KERNEL, BIAS),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_that_come_together_are_differentiable_together(
    function: Callable[[Tensor], Tensor],
) -> None:
    x = torch.rand(3, 4, requires_grad=True)
    (grad,) = torch.autograd.grad(function(x).sum(), [BIAS], create_graph=True)
    assert grad.requires_grad
    assert torch.autograd.grad(grad.sum(), [x], allow_unused=True) == (None,)
    (grad,) = torch.autograd.grad(function(x).sum(), [BIAS])
    assert not grad.requires_grad


@pytest.mark.parametrize("reduce", [torch.scatter_reduce, torch.index_reduce])
def test_products_of_several_zeros_are_differentiated_once(
    reduce: Callable[..., Tensor],
) -> None:
    x, zeros = torch.ones(1, requires_grad=True), torch.zeros(2, requires_grad=True)
    made = reduce(x, 0, torch.tensor([0, 0]), zeros, "prod").sum()
    (grad,) = torch.autograd.grad(made, zeros, create_graph=True)
    assert grad.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="Double backward is unsupported for src when >1 zeros"):
        torch.autograd.grad(grad.sum(), zeros)


def test_functions_keep_sparse_tensors() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, sparse: Tensor, x: Tensor) -> Tensor:
            ctx.save_for_backward(sparse)
            return torch.sparse.mm(sparse, x)

        @staticmethod
        def backward(ctx, grad: Tensor) -> tuple[None, Tensor]:
            (sparse,) = ctx.saved_tensors
            return None, torch.sparse.mm(sparse.t(), grad)

    x, sparse = torch.ones(2, 2, requires_grad=True), torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    Product.apply(sparse.to_sparse(), x).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [1.0, 1.0]]
