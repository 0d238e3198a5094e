"""Gradients of tables that hold the rows that were read alone, and steps along them."""

from __future__ import annotations

import copy

import pytest

import rushlight as torch
from rushlight.nn import functional as F

INDICES = torch.tensor([1, 3, 1])


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(10, 4, sparse=True, padding_idx=2)

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        return self.table(places).sum(1).pow(2).mean()


LOSSES = {
    "SparseAdam": [1.748, 3.7417, 1.1678, 1.372],
    "SGD": [1.748, 3.9828, 1.2746, 1.5167],
    "Adagrad": [1.748, 3.7417, 1.1946, 1.5032],
}
"""As torch 2.13 has them."""


@pytest.mark.parametrize("scripts", [False, True])
@pytest.mark.parametrize("name", list(LOSSES))
def test_optimizers_step_along_rows(name: str, scripts: bool) -> None:
    torch.manual_seed(0)
    model = torch.jit.script(Model()) if scripts else Model()
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1)
    losses = []
    for step in range(4):
        optimizer.zero_grad()
        loss = model(torch.tensor([[1, 2, 5], [1, 8, step]]))
        loss.backward()
        gradient = model.table.weight.grad
        assert gradient.is_sparse
        assert gradient._nnz() == 5 - (step == 2)  # the padding has none
        losses.append(loss.item())
        optimizer.step()
    assert losses == pytest.approx(LOSSES[name], abs=1e-4)


class Near(torch.nn.Module):
    """One table is read twice, another beside its sum, a third through a product."""

    def __init__(self) -> None:
        super().__init__()
        self.twice, self.beside, self.through = (
            torch.nn.Parameter(torch.arange(12.0).view(4, 3) / n) for n in (3, 5, 7)
        )

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        rows = F.embedding(places, self.twice, sparse=True) * F.embedding(
            places.flip(0), self.twice, sparse=True
        )
        rows = rows * F.embedding(places, self.beside, sparse=True) + self.beside.sum()
        return (rows * F.embedding(places, self.through * 2, sparse=True)).sin().sum()


def test_scripted_calls_with_sparse_gradients_are_walked_at_once() -> None:
    model = Near()
    scripted = torch.jit.script(model)
    for _ in range(8):  # later ones are one node
        model.zero_grad()
        model(INDICES).backward()
        wanted = [each.grad for each in model.parameters()]
        model.zero_grad()
        scripted(INDICES).backward()
        found = [each.grad for each in model.parameters()]
        assert [each.is_sparse for each in found] == [True, False, False]
        for one, other in zip(found, wanted, strict=True):
            assert torch.allclose(one.to_dense(), other.to_dense())
    (slope,) = torch.autograd.grad(scripted(INDICES), model.through, create_graph=True)
    assert slope.requires_grad


def test_sparse_gradients_meet_dense_ones() -> None:
    weight = torch.arange(12.0).view(4, 3).requires_grad_()
    F.embedding(INDICES, weight, sparse=True).sum().backward()
    weight.sum().backward()
    dense = weight.grad
    assert dense.tolist() == [[1.0] * 3, [3.0] * 3, [1.0] * 3, [2.0] * 3]
    weight.grad = None
    weight.sum().backward()
    F.embedding(INDICES, weight, sparse=True).sum().backward()
    assert torch.equal(weight.grad, dense)
    weight.grad = None
    (F.embedding(INDICES, weight, sparse=True).sum() + weight.sum()).backward()
    assert torch.equal(weight.grad, dense)
    weight.grad = None
    for _ in range(2):
        bags = F.embedding_bag(INDICES, weight, torch.tensor([0, 1]), mode="sum", sparse=True)
        bags.sum().backward()
    assert weight.grad.is_sparse
    assert weight.grad.to_dense().tolist() == [[0.0] * 3, [4.0] * 3, [0.0] * 3, [2.0] * 3]


def test_sparse_gradients_by_name_and_refusals() -> None:
    weight = torch.arange(12.0).view(4, 3).requires_grad_()
    heard = []
    weight.register_hook(lambda grad: heard.append(grad.is_sparse))
    (grad,) = torch.autograd.grad(F.embedding(INDICES, weight, sparse=True).sum(), weight)
    assert grad.is_sparse
    assert heard == [True]
    scaled = F.embedding(INDICES, weight, sparse=True, scale_grad_by_freq=True)
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse"):
        scaled.sum().backward()
    doubled = F.embedding(INDICES, weight * 2, sparse=True)
    (grad,) = torch.autograd.grad(doubled.sum(), weight)
    assert grad.to_dense()[1].tolist() == [4.0] * 3


def test_targets_that_do_not_count_have_no_gradients() -> None:
    for loss in (F.nll_loss, F.cross_entropy):
        for weight in (None, torch.ones(3)):
            x = torch.randn(2, 3, requires_grad=True)
            loss(x, torch.tensor([-100, -100]), weight).backward()
            assert x.grad.tolist() == [[0.0] * 3] * 2


def test_sums_of_sparse_gradients() -> None:
    table = torch.nn.Embedding(10, 3, sparse=True, padding_idx=5)
    i, j = torch.tensor([1, 1, 4, 5]), torch.tensor([4, 0])
    weights = torch.randn(4, 3)
    ((table(i) * weights).sum() + (table(j) * 2).sum()).backward()
    grad = table.weight.grad
    assert not grad.is_coalesced()
    dense = torch.zeros(10, 3)
    dense[1] = weights[0] + weights[1]
    dense[4] = weights[2] + 2
    dense[0] = 2
    assert torch.equal(grad.to_dense(), dense)
    once = grad.coalesce()
    assert once.is_coalesced()
    assert once.indices().tolist() == [[0, 1, 4]]
    assert torch.equal(once.values(), dense[[0, 1, 4]])
    assert (once + once).is_coalesced()
    assert torch.allclose((once + grad).to_dense(), 2 * dense)


def test_gradients_that_are_assigned_keep_their_own_places() -> None:
    x = torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse().requires_grad_()
    x.to_dense().sum().backward(inputs=[x])
    assert x.grad.to_dense().tolist() == [[0.0, 1.0], [1.0, 0.0]]
    x.grad = torch.tensor([[5.0, 0.0], [0.0, 0.0]]).to_sparse()
    assert x.grad.to_dense().tolist() == [[5.0, 0.0], [0.0, 0.0]]
    x.to_dense().sum().backward()
    for each in (x, copy.deepcopy(x)):
        assert each.requires_grad
        assert each.grad.to_dense().tolist() == [[5.0, 1.0], [1.0, 0.0]]
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = torch.ones(3).to_sparse()


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("before", ["dense", "sparse"])
def test_gradients_that_sparse_ones_are_added_to_stay_the_same(
    before: str, create_graph: bool
) -> None:
    part = torch.sparse_coo_tensor(torch.tensor([[0, 1]]), torch.tensor([1.0, 2.0]))
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = known = part.to_dense() if before == "dense" else part.clone()
    leaf.backward(part.clone(), create_graph=create_graph)
    assert leaf.grad.to_dense().tolist() == [2, 4]
    assert (leaf.grad is known) is not create_graph
