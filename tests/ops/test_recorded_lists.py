"""Nodes of operators that take lists of tensors, or give several results."""

from __future__ import annotations

import pytest

import rushlight as torch


def leaves(*sizes: tuple[int, ...]) -> list[torch.Tensor]:
    return [torch.randn(size, requires_grad=True) for size in sizes]


@pytest.mark.parametrize("times", [1, 3])
def test_a_list_of_tensors(times: int) -> None:
    a, b = leaves((2, 3), (4, 3))
    c = torch.randn(1, 3)
    for _ in range(times):  # what is written for a call of these types is used again
        made = torch.cat([a * 2, c, b])
    edges = made.grad_fn.next_functions
    assert [node and node.name() for node, _ in edges] == [
        "MulBackward0",
        None,
        "torch::autograd::AccumulateGrad",
    ]
    weights = torch.randn(7, 3)
    made.backward(weights)
    assert torch.equal(a.grad, weights[:2] * 2)
    assert torch.equal(b.grad, weights[3:])


def test_lists_of_other_lengths_and_kinds() -> None:
    (a,) = leaves((2, 2))
    for count in (1, 2, 5):
        torch.stack([a] * count).sum().backward()
    assert a.grad.tolist() == [[8, 8], [8, 8]]
    mixed = torch.cat([a, torch.ones(1, 2, dtype=torch.int64)])
    assert mixed.dtype == torch.float32
    a.grad = None
    mixed.sum().backward()
    assert a.grad.tolist() == [[1, 1], [1, 1]]
    assert not torch.cat([torch.ones(2), torch.zeros(1)]).requires_grad
    with torch.no_grad():
        assert not torch.stack([a, a]).requires_grad


def test_gradients_of_gradients_of_lists() -> None:
    a, b = (each.double().detach().requires_grad_() for each in leaves((2, 3), (2, 3)))
    assert torch.autograd.gradgradcheck(lambda x, y: torch.cat([x * y, y], 1).pow(3), (a, b))
    assert torch.autograd.gradgradcheck(lambda x, y: torch.stack([x, y]).pow(3), (a, b))
    assert torch.autograd.gradgradcheck(lambda x: x.topk(2)[0].pow(3), (a,))


def test_indices_in_a_list() -> None:
    (a,) = leaves((4, 3))
    index = torch.tensor([1, 1, 2])
    for _ in range(2):
        picked = a[index]
    assert picked.grad_fn.name() == "IndexBackward0"
    picked.sum().backward()
    assert a.grad[:, 0].tolist() == [0, 2, 1, 0]
    kept = a[:, index]
    index += 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.sum().backward()


def test_several_results() -> None:
    (a,) = leaves((3, 4))
    for _ in range(2):
        found = a.max(1)
    assert (found.values.grad_fn.name(), found.indices.requires_grad) == ("MaxBackward0", False)
    found.values.sum().backward()
    assert a.grad.sum().item() == 3
    mean, spread = torch.std_mean(a, 1)[::-1]
    assert (mean.grad_fn, mean.output_nr, spread.output_nr) == (spread.grad_fn, 1, 0)
    assert torch.aminmax(a)[1].grad_fn.name() == "AminmaxBackward0"


def test_several_views() -> None:
    (a,) = leaves((4, 2))
    for _ in range(2):
        one, other = (a * 1).chunk(2)
    assert one._base is other._base
    assert other.output_nr == 1
    with pytest.raises(RuntimeError, match="Output 1 of Split is a view"):
        other.add_(1)
    one.sum().backward()
    assert a.grad[:, 0].tolist() == [1, 1, 0, 0]


def test_kept_tensors_of_lists_go_through_hooks() -> None:
    a, b = leaves((3,), (3,))
    seen = list[int]()
    with torch.autograd.graph.saved_tensors_hooks(lambda x: seen.append(x.dim()) or x, lambda x: x):
        torch.einsum("i,i->", a, b).backward()
    assert seen
    assert torch.equal(a.grad, b)


def test_what_has_no_gradient_leaves_nothing() -> None:
    (a,) = leaves((3,))
    assert not (a == a).requires_grad
    assert not a.detach().requires_grad
    assert not torch.isnan(a).requires_grad
    assert not a.argmax().requires_grad
