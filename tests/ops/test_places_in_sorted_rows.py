"""Binary searches of many values: `searchsorted`, `bucketize`, and bins that are found by them."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

import rushlight as torch

pytestmark = pytest.mark.filterwarnings("ignore:torch.searchsorted")


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("name", ["float32", "float64", "int64"])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 40])
def test_many_values_in_one_row(size: int, name: str, right: bool) -> None:
    dtype = getattr(torch, name)
    row = (torch.arange(size) // 2 * 3 - 20).to(dtype)  # each twice
    values = torch.arange(-40, 67).to(dtype)
    wanted = np.searchsorted(row.numpy(), values.numpy(), "right" if right else "left")
    for x, places in ((values, wanted), (values.flip(0), wanted[::-1]), (values[::3], wanted[::3])):
        for _ in range(60):
            assert np.array_equal(torch.searchsorted(row, x, right=right).numpy(), places)
    wide = torch.stack([values, values.flip(0)], 1).t()  # in pieces
    found = torch.bucketize(wide, row, right=right)
    assert np.array_equal(found.numpy(), np.stack([wanted, wanted[::-1]]))


def test_rows_that_are_in_no_order_are_halved_however_values_lie() -> None:
    row, values = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0]), torch.linspace(0, 10, 60)
    wide = values.view(20, 3).t()
    for right in (False, True):
        alone = [torch.bucketize(each, row, right=right) for each in values]
        one_by_one = torch.stack(alone)
        assert torch.equal(torch.bucketize(values, row, right=right), one_by_one)
        assert torch.equal(torch.bucketize(wide, row, right=right), one_by_one.view(20, 3).t())


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_bins_are_numpys(name: str) -> None:
    x = torch.linspace(-1, 1, 4001, dtype=getattr(torch, name))[torch.randperm(4001)]
    edges = torch.tensor([-1.0, -0.3, 0.25, 0.5], dtype=x.dtype)
    for given in (x, x[:4000].view(40, 100).t()):
        counts, _ = torch.histogram(given, edges)
        wanted, _ = np.histogram(given.numpy().astype(float), edges.numpy().astype(float))
        assert counts.tolist() == wanted.tolist()


@pytest.mark.parametrize("size", range(7))
def test_combinations_are_those_of_itertools(size: int) -> None:
    for count in range(1, 8):
        for again, choose in ((False, combinations), (True, combinations_with_replacement)):
            wanted = [list(each) for each in choose(range(size), count)]
            found = torch.combinations(torch.arange(size), count, again)
            assert found.shape == (len(wanted), count)
            assert found.tolist() == wanted


def test_combinations_and_triangles_come_again() -> None:
    x = torch.arange(9.0)
    for _ in range(3):
        rows = torch.combinations(x, 3)
        assert len(rows) == 84
        assert rows[0].tolist() == [0.0, 1.0, 2.0]
        rows.zero_()  # which is no one else's
        places = torch.tril_indices(200, 200)
        assert places[:, -1].tolist() == [199, 199]
        places.zero_()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_bins_of_16_bit_floats_are_found_in_their_steps(name: str) -> None:
    x = (torch.randn(50, 40) * 3).to(getattr(torch, name))
    low, high = (torch.tensor(each, dtype=x.dtype) for each in (-2.0, 3.5))
    for given in (x, x.t()):
        inside = given.reshape(-1)
        inside = inside[(inside >= low) & (inside <= high)]
        places = ((inside - low) * torch.tensor(300, dtype=x.dtype)) / (high - low)
        wanted = places.long().clamp(max=299).bincount(minlength=300).to(x.dtype)
        assert torch.equal(torch.histc(given, 300, -2, 3.5), wanted)
        assert torch.histc(given, 5).sum() == 2000
