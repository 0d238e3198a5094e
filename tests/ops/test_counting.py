"""How often whole numbers occur, and values written to places they name, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels

native = pytest.mark.skipif(
    kernels.family("ordering.counting") is None, reason="no native code here"
)


@native
@pytest.mark.parametrize("size", [1, 15, 33, 40_000])
def test_numbers_are_counted(size: int) -> None:
    counting, random = kernels.family("ordering.counting"), np.random.default_rng(size)
    x = random.integers(-(2**62), 2**62, size)
    assert counting.span(x) == (x.min(), x.max())
    few, weights = random.integers(0, 9, size), random.standard_normal(size)
    assert np.array_equal(counting.count(few, 9), np.bincount(few, minlength=9))
    assert np.array_equal(counting.count(few, 9, weights), np.bincount(few, weights, 9))
    for wrong in (-1, 9):
        few[-1] = wrong
        assert counting.count(few, 9) is None


def test_bincount_counts_up_to_the_largest() -> None:
    x = torch.tensor([3, 1, 3])
    assert torch.bincount(x).tolist() == [0, 1, 0, 2]
    assert torch.bincount(x, minlength=6).tolist() == [0, 1, 0, 2, 0, 0]
    weights = torch.tensor([0.5, 2.0, 1.0])
    assert torch.bincount(x, weights).tolist() == [0, 2, 0, 1.5]
    assert torch.bincount(x.int()[::2]).tolist() == [0, 0, 0, 2]
    with pytest.raises(RuntimeError, match="non-negative integral"):
        torch.bincount(torch.tensor([3, -1]))


@pytest.mark.parametrize("shape", [(7,), (3, 40), (2, 5, 33)])
def test_one_value_goes_to_all_places(shape: Any) -> None:
    random = np.random.default_rng(1)
    x = random.standard_normal(shape).astype(np.float32)
    for axis in range(x.ndim):
        index = random.integers(0, shape[axis], shape)
        want = x.copy()
        np.put_along_axis(want, index, 2.5, axis)
        given = torch.from_numpy(x), axis, torch.from_numpy(index)
        assert np.array_equal(torch.scatter(*given, 2.5).numpy(), want)
        slices = torch.tensor([0, -1, 1])
        want = x.copy()
        want[(slice(None),) * axis + ([0, -1, 1],)] = 2.5
        assert np.array_equal(given[0].index_fill(axis, slices, 2.5).numpy(), want)
        filled = given[0].index_fill(axis, slices, torch.tensor(2.5))
        assert np.array_equal(filled.numpy(), want)


def test_learned_calls_look_at_every_index() -> None:
    x, source = torch.zeros(5, 4), torch.ones(3, 4)
    calls = {
        "index_add": lambda index: x.index_add(0, index, source),
        "index_copy": lambda index: x.index_copy(0, index, source),
        "index_fill": lambda index: x.index_fill(0, index, 1),
        "scatter": lambda index: x.scatter(0, index[:, None].expand(3, 4).contiguous(), 1.0),
    }
    for name, call in calls.items():
        index = torch.tensor([0, 2, 4])
        for _ in range(120):
            assert call(index).sum() == 12
        index[1] = 5
        with pytest.raises((IndexError, RuntimeError), match=r"out of (bounds|range)"):
            call(index)
        index[1] = -1
        if name == "index_fill":  # which counts from the end
            assert call(index).sum() == 8
        else:
            with pytest.raises((IndexError, RuntimeError), match=r"out of (bounds|range)"):
                call(index)
    assert not x.any()
