"""Equations, inverses, determinants and Cholesky's factors of many small matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family, threads
from rushlight.ops.table import direct
from rushlight.ops.table.table import TABLE

pytestmark = pytest.mark.skipif(family("small_systems") is None, reason="no native code here")
linalg = torch.linalg
CALLS: dict[str, Callable[[Any], Any]] = {
    "linalg_inv": linalg.inv,
    "linalg_det": linalg.det,
    "linalg_cholesky": lambda a: linalg.cholesky(a @ a.mT + a.shape[-1] * torch.eye(a.shape[-1])),
    "linalg_solve": lambda a: linalg.solve(a, torch.ones(*a.shape[:-1], 2)),
}


def drawn(*shape: int, dtype: str = "f8") -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("size", range(1, 10))
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
            found += [str(CALLS[name](x).flatten().tolist()) for _ in range(15)]
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
