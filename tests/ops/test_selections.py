"""`kthvalue`, `median` and `nanmedian` of rows: what a stable order puts at a place, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import threads

DTYPES = "float32 float64 float16 bfloat16 int64 int32 int16 uint8".split()
SHAPES = (((5, 300), 1), ((300, 5), 0), ((2, 70, 3), 1), ((7, 65), -1), ((1, 4100), 1))


def _numbers(name: str, shape: tuple[int, ...], wild: bool) -> torch.Tensor:
    """Numbers of which many are equal; wild ones have zeros of both signs and NaN among them."""
    random = np.random.default_rng(sum(shape))
    x = np.round(random.standard_normal(shape) * 20)
    if wild:
        x = np.where(random.random(shape) < 0.3, x * 0.0, x)
        x = np.where(random.random(shape) < 0.2, np.nan, x)
    return torch.from_numpy(np.abs(x) if name == "uint8" else x).to(getattr(torch, name))


def _ordered(x: torch.Tensor, dim: int) -> tuple[Any, Any, Any]:
    """The numbers, a stable order of them, and how many are no numbers."""
    wide = x.double().numpy() if x.is_floating_point() else x.long().numpy()
    return wide, np.argsort(wide, dim, kind="stable"), np.isnan(wide).sum(dim, keepdims=True)


def _check(found: Any, x: torch.Tensor, dim: int, places: Any) -> None:
    wide, order, _ = _ordered(x, dim)
    where = np.take_along_axis(order, places, dim)
    np.testing.assert_array_equal(found.indices.numpy(), where)
    values = found.values.double() if x.is_floating_point() else found.values.long()
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(wide, where, dim))
    assert found.values.dtype is x.dtype
    assert found.values.is_contiguous()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("wild", [False, True])
def test_as_in_a_stable_order(shape: tuple[int, ...], dim: int, name: str, wild: bool) -> None:
    if wild and "float" not in name:
        return
    x = _numbers(name, shape, wild)
    size = shape[dim]
    _, order, nans = _ordered(x, dim)
    rows = np.zeros_like(order.take([0], dim))
    for k in (1, 2, size // 3, size - 1, size):
        _check(x.kthvalue(k, dim, True), x, dim, rows + k - 1)
    middle = np.where(nans > 0, size - nans, (size - 1) // 2)
    _check(x.median(dim, True), x, dim, middle)
    _check(x.nanmedian(dim, True), x, dim, np.maximum(size - nans - 1, 0) // 2)


def test_rows_of_one_number_and_of_none() -> None:
    x = torch.full((2, 100), 3.0)
    assert x.kthvalue(40, 1).indices.tolist() == [39, 39]
    x = torch.full((2, 100), torch.nan)
    assert x.kthvalue(40, 1).indices.tolist() == [39, 39]
    assert x.median(1).indices.tolist() == [0, 0]
    assert x.nanmedian(1).values.isnan().all()


def test_the_same_later_and_by_several_threads() -> None:
    x, before = torch.randn(90, 700), threads.get_threads()
    wanted = x.kthvalue(77, 1), x.median(1)
    for count in (1, 2, 3):
        threads.set_threads(count)
        for _ in range(60):
            for found, first in zip((x.kthvalue(77, 1), x.median(1)), wanted, strict=True):
                assert torch.equal(found.values, first.values)
                assert torch.equal(found.indices, first.indices)
    threads.set_threads(before)


@pytest.mark.parametrize("name", [*DTYPES, "bool"])
@pytest.mark.parametrize("turned", [False, True])
def test_extremes_so_far_of_every_dtype(name: str, turned: bool) -> None:
    x = _numbers("int64", (9, 40), False)
    x = (x > 0) if name == "bool" else x.abs().to(getattr(torch, name))
    x = x.t() if turned else x
    wide = x.double().numpy()
    for dim in (0, 1):
        most, least = x.cummax(dim), x.cummin(dim)
        for found, accumulate in ((most, np.maximum), (least, np.minimum)):
            wanted = accumulate.accumulate(wide, dim)
            np.testing.assert_array_equal(found.values.double().numpy(), wanted)
            assert torch.equal(x.gather(dim, found.indices), found.values)
            assert found.values.dtype is x.dtype
            assert found.values.is_contiguous()
            last = wide == wanted  # of equal ones the last so far
            numbers = np.arange(x.shape[dim]).reshape((-1, 1) if dim == 0 else (1, -1))
            places = np.maximum.accumulate(np.where(last, numbers, 0), dim)
            np.testing.assert_array_equal(found.indices.numpy(), places)
