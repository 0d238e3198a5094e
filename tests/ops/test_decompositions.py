"""Decompositions of real matrices by LAPACK's own functions."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import blas, lapack
from rushlight.ops.linear_algebra import decompositions
from rushlight.ops.table import direct
from rushlight.ops.table.table import TABLE

linalg = torch.linalg
is_there = lapack.can(np.ones((2, 2)))
ours = pytest.mark.skipif(not is_there, reason="LAPACK is not reached by addresses here")
SHAPES = [(1, 1), (3, 3), (17, 17), (40, 40), (70, 70), (9, 4), (4, 9), (100, 20), (20, 100)]

KINDS = {"f4": torch.float32, "f8": torch.float64}


def drawn(*shape: int, dtype: str) -> Any:
    return torch.from_numpy(np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype))


def near(one: Any, other: Any) -> None:
    tolerance = 1e-4 if one.dtype == torch.float32 else 1e-10
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=tolerance, atol=tolerance * 10)


def eye(rows: int, columns: int, like: Any) -> Any:
    return torch.eye(rows, columns, dtype=like.dtype).expand(*like.shape[:-2], rows, columns)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 1)])
@pytest.mark.parametrize("shape", SHAPES)
def test_parts_make_the_whole(shape: tuple[int, int], batch: tuple[int, ...], dtype: str) -> None:
    a = drawn(*batch, *shape, dtype=dtype)
    for each in (a, a.mT.clone().mT, a, a, a):  # however it lies, and when calls are known
        rows, columns = shape
        for mode, high in (("reduced", min(shape)), ("complete", rows)):
            q, r = linalg.qr(each, mode=mode)
            near(q @ r, a)
            near(q.mT @ q, eye(high, high, q))
            assert not r.tril(-1).any()
            assert q.stride()[-2:] == (1, rows)
            assert mode == "complete" or torch.equal(r, linalg.qr(each, mode="r")[1])
        p, lower, upper = linalg.lu(each)
        near(p @ lower @ upper, a)
        assert not upper.tril(-1).any()
        assert not lower.triu(1).any()
        assert (lower.diagonal(0, -2, -1) == 1).all()
        for full in (True, False):
            u, s, vh = linalg.svd(each, full_matrices=full)
            near((u[..., : min(shape)] * s.unsqueeze(-2)) @ vh[..., : min(shape), :], a)
            near(u.mT @ u, eye(u.shape[-1], u.shape[-1], u))
            near(vh @ vh.mT, eye(vh.shape[-2], vh.shape[-2], vh))
            near(s, linalg.svdvals(each))
        vectors, tau = torch.geqrf(each)
        if rows >= columns:
            q = linalg.householder_product(vectors, tau)
            near(q, linalg.qr(a)[0])
            b = drawn(*batch, rows, 3, dtype=dtype)
            for left, turned in ((True, False), (True, True), (False, True)):
                whole = linalg.qr(a, mode="complete")[0]
                whole = whole.mT if turned else whole
                c = b if left else b.mT
                seen = torch.ormqr(vectors, tau, c, left=left, transpose=turned)
                near(seen, whole @ c if left else c @ whole)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 1)])
@pytest.mark.parametrize("size", [1, 3, 17, 40, 70])
def test_square_matrices(size: int, batch: tuple[int, ...], dtype: str) -> None:
    a, b = drawn(*batch, size, size, dtype=dtype), drawn(*batch, size, 2, dtype=dtype)
    good = a @ a.mT / size + torch.eye(size, dtype=a.dtype)
    whole = torch.eye(size, dtype=a.dtype)
    for upper in (False, True):
        root = linalg.cholesky(good, upper=upper)
        near(root.mT @ root if upper else root @ root.mT, good)
        near(good @ torch.cholesky_inverse(root, upper=upper), whole.expand_as(a))
        near(good @ torch.cholesky_solve(b, root, upper=upper), b)
        half = good.triu() if upper else good.tril()
        values, vectors = linalg.eigh(half, "U" if upper else "L")
        near(good @ vectors, vectors * values.unsqueeze(-2))
        near(values, linalg.eigvalsh(half, "U" if upper else "L"))
    regular = a / 4 + 3 * whole
    near(regular @ linalg.inv(regular), whole.expand_as(a))
    factors, pivots = linalg.lu_factor(regular)
    near(regular @ linalg.lu_solve(factors, pivots, b), b)
    near(regular.mT @ linalg.lu_solve(factors, pivots, b, adjoint=True), b)
    near(linalg.solve(regular, b.mT, left=False) @ regular, b.mT)
    values, vectors = linalg.eig(a)
    wide = torch.complex(a, torch.zeros_like(a))
    found = (wide @ vectors - vectors * values.unsqueeze(-2)).abs()
    assert found.max() < (1e-4 if dtype == "f4" else 1e-11) * size
    assert (vectors.abs().square().sum(-2) - 1).abs().max() < 1e-4
    ordered = [np.sort_complex(each.numpy()) for each in (values, linalg.eigvals(a))]
    np.testing.assert_allclose(*ordered, rtol=1e-3, atol=1e-3)


BAD = {
    "singular": lambda a: a * 0,
    "infinite": lambda a: a / 0,
    "none": lambda a: a * float("nan"),
}
CALLS: dict[str, Callable[[Any], Any]] = {
    "linalg_cholesky": lambda a: linalg.cholesky(a @ a.mT + torch.eye(a.shape[-1]) * a.sum() * 0),
    "linalg_cholesky_ex": lambda a: linalg.cholesky_ex(a @ a.mT).info,
    "cholesky_inverse": torch.cholesky_inverse,
    "linalg_lu_factor": linalg.lu_factor,
    "linalg_lu_factor_ex": lambda a: linalg.lu_factor_ex(a).info,
    "linalg_inv": linalg.inv,
    "linalg_inv_ex": lambda a: linalg.inv_ex(a).info,
    "linalg_eig": linalg.eig,
    "linalg_eigvals": linalg.eigvals,
    "linalg_svd": linalg.svd,
}


def said(call: Callable[[Any], Any], a: Any) -> str:
    try:
        return repr(call(a))
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("sort", BAD)
@pytest.mark.parametrize("name", CALLS)
def test_what_goes_wrong_is_said_by_learned_calls_too(name: str, sort: str) -> None:
    call, good = CALLS[name], drawn(20, 20, dtype="f4") + 5 * torch.eye(20)
    bad = BAD[sort](good)
    first = said(call, bad)
    for _ in range(4):
        call(good)
    assert said(call, bad) == first


@ours
@pytest.mark.parametrize("name", ["linalg_qr", "linalg_eigh", "linalg_svd", "linalg_eig", "geqrf"])
def test_small_calls_are_learned(name: str) -> None:
    a = drawn(19, 19, dtype="f4")  # a size of no other test
    entry = TABLE.operator(f"aten::{name}")
    assert entry is not None
    call = getattr(linalg, name.removeprefix("linalg_"), None) or torch.geqrf
    found = [str(call(a)) for _ in range(90)]
    assert len(set(found)) == 1
    assert not direct.knows_calls() or direct._NATIVE[entry].count


def test_pivots_that_are_no_rows_are_refused_by_learned_calls() -> None:
    a, b = drawn(6, 6, dtype="f4"), drawn(6, 2, dtype="f4")
    factors, pivots = linalg.lu_factor(a)
    for _ in range(4):
        linalg.lu_solve(factors, pivots, b)
        torch.lu_unpack(factors, pivots)
    for bad, word in ((pivots * 0, "greater or equal"), (pivots + 99, "smaller or equal")):
        with pytest.raises(RuntimeError, match=word):
            linalg.lu_solve(factors, bad, b)
        with pytest.raises(RuntimeError, match="must be between 1 and"):
            torch.lu_unpack(factors, bad)


MANY = """
import hashlib
import rushlight as torch
torch.manual_seed(0)
a = torch.randn(260, 260)
h = a + a.mT
good = a @ a.mT / 260 + torch.eye(260)
made = [torch.linalg.cholesky(good), *torch.linalg.qr(a), *torch.linalg.lu_factor(a)]
made += [*torch.linalg.eigh(h), *torch.linalg.svd(a), torch.linalg.inv(a), *torch.linalg.eig(a)]
print(hashlib.sha256(b"".join(each.numpy().tobytes() for each in made)).hexdigest())
"""


@ours
def test_bits_are_the_same_on_more_threads() -> None:
    found = set()
    for count in ("1", "2", "3"):
        more = {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count}
        command = [sys.executable, "-c", MANY]
        run = subprocess.run(command, env=os.environ | more, capture_output=True, check=True)
        found.add(run.stdout)
    assert len(found) == 1


@ours
def test_the_threads_of_openblas_are_put_back() -> None:
    library = blas._library()
    before = library.scipy_openblas_get_num_threads64_()
    seen = list[int]()
    blas.on_one_thread(lambda: seen.append(library.scipy_openblas_get_num_threads64_()))
    with pytest.raises(ZeroDivisionError):
        blas.on_one_thread(lambda: 1 / 0)
    assert seen == [1]
    assert library.scipy_openblas_get_num_threads64_() == before


FORKED = """
import os, threading
import rushlight as torch
a = torch.randn(200, 200)
stop = False
def work():
    while not stop:
        torch.linalg.eigh(a)
        torch.linalg.qr(a[:20, :20])
threads = [threading.Thread(target=work) for _ in range(2)]
for each in threads:
    each.start()
for _ in range(10):
    child = os.fork()
    if not child:
        torch.linalg.eigh(a)
        torch.linalg.svd(a[:50, :50])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for each in threads:
    each.join()
print("well")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_forks_amid_decompositions() -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    run = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert run.stdout == "well\n"


def test_threads_that_decompose_at_once() -> None:
    a = drawn(90, 90, dtype="f8")
    wanted, found = linalg.eigh(a), list[Any]()

    def work() -> None:
        found.extend(linalg.eigh(a) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 15
    for values, vectors in found:
        assert torch.equal(values, wanted[0])
        assert torch.equal(vectors, wanted[1])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shape", [(3, 3), (9, 4), (4, 9), (70, 20), (20, 70)])
def test_least_squares(shape: tuple[int, int], driver: str, dtype: str) -> None:
    rows, columns = shape
    for batch in ((), (3,), (2, 1)):
        a, b = drawn(*batch, *shape, dtype=dtype), drawn(*batch, rows, 2, dtype=dtype)
        found = linalg.lstsq(a, b, driver=driver)
        near(found.solution, linalg.pinv(a) @ b)
        assert found.solution.shape == (*batch, columns, 2)
        if driver != "gels":
            assert found.rank.shape == batch
            assert (found.rank == min(shape)).all()
        if driver in ("gelsd", "gelss"):
            near(found.singular_values, linalg.svdvals(a))
        if driver != "gelsy" and rows > columns:
            near(found.residuals, (a @ found.solution - b).square().sum(-2))
        vector = linalg.lstsq(a, b[..., 0], driver=driver).solution
        near(vector, found.solution[..., 0])
    low = a[..., :1] * torch.ones(columns, dtype=a.dtype)
    if driver != "gels":
        assert (linalg.lstsq(low, b, driver=driver).rank == 1).all()
    elif rows >= columns:
        with pytest.raises(linalg.LinAlgError, match="does not have full rank"):
            linalg.lstsq(a * torch.eye(columns, dtype=a.dtype)[0], b, driver=driver)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (16, 16), (32, 9), (7, 12)])
def test_many_small_matrices_are_factored_as_single_ones(
    shape: tuple[int, int], dtype: str
) -> None:
    a = drawn(37, *shape, dtype=dtype)
    a[5, :, 0] = 0
    q, r = linalg.qr(a)
    for mode in ("reduced", "complete", "r"):
        for one, other in zip(
            linalg.qr(a, mode=mode), linalg.qr(a.to(torch.float64), mode=mode), strict=True
        ):
            near(one, other.to(one.dtype))
    alone = [np.linalg.qr(each.astype("f8")) for each in a.numpy()]
    np.testing.assert_allclose(q.numpy(), [each[0] for each in alone], atol=1e-4)
    np.testing.assert_allclose(r.numpy(), [each[1] for each in alone], atol=1e-4)
    vectors, tau = torch.geqrf(a)
    if shape[0] >= shape[1]:
        near(linalg.householder_product(vectors, tau), q)
    for odd in (1e-30, 1e30):  # whose squares leave float32
        near(linalg.qr(a * odd)[0], q)
    a[3, 0, 0] = float("nan")
    assert torch.isnan(linalg.qr(a)[1][3]).any()
    near(linalg.qr(a)[0][4:], q[4:])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [1, 9, 20, 40, 90])
def test_triangles_and_determinants(size: int, dtype: str) -> None:
    for batch in ((), (3,), (2, 4)):
        a = drawn(*batch, size, size, dtype=dtype) / 8 + torch.eye(size, dtype=KINDS[dtype])
        b = drawn(*batch, size, 3, dtype=dtype)
        for upper in (False, True):
            half = a.triu() if upper else a.tril()
            for each in (half, half.mT.clone().mT, a):
                near(half @ linalg.solve_triangular(each, b, upper=upper), b)
                x = linalg.solve_triangular(each.mT, b.mT, upper=not upper, left=False)
                near(x @ half.mT, b.mT)
        wide = a.numpy().astype("f8")
        sign, size_of = linalg.slogdet(a)
        signs, sizes = np.linalg.slogdet(wide)
        np.testing.assert_array_equal(sign.numpy(), signs)
        np.testing.assert_allclose(size_of.numpy(), sizes, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(linalg.det(a).numpy(), np.linalg.det(wide), rtol=1e-3)
        assert not linalg.det(a * 0).any()
        assert torch.isneginf(linalg.slogdet(a * 0)[1]).all()


@ours
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", range(1, 18))
def test_eigenvalues_of_many_small_matrices(size: int, dtype: str) -> None:
    a = drawn(30, size, size, dtype=dtype)
    a = (a + a.mT) / 2
    a[1], a[2] = 0, torch.eye(size)  # that are diagonal
    a[3] = torch.diag_embed(torch.arange(size, 0, -1))
    a[4] = torch.ones(size, size)  # of rank 1
    a[5, 0, 1:], a[5, 1:, 0] = 0, 0  # of parts
    values, vectors = linalg.eigh(a)
    near(a @ vectors, vectors * values.unsqueeze(-2))
    near(vectors.mT @ vectors, eye(size, size, a))
    assert (values.diff() >= 0).all()
    near(linalg.eigvalsh(a), values)
    if dtype == "f8":  # with LAPACK's signs, where none is a matter of rounding
        found = np.linalg.eigh(a[6:].numpy())[1]
        same = (found * vectors[6:].numpy()).sum(-2) > 0.9
        assert same.mean() > 0.99
    for odd in (1e-25, 1e25):
        near(linalg.eigh(a * odd)[0] / odd, values)
    assert torch.equal(linalg.eigh(a[7])[1], vectors[7])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_ranks_and_pseudo_inverses(dtype: str) -> None:
    for shape in ((4, 4), (3, 5, 2), (2, 2, 3, 6), (20, 20)):
        a = drawn(*shape, dtype=dtype)
        low = a * (torch.arange(shape[-1]) < 2)
        least = min(shape[-2:])
        for _ in range(3):
            assert (linalg.matrix_rank(a) == least).all()
            assert (linalg.matrix_rank(low) == 2).all()
            assert linalg.matrix_rank(low).shape == shape[:-2]
        for each in (a, low):
            found = linalg.pinv(each)
            near(each @ found @ each, each)
            near(found @ each @ found, found)
        if shape[-1] == shape[-2]:
            symmetric = low @ low.mT
            assert (linalg.matrix_rank(symmetric, hermitian=True, rtol=1e-4) == 2).all()
            wanted = linalg.pinv(symmetric, rtol=1e-3)
            near(linalg.pinv(symmetric, hermitian=True, rtol=1e-3), wanted)
    none = torch.full((3, 3), float("nan"))
    with pytest.raises(linalg.LinAlgError):
        linalg.matrix_rank(none)


@pytest.mark.parametrize("alpha", [1, 0.5, -3])
@pytest.mark.parametrize("beta", [1, 2.0, 0])
def test_scaled_outer_products_and_batches(alpha: float, beta: float) -> None:
    x, y, z = drawn(9, dtype="f4"), drawn(7, dtype="f4"), drawn(9, 7, dtype="f4")
    one, other, more = (drawn(5, 3, 3, dtype="f4") for _ in range(3))
    for _ in range(3):
        seen = torch.addr(z, x, y, alpha=alpha, beta=beta)
        near(seen, beta * z + alpha * x[:, None] * y)
        seen = torch.baddbmm(more, one, other, alpha=alpha, beta=beta)
        near(seen, beta * more + alpha * (one @ other))


WIDE, TALL, RIGHT = np.ones((10, 20)), np.ones((20, 10)), np.ones((20, 4))
MISFITS: list[tuple[Callable[..., object], tuple[object, ...]]] = [
    (decompositions.solved_squares, (WIDE, RIGHT)),
    (decompositions.solved_squares, (np.ones((20, 20)), np.ones((19, 4)))),
    (decompositions.solved_by_cholesky, (WIDE, RIGHT)),
    (decompositions.solved_by_factors, (WIDE, np.ones(20, np.int32), RIGHT, False)),
    (decompositions.solved_by_factors, (np.ones((20, 20)), np.ones(40, np.int32), RIGHT, False)),
    (decompositions.solved_by_ldl, (WIDE, np.ones(20, np.int32), RIGHT)),
    (decompositions.solved_triangles, (WIDE, RIGHT, True, False)),
    (decompositions.least_squares, (WIDE, RIGHT, "gelsd", 0.1)),
    (decompositions.products_of_reflections, (WIDE, np.ones(10))),
    (decompositions.products_of_reflections, (TALL, np.ones(11))),
    (decompositions.reflected, (TALL, np.ones(10), np.ones((19, 3)), True, False)),
    *((each, (WIDE,)) for each in (decompositions.lower_factor, decompositions.inverted)),
    *((each, (WIDE,)) for each in (decompositions.determinants, decompositions.ldl_factors)),
    (decompositions.inverse_of_cholesky, (WIDE,)),
    (decompositions.log_determinants, (WIDE,)),
    (decompositions.eigen, (WIDE, False, True)),
    (decompositions.eigen_general, (WIDE, True)),
]


@pytest.mark.parametrize(("function", "given"), MISFITS)
def test_what_does_not_fit_never_reaches_lapack(
    function: Callable[..., object], given: tuple[object, ...]
) -> None:
    """Another thread may change a tensor after an operator has looked at it."""
    assert function(*given) is None
