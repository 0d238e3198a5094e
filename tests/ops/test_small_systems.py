"""Equations, inverses, determinants and Cholesky's factors of many small matrices."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family, threads
from rushlight.ops.table import direct
from rushlight.ops.table.table import TABLE

pytestmark = pytest.mark.skipif(
    family("decompositions.small_systems") is None, reason="no native code here"
)
linalg = torch.linalg
CALLS: dict[str, Callable[[Any], Any]] = {
    "linalg_inv": linalg.inv,
    "linalg_det": linalg.det,
    "linalg_cholesky": lambda a: linalg.cholesky(a @ a.mT + a.shape[-1] * torch.eye(a.shape[-1])),
    "linalg_solve": lambda a: linalg.solve(a, torch.ones(*a.shape[:-1], 2)),
    "linalg_solve_triangular": lambda a: linalg.solve_triangular(a, a, upper=True),
    "cholesky_solve": lambda a: torch.cholesky_solve(torch.ones(*a.shape[:-1], 2), a),
    "linalg_slogdet": lambda a: torch.stack(linalg.slogdet(a), -1),
    "linalg_lu_factor": lambda a: linalg.lu_factor(a)[0],
}


def drawn(*shape: int, dtype: str = "f8") -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("size", [*range(1, 10), 15, 16, 17])
@pytest.mark.parametrize("batch", [(), (1,), (3, 5), (33,)])
def test_every_size_of_float64(size: int, batch: tuple[int, ...]) -> None:
    a, b = drawn(*batch, size, size), drawn(*batch, size, 3)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    near = {"rtol": 1e-8, "atol": 1e-9}
    np.testing.assert_allclose(linalg.inv(x).numpy(), np.linalg.inv(a), **near)
    np.testing.assert_allclose(linalg.det(x).numpy(), np.linalg.det(a), **near)
    np.testing.assert_allclose(linalg.solve(x, y).numpy(), np.linalg.solve(a, b), **near)
    np.testing.assert_allclose((linalg.solve(x, y.mT, left=False) @ x).numpy(), y.mT, **near)
    one = linalg.solve(x, y.reshape(-1, size, 3)[0])  # one right side for all
    np.testing.assert_allclose((x @ one).numpy() - y.reshape(-1, size, 3)[0].numpy(), 0, **near)
    good = a @ a.swapaxes(-1, -2) + size * np.eye(size)
    for upper in (False, True):
        made = linalg.cholesky(torch.from_numpy(good), upper=upper)
        whole = (made.mT @ made if upper else made @ made.mT).numpy()
        np.testing.assert_allclose(whole, good, **near)
        assert not made.tril(-1).any() if upper else not made.triu(1).any()


@pytest.mark.parametrize("size", [1, 7, 16, 17, 40])
@pytest.mark.parametrize("batch", [(), (2, 3), (18,)])
def test_triangles_of_many_rows(size: int, batch: tuple[int, ...]) -> None:
    a = torch.from_numpy(drawn(*batch, size, size) / 4 + 2 * np.eye(size))
    b = torch.from_numpy(drawn(*batch, size, 3))
    for upper, unit in product((False, True), repeat=2):
        half = (a.triu if upper else a.tril)()
        if unit:
            half = half - torch.diag_embed(half.diagonal(0, -2, -1) - 1)
        x = linalg.solve_triangular(a, b, upper=upper, unitriangular=unit)
        np.testing.assert_allclose((half @ x).numpy(), b.numpy(), rtol=1e-8, atol=1e-9)
        other = linalg.solve_triangular(a.mT, b.mT, upper=not upper, left=False, unitriangular=unit)
        assert torch.equal(other.mT, x)
        first, own = a.reshape(-1, size, size)[0], x.reshape(-1, size, 3)[0]
        alone = linalg.solve_triangular(
            first, b.reshape(-1, size, 3)[0], upper=upper, unitriangular=unit
        )
        if size > 8:  # LAPACK's, where it is there
            torch.testing.assert_close(alone, own)
        else:
            assert torch.equal(alone, own)  # alone or among others


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [8, 9, 20, 63, 64, 65])
@pytest.mark.parametrize("columns", [1, 15, 16, 33])
def test_one_triangle_of_every_width(size: int, columns: int, dtype: str) -> None:
    """Which way is taken depends on rows and columns."""
    a = torch.from_numpy((drawn(size, size) / size + np.eye(size)).astype(dtype)).triu()
    b = torch.from_numpy(drawn(size, columns, dtype=dtype))
    x = linalg.solve_triangular(a, b, upper=True)
    near = {"rtol": 1e-4, "atol": 1e-4} if dtype == "f4" else {"rtol": 1e-11, "atol": 1e-11}
    torch.testing.assert_close(a @ x, b, **near)
    torch.testing.assert_close(
        linalg.solve_triangular(a.mT, b, upper=False), (a.mT).inverse() @ b, **near
    )
    assert x.mT.is_contiguous()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [1, 5, 16])
def test_factors_and_logarithms(size: int, dtype: str) -> None:
    a = drawn(3, 7, size, size, dtype=dtype)
    factors, pivots = linalg.lu_factor(torch.from_numpy(a))
    lower = np.tril(factors.numpy(), -1) + np.eye(size)
    assert np.abs(lower).max() <= 1
    made = lower @ np.triu(factors.numpy())
    for matrix, result, rows in zip(
        a.reshape(-1, size, size),
        made.reshape(-1, size, size),
        pivots.reshape(-1, size).tolist(),
        strict=True,
    ):
        given = matrix.copy()
        for k, row in enumerate(rows):
            given[[k, row - 1]] = given[[row - 1, k]]
        np.testing.assert_allclose(result, given, rtol=0, atol=1e-5)
    signs, sizes = np.linalg.slogdet(a.astype("f8"))
    found = linalg.slogdet(torch.from_numpy(a))
    np.testing.assert_array_equal(found[0].numpy(), signs)
    np.testing.assert_allclose(found[1].numpy(), sizes, rtol=0, atol=1e-4)


def test_float32_and_matrices_that_lie_otherwise() -> None:
    a = drawn(40, 6, 6, dtype="f4") + 3 * np.eye(6, dtype="f4")
    x = torch.from_numpy(a)
    np.testing.assert_allclose((linalg.inv(x) @ x).numpy(), np.eye(6)[None].repeat(40, 0), 0, 1e-3)
    assert torch.equal(linalg.inv(x.mT.contiguous().mT), linalg.inv(x))
    assert linalg.inv(x).stride() == (36, 1, 6)
    assert linalg.cholesky(x @ x.mT).stride() == (36, 1, 6)


@pytest.mark.parametrize("name", CALLS)
def test_bits_depend_on_no_threads_and_calls_become_known(name: str) -> None:
    entry = TABLE.operator(f"aten::{name}")
    assert entry is not None
    x = torch.from_numpy(drawn(700, 5, 5, dtype="f4"))
    before, found = threads.get_threads(), []
    try:
        for count in (1, 2, 3):
            threads.set_threads(count)
            found += [str(CALLS[name](x).flatten().tolist()) for _ in range(25)]
    finally:
        threads.set_threads(before)
    assert len(set(found)) == 1
    alone = [CALLS[name](x[i : i + 1]) for i in range(3)]
    assert torch.equal(torch.cat(alone), CALLS[name](x)[:3])
    assert not direct.knows_calls() or direct._NATIVE[entry].count


def test_singular_ones_among_others_are_told_also_when_calls_are_known() -> None:
    good = torch.eye(4).repeat(20, 1, 1)
    bad = good.clone()
    bad[7, 2] = 0
    for _ in range(40):
        linalg.inv(good)
        linalg.solve(good, good)
        linalg.cholesky(good)
    with pytest.raises(linalg.LinAlgError, match=r"Batch element 7\): The diagonal element 3"):
        linalg.inv(bad)
    with pytest.raises(linalg.LinAlgError, match=r"Batch element 7\): The solver failed"):
        linalg.solve(bad, good)
    with pytest.raises(linalg.LinAlgError, match="leading minor of order 3"):
        linalg.cholesky(bad)
    made = linalg.det(bad)
    assert made[7] == 0
    assert (made.sum(), made[0]) == (19, 1)
    strange = good.clone()
    strange[3, 0, 0] = float("nan")
    assert linalg.det(strange)[3].isnan()
    assert linalg.det(strange)[4] == 1


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_first_matrix_without_factors_is_named(size: int, dtype: torch.dtype) -> None:
    whole = torch.eye(size, dtype=dtype).repeat(6, 1, 1)
    assert torch.equal(torch.linalg.cholesky(whole), whole)
    whole[3, -1, -1] = -1
    with pytest.raises(RuntimeError, match=rf"Batch element 3.*order {size} is not positive"):
        torch.linalg.cholesky(whole)
    assert torch.linalg.cholesky_ex(whole).info.tolist() == [0, 0, 0, size, 0, 0]
