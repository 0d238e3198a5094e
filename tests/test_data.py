"""Data sets and loaders, against the orders torch draws."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.table.table import TABLE
from rushlight.utils.data import (
    ConcatDataset,
    DataLoader,
    IterableDataset,
    RandomSampler,
    StackDataset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(7))


def rows() -> TensorDataset:
    return TensorDataset(torch.arange(10.0).reshape(10, 1), torch.arange(10))


def test_random_orders_are_torchs() -> None:
    torch.manual_seed(0)
    orders = [[y.tolist() for _, y in DataLoader(rows(), 3, shuffle=True)] for _ in range(2)]
    assert orders == [
        [[6, 7, 1], [4, 2, 0], [9, 8, 3], [5]],
        [[2, 4, 7], [0, 8, 9], [5, 3, 6], [1]],
    ]
    assert len(list(DataLoader(rows(), 4, drop_last=True))) == 2
    torch.rand(2)
    assert [list(part.indices) for part in random_split(rows(), [3, 7])] == [
        [6, 4, 8],
        [7, 1, 2, 5, 3, 0, 9],
    ]
    assert [len(part) for part in random_split(rows(), [0.3, 0.3, 0.4])] == [3, 3, 4]
    assert list(RandomSampler(rows(), True, 40))[-3:] == [3, 9, 6]
    assert list(RandomSampler(rows(), num_samples=25))[-4:] == [6, 4, 2, 1]
    assert list(WeightedRandomSampler([1, 2, 3.0], 5)) == [1, 2, 2, 1, 2]
    assert list(SubsetRandomSampler([4, 6, 8])) == [6, 8, 4]


def test_a_generator_of_the_loaders_own() -> None:
    loader = DataLoader(
        rows(), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(3)
    )
    assert [y.tolist() for _, y in loader] == [[7, 4, 2, 9], [1, 5, 0, 8], [6, 3]]
    assert [y.tolist() for _, y in loader] == [[1, 2, 0, 5], [9, 4, 8, 3], [6, 7]]
    assert len(loader) == 3


def test_streams() -> None:
    assert [b.tolist() for b in DataLoader(Stream(), batch_size=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(list(DataLoader(Stream(), batch_size=3, drop_last=True))) == 2
    assert list(DataLoader(Stream(), batch_size=None)) == [0, 1, 2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="unspecified shuffle"):
        DataLoader(Stream(), shuffle=True)


def test_samples_are_put_together() -> None:
    (batch,) = DataLoader([{"a": 1, "b": (2.0, "x")}, {"a": 3, "b": (4.0, "y")}], batch_size=2)
    assert batch["a"].tolist() == [1, 3]
    assert batch["b"][0].dtype is torch.float64
    assert batch["b"][1] == ("x", "y")
    with pytest.raises(TypeError, match="default_collate"):
        next(iter(DataLoader([object()])))


def test_sets_of_sets() -> None:
    joined = ConcatDataset([[1, 2], [3]])
    assert [joined[i] for i in (0, 1, 2, -1)] == [1, 2, 3, 3]
    assert StackDataset([1, 2], [3, 4])[1] == (2, 4)
    assert StackDataset(a=[1, 2])[0] == {"a": 1}
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(torch.zeros(2), torch.zeros(3))


def test_names_are_not_listed_for_each_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """What batches, orders and lists of tensors need is known: no list of all names is made."""
    rows = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    sampler = torch.utils.data.WeightedRandomSampler([0.5] * 6, 6)

    def refused(self: object) -> object:
        raise AssertionError("all names are listed")

    monkeypatch.setattr(type(TABLE), "faces", refused)
    for order in ({"shuffle": True}, {"sampler": sampler}):
        batches = list(torch.utils.data.DataLoader(rows, batch_size=4, **order))
        assert [len(each) for each, _ in batches] == [4, 2]
    found = torch.utils.data.default_collate([{"a": 1, "b": 0.5, "c": np.ones(2)}] * 2)
    assert [tuple(each.shape) for each in found.values()] == [(2,), (2,), (2, 2)]
    assert torch.utils.data.random_split(rows, [4, 2])
    powers = torch._foreach_pow(2.0, [torch.ones(1)])
    assert powers[0].item() == 2.0


class Understated(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(4))

    def __len__(self) -> int:
        return 2


def test_a_stream_that_is_longer_than_it_says() -> None:
    assert sum(1 for _ in DataLoader(Understated())) == 4  # nobody asked how long it is
    loader = DataLoader(Understated())
    assert len(loader) == 2
    batches = iter(loader)
    next(batches)
    next(batches)
    for count in (3, 4):
        message = rf"was reported to be 2\(when accessing len\(dataloader\)\), but {count} samples"
        with pytest.warns(UserWarning, match=message):
            next(batches)


def test_arrays_are_stacked_by_the_table_of_types() -> None:
    arrays = [np.full((2, 3), i, np.float32) for i in range(3)]
    made = torch.utils.data.default_collate(arrays)
    assert made.shape == (3, 2, 3)
    assert made.tolist() == np.stack(arrays).tolist()
    arrays[0][...] = 7
    assert made[0].sum().item() == 0
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        torch.utils.data.default_collate([np.zeros(2), np.zeros(3)])
    collate = torch.utils.data._utils.collate
    table = {**collate.default_collate_fn_map, torch.Tensor: lambda batch, **_: len(batch)}
    assert collate.collate(arrays, collate_fn_map=table) == 3
