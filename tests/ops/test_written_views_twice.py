"""Second gradients of what was written through views, and gradients of softmax behind masks."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

F = torch.nn.functional


@pytest.mark.parametrize("name", ["sigmoid_", "tanh_", "exp_", "relu_", "sqrt_"])
def test_second_gradients_of_writes_through_views(name: str) -> None:
    """What is kept of a result that was written is a view of the whole tensor."""

    def function(root: Any) -> Any:
        whole = root.clone()
        getattr(whole.narrow(0, 1, 2), name)()
        return whole

    def apart(root: Any) -> Any:
        return torch.cat([root[:1], getattr(root[1:3], name[:-1])(), root[3:]])

    x = torch.tensor([1.0, 0.5, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(function, [x])
    found = []
    for made in (function(x), apart(x)):
        grads = torch.ones(4, dtype=torch.float64, requires_grad=True)
        (first,) = torch.autograd.grad(made, x, grads, create_graph=True)
        found.append((first, *torch.autograd.grad(first.square().sum(), (x, grads),
                                                  allow_unused=True)))  # fmt: skip
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, torch.zeros(4).double() if other is None else other)


@pytest.mark.parametrize("shape", [(3, 4, 5), (4, 5), (2, 3, 4, 4)], ids=str)
def test_masks_of_the_scores_shape_need_no_type(shape: tuple[int, ...]) -> None:
    x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(x.numel()).reshape(shape) % 3 == 0
    for dim in (0, -1):
        made = torch._masked_softmax(x, mask, dim)
        wanted = x.masked_fill(mask, -torch.inf).softmax(dim).nan_to_num()
        assert torch.allclose(made.nan_to_num(), wanted)
        grad = torch.randn_like(made)
        (got,) = torch.autograd.grad(made, x, grad)
        part = wanted.detach()
        kept = (grad * part).sum(dim, True)
        assert torch.allclose(got, part * (grad - kept))  # zero where all is masked
    columns = torch.ones(2, 3, 4, 4)
    for kind, sizes, sentence in [
        (None, (4, 4), "Mask Type should be defined"),
        (0, (2, 4), r"For mask_type == 0 mask shape should be \(L, L\)"),
        (1, (4, 4), r"For mask_type == 1 mask shape should be \(B, L\)"),
        (2, (2, 4), "For mask_type == 2 mask shape should match input shape"),
        (3, (2, 4), r"Mask Type should be 0 \(src_mask\)"),
        (2, (4,), "For mask_type == 2 mask shape should match input shape"),
    ]:
        with pytest.raises(RuntimeError, match=sentence):
            torch._masked_softmax(columns, torch.zeros(sizes, dtype=torch.bool), -1, kind)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("sizes", [(0, 3), (0, 3, 5), (2, 3, 0, 7), (2, 3, 5, 0)], ids=str)
def test_losses_of_no_classes(sizes: tuple[int, ...], reduction: str) -> None:
    x = torch.rand(sizes, requires_grad=True)
    target = torch.zeros(sizes[0], *sizes[2:], dtype=torch.int64)
    made = F.nll_loss(x, target, reduction=reduction)
    made.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == x.shape
    assert bool(made.isnan().all()) == (reduction != "sum")


def test_skip_init_draws_nothing_and_fills_nothing() -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    made = torch.nn.utils.skip_init(torch.nn.Linear, 5, 1, dtype=torch.float64)
    assert torch.equal(torch.get_rng_state(), before)
    assert (made.weight.shape, made.weight.device.type) == ((1, 5), "cpu")
    assert made.weight.dtype is torch.float64
    assert isinstance(made.weight, torch.nn.Parameter)
