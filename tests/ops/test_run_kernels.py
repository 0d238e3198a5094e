"""Unique and most frequent elements by kernels, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family

pytestmark = pytest.mark.skipif(family("ordering.runs") is None, reason="no native code here")
DTYPES = ["int64", "int32", "int16", "int8", "uint8", "bool", "float32", "float64"]


def _same(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(found.numpy(), wanted)


def _drawn(size: Any, most: int, dtype: str) -> Any:
    return np.random.default_rng(most).integers(0, most, size).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "most"), [(1, 2), (17, 3), (33, 100), (100, 5), (700, 90)])
def test_unique_elements_and_runs(size: int, most: int, dtype: str) -> None:
    x = _drawn(size, most, dtype)
    for line in (x, np.sort(x)):
        given, begins = torch.from_numpy(line), np.r_[True, line[1:] != line[:-1]]
        wanted = np.unique(line, return_inverse=True, return_counts=True)
        for found, each in zip(torch.unique(given, True, True, True), wanted, strict=True):
            _same(found, each.reshape(-1))
        _same(torch.unique(given), wanted[0])
        first = np.flatnonzero(begins)
        values, inverse, counts = torch.unique_consecutive(given, True, True)
        _same(values, line[first])
        _same(inverse, np.cumsum(begins) - 1)
        _same(counts, np.diff(np.r_[first, size]))
        _same(torch.unique_consecutive(given), line[first])


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", "float64"])
@pytest.mark.parametrize(("shape", "most"), [((3, 7), 3), ((4, 100), 9), ((2, 600), 40)])
def test_most_frequent_elements(shape: Any, most: int, dtype: str) -> None:
    x = _drawn(shape, most, dtype)
    wanted = [np.unique(row, return_counts=True) for row in x]
    values = np.array([v[np.argmax(c)] for v, c in wanted])
    places = [np.flatnonzero(row == value)[-1] for row, value in zip(x, values, strict=True)]
    for _ in range(3):
        for found in (torch.mode(torch.from_numpy(x)), torch.mode(torch.from_numpy(x).mT, 0)):
            _same(found[0], values)
            _same(found[1], places)


@pytest.mark.parametrize("size", [20, 600])
def test_numbers_that_are_none_and_zeros_of_both_signs(size: int) -> None:
    x = torch.full((size,), float("nan"))
    x[5:9] = torch.tensor([1.0, -0.0, 0.0, 1.0])
    values, places = torch.mode(x)
    assert values.item() == 0
    assert places.item() == 7
    found, counts = torch.unique(x, return_counts=True)
    assert found[:2].tolist() == [0, 1]
    assert np.signbit(found[0].item())
    assert counts.tolist() == [2, 2, *[1] * (size - 4)]
    assert torch.unique_consecutive(x[5:9]).tolist() == [1, 0, 1]


@pytest.mark.parametrize("dtype", [*DTYPES, "float16"])
@pytest.mark.parametrize("shape", [(3, 50), (8, 8), (30, 31)])
def test_unique_rows_that_are_long(shape: Any, dtype: str) -> None:
    x = _drawn(shape, 2, "int64") - (dtype not in ("bool", "uint8"))
    x[shape[0] // 2 :] = x[: shape[0] - shape[0] // 2]
    x = x.astype(dtype)
    x = -x if dtype.startswith("float") else x
    wanted = np.unique(x, return_inverse=True, return_counts=True, axis=0)
    made = torch.unique(torch.from_numpy(x), True, True, True, dim=0)
    for found, each in zip(made, wanted, strict=True):
        _same(found, each.reshape(found.shape))
