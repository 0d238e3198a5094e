"""Batches of rows of tensors are those that are put together row by row."""

from __future__ import annotations

import warnings

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.utils.data import DataLoader, Subset, TensorDataset, default_collate, random_split

X, Y = torch.arange(30.0).reshape(10, 3), torch.arange(10)


class Doubled(TensorDataset):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x * 2, y


SETS = [
    TensorDataset(X, Y),
    Subset(TensorDataset(X, Y), [3, 1, -1, 9]),
    Doubled(X, Y),
    Subset(Doubled(X, Y), [0, 5, 2]),
    TensorDataset(X.t(), torch.zeros(3, dtype=torch.bfloat16)),
    TensorDataset(X.clone().requires_grad_(), Y),
]


@pytest.mark.parametrize("data", SETS, ids=range(len(SETS)))
def test_as_one_by_one(data) -> None:
    found = list(DataLoader(data, batch_size=3))
    wanted = list(DataLoader(data, batch_size=3, collate_fn=lambda rows: default_collate(rows)))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert type(one) is type(other) is list
        for mine, theirs in zip(one, other, strict=True):
            assert torch.equal(mine, theirs)
            assert mine.dtype == theirs.dtype
            assert mine.requires_grad == theirs.requires_grad


def test_batches_own_their_memory() -> None:
    (batch, _), *_ = DataLoader(TensorDataset(X, Y), batch_size=3)
    batch.zero_()
    assert X[1, 1] == 4.0


def test_order_is_that_of_the_sampler() -> None:
    torch.manual_seed(5)
    parts = random_split(TensorDataset(X, Y), [7, 3])
    torch.manual_seed(6)
    found = [y.tolist() for _, y in DataLoader(parts[0], batch_size=4, shuffle=True)]
    torch.manual_seed(6)
    loader = DataLoader(parts[0], batch_size=4, shuffle=True, collate_fn=lambda rows: rows)
    assert found == [[int(y) for _, y in rows] for rows in loader]


def test_numbers_out_of_range_are_told() -> None:
    with pytest.raises(IndexError, match="index 12 is out of bounds"):
        list(DataLoader(TensorDataset(X, Y), batch_sampler=[[0, 12]]))


def test_lbfgs_makes_no_number_of_what_has_a_history() -> None:
    model = torch.jit.script(nn.Linear(2, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = model(X[:, :2]).square().mean()
        loss.backward()
        return loss

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert optimizer.step(closure) > 0
