"""Operators over indices with tensors of mixed rank, or that are no indices, as in torch 2.13."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rushlight as torch

ROW, PLANE, ONE = torch.zeros(3), torch.zeros(2, 3), torch.tensor(1.0)
FIRST, SHORT = torch.tensor([0]), torch.tensor([0], dtype=torch.int32)
SQUARE = torch.zeros(1, 1, dtype=torch.int64)

REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "a number of a row": (
        lambda: ROW.index_add(0, FIRST, ONE),
        RuntimeError,
        "excluding the specified dimension. Got self.shape = [3] source.shape = []",
    ),
    "a row for a number": (
        lambda: ONE.index_reduce(0, FIRST, torch.ones(1), "prod"),
        RuntimeError,
        "excluding the specified dimension. Got self.shape = [] source.shape = [1]",
    ),
    "a dimension that the source has not": (
        lambda: PLANE.index_add(1, FIRST, torch.ones(1)),
        RuntimeError,
        "index_add_(): Indexing dim 1 is out of bounds of the source tensor with dim 1",
    ),
    "several indices for a number": (
        lambda: ROW.index_reduce(0, torch.tensor([0, 1]), ONE, "amax"),
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
    ),
    "indices of a copy": (
        lambda: ROW.index_copy(0, SHORT, torch.ones(1)),
        RuntimeError,
        "index_copy_(): Expected a long tensor for index, but got Int",
    ),
    "indices to take": (
        lambda: ROW.take(SHORT),
        RuntimeError,
        "take(): Expected a long tensor for index, but got Int",
    ),
    "a matrix of indices to fill": (
        lambda: ROW.index_fill(0, SQUARE, 1),
        RuntimeError,
        "Index has to be a vector/scalar",
    ),
    "a row to fill with": (
        lambda: ROW.index_fill(7, SQUARE, torch.ones(1)),
        RuntimeError,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension",
    ),
    "no dimension to select from": (
        lambda: ROW.index_select(1, SQUARE),
        IndexError,
        "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    ),
    "dtypes before ranks, to gather": (
        lambda: PLANE.gather(0, FIRST.float()),
        RuntimeError,
        "gather(): Expected dtype int32/int64 for index",
    ),
    "dtypes where nothing is scattered": (
        lambda: ROW.scatter(0, FIRST[:0], torch.ones(0, dtype=torch.float64)),
        RuntimeError,
        "scatter(): Expected self.dtype to be equal to src.dtype",
    ),
    "a number to scatter over a matrix": (
        lambda: PLANE.scatter(0, SQUARE, ONE),
        RuntimeError,
        "Index tensor must have the same number of dimensions as src tensor",
    ),
    "outside of all": (
        lambda: torch.take_along_dim(ROW, torch.tensor([3])),
        RuntimeError,
        "index 3 is out of bounds for dimension 0 with size 3",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_taken_along_a_dimension_round_and_round() -> None:
    found = torch.take_along_dim(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([5, -1, 7, -4]), 0)
    assert found.tolist() == [3, 3, 2, 3]


def test_numbers_go_with_numbers() -> None:
    assert ONE.index_add(0, torch.tensor(0), ONE) == 2
    assert ROW.put(torch.tensor(1), ONE).tolist() == [0, 1, 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_one_place_without_dimensions_is_known_and_checked(dtype: torch.dtype) -> None:
    """`labels[order[j]]`, and written so, often enough for native code to know it."""
    unit = torch.jit.CompilationUnit(
        "def f(x: Tensor, i: Tensor, n: Tensor):\n"
        "    x = x.clone()\n    x[i[0]] = n\n    return x, x[i[1]]\n"
    )
    for shape in ((5,), (5, 3)):
        x = torch.arange(5 if len(shape) == 1 else 15).reshape(shape).to(dtype)
        n = torch.ones(shape[1:]).to(dtype)
        for a, b in [(0, 4), (-1, -5), (2, 2)] * 40:
            found, taken = unit.f(x, torch.tensor([a, b]), n)
            wanted = x.numpy().copy()
            wanted[a] = 1
            assert (found.numpy() == wanted).all()
            assert (taken.numpy() == wanted[b]).all()
            assert taken.data_ptr() != found.data_ptr()
        for a, b in [(5, 0), (0, -6)] * 2:
            with pytest.raises(RuntimeError, match="out of"):
                unit.f(x, torch.tensor([a, b]), n)
