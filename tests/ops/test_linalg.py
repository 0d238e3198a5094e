"""Linear algebra, Fourier transforms and windows: expressions and what torch shows for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import nan
from typing import Any

import numpy as np
import pytest
from recorded import load

import rushlight
from rushlight.ops.linear_algebra import ldl

DATA = load("linalg.json")
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?|-?\binf\b|\bnan\b")


def shown(expression: str) -> str:
    names: dict[str, Any] = {"torch": rushlight, "nan": nan}
    exec("\n".join(DATA["setup"]), names)
    try:
        return repr(eval(expression, names))
    except Exception as error:
        kinds = (kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return f"!{next(kinds).__name__}: {error}"


def parts(text: str) -> tuple[list[str], list[float]]:
    """The words and the numbers of what is shown: the last digit of a number may differ."""
    words = re.sub(r"\s+", "", NUMBER.sub("#", text))
    return words.split(","), [float(number) for number in NUMBER.findall(text)]


@pytest.mark.parametrize(("expression", "wanted"), DATA["rows"], ids=lambda text: text[:60])
def test_shown_as_in_torch(expression: str, wanted: str) -> None:
    got = shown(expression)
    if wanted.startswith("!"):
        assert got.splitlines()[0] == wanted.splitlines()[0]
        return
    words, numbers = parts(got)
    wanted_words, wanted_numbers = parts(wanted)
    assert words == wanted_words
    assert np.allclose(numbers, wanted_numbers, rtol=1e-3, atol=2e-4, equal_nan=True)


# --------------------------------------------------------------------------- larger matrices


@pytest.fixture
def matrices() -> Any:
    rushlight.manual_seed(0)
    return rushlight.randn(2, 3, 7, 7, dtype=rushlight.float64)


def close(a: Any, b: Any) -> bool:
    return np.allclose(a.numpy(), b.numpy())


def test_factors_multiply_to_the_matrix(matrices: Any) -> None:
    linalg = rushlight.linalg
    p, lower, upper = linalg.lu(matrices)
    assert close(p @ lower @ upper, matrices)
    q, r = linalg.qr(matrices)
    assert close(q @ r, matrices)
    u, s, v = linalg.svd(matrices)
    assert close((u * s[..., None, :]) @ v, matrices)
    positive = matrices @ matrices.mT + rushlight.eye(7, dtype=rushlight.float64)
    factor = linalg.cholesky(positive)
    assert close(factor @ factor.mT, positive)


@pytest.mark.parametrize("pivots", [[0, 1], [1, 3], [1, -2], [-3, -3]])
def test_pivots_of_no_factorisation_are_refused(pivots: list[int]) -> None:
    factors, right = rushlight.eye(2), rushlight.ones(2, 1)
    with pytest.raises(rushlight.linalg.LinAlgError, match=r"pivots\[[01]\] is -?\d"):
        rushlight.linalg.ldl_solve(factors, rushlight.tensor(pivots), right)


@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl_solves(matrices: Any, hermitian: bool) -> None:
    wide = rushlight.complex(matrices, matrices.flip(-1))
    symmetric = wide + (wide.mT.conj() if hermitian else wide.mT)
    right = wide[..., :2]
    factors = rushlight.linalg.ldl_factor(symmetric, hermitian=hermitian)
    found = rushlight.linalg.ldl_solve(*factors, right, hermitian=hermitian)
    assert close(symmetric @ found, right)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (2,), (3, 9), (2, 2, 17), (70,)])
def test_real_ldl_factors(shape: tuple[int, ...], dtype: str, monkeypatch: Any) -> None:
    """LAPACK's factors are those of the steps in Python, which other matrices are factored by."""
    rushlight.manual_seed(1)
    a = rushlight.randn(*shape, shape[-1], dtype=getattr(rushlight, dtype))
    right, a = a[..., :1], a + a.mT
    found = [rushlight.linalg.ldl_factor(a) for _ in range(40)]  # known beforehand in the end
    solved = rushlight.linalg.ldl_solve(*found[0], right)
    monkeypatch.setattr(ldl, "ldl_factors", lambda *_: None)
    monkeypatch.setattr(ldl, "solved_by_ldl", lambda *_: None)
    factors, pivots = ldl.linalg_ldl_factor(a.numpy(), False)
    tolerance = 2e-3 if dtype == "float32" else 1e-9
    for each in (found[0], found[-1]):
        assert np.array_equal(each[1].numpy(), pivots)
        assert each[1].dtype is rushlight.int32
        assert each[0].mT.is_contiguous()
        np.testing.assert_allclose(each[0].numpy(), factors, tolerance, tolerance)
    wanted = ldl.linalg_ldl_solve(factors, pivots, right.numpy(), False)
    np.testing.assert_allclose(solved.numpy(), wanted, 10 * tolerance, tolerance)


def test_ldl_factors_of_singular_matrices() -> None:
    a = rushlight.stack([rushlight.eye(3), rushlight.zeros(3, 3)])
    factors, pivots, info = rushlight.linalg.ldl_factor_ex(a)
    assert info.tolist() == [0, 1]
    assert pivots.tolist() == [[1, 2, 3]] * 2
    assert rushlight.equal(factors, a)
    with pytest.raises(
        rushlight.linalg.LinAlgError, match=r"\(Batch element 1\): D\[1,1\] is zero"
    ):
        rushlight.linalg.ldl_factor(a)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (3, 5), (4, 9, 7), (40, 30)])
def test_least_squares_again_and_again(shape: tuple[int, ...], dtype: str) -> None:
    """Calls that are known beforehand give what the first one does, of other elements too."""
    rushlight.manual_seed(2)
    kind = getattr(rushlight, dtype)
    cases = [rushlight.randn(*shape, dtype=kind) for _ in range(2)]
    cases.append(cases[0] * 0)
    right = rushlight.randn(*shape[:-1], 2, dtype=kind)
    first = [rushlight.linalg.lstsq(a, right) for a in cases]
    for _ in range(40):
        for a, wanted in zip(cases, first, strict=True):
            found = rushlight.linalg.lstsq(a, right)
            assert all(map(rushlight.equal, found, wanted))
    np.testing.assert_allclose(
        first[0].solution.numpy(), (rushlight.linalg.pinv(cases[0]) @ right).numpy(), 1e-2, 1e-4
    )
    assert not first[2].rank.any()
    assert not first[2].solution.any()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_lu_solves(matrices: Any, left: bool, adjoint: bool) -> None:
    factors = rushlight.linalg.lu_factor(matrices)
    found = rushlight.linalg.lu_solve(*factors, matrices.flip(0), left=left, adjoint=adjoint)
    matrix = matrices.mT if adjoint else matrices
    assert close(matrix @ found if left else found @ matrix, matrices.flip(0))


def test_errors_can_be_caught_by_name() -> None:
    with pytest.raises(rushlight.linalg.LinAlgError, match="singular"):
        rushlight.linalg.inv(rushlight.zeros(2, 2))


def test_scripted_names_are_the_operators() -> None:
    def reduced(x: rushlight.Tensor) -> Any:
        q, r = rushlight.linalg.qr(x)
        return rushlight.linalg.norm(q @ r - x) + rushlight.fft.fft(x).abs().sum()

    text = str(rushlight.jit.script(reduced).graph)
    for name in ("aten::linalg_qr", "aten::linalg_norm", "aten::fft_fft"):
        assert name in text


@pytest.mark.parametrize("rows", [1, 2, 5, 64, 65])
def test_few_rows_times_a_large_turned_matrix(rows: int) -> None:
    generator = np.random.default_rng(rows)
    x = generator.standard_normal((rows, 300)).astype(np.float32)
    weight = generator.standard_normal((257, 300)).astype(np.float32)
    wanted = x.astype(np.float64) @ weight.T.astype(np.float64)
    given, turned = rushlight.from_numpy(x), rushlight.from_numpy(weight).t()
    for result in (
        rushlight.nn.functional.linear(given, rushlight.from_numpy(weight)),
        rushlight.mm(given, turned),
        given @ turned,
        rushlight.addmm(rushlight.zeros(257), given, turned),
    ):
        assert result.is_contiguous()
        np.testing.assert_allclose(result.numpy(), wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: rushlight.ones(2, 2).addmv(rushlight.ones(2, 2), rushlight.ones(2)),
            "expected, got 2, 2, 1$",
        ),
        (
            lambda: rushlight.ones(3).addmv(rushlight.ones(2, 3), rushlight.ones(2)),
            r"\(3\), mat \(2x3\), vec",
        ),
        (
            lambda: rushlight.tensor(1.0).mv(rushlight.ones(2)),
            "Dimension specified as 0 but tensor has no",
        ),
        (
            lambda: rushlight.ones(2).baddbmm(rushlight.ones(2, 2), rushlight.ones(2, 2)),
            "but got 2",
        ),
        (lambda: rushlight.ones(2).addbmm(rushlight.ones(2), rushlight.ones(2)), "but got 1"),
        (
            lambda: rushlight.tensor(1.0).unflatten(0, [1]),
            "Dimension specified as 0 but tensor has no",
        ),
    ],
)
def test_ranks_that_products_do_not_take(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(RuntimeError, match=told):
        call()


@pytest.mark.parametrize(
    ("matrix", "real", "of_complex", "sign"),
    [
        ([[1.0, 2.0], [2.0, 4.0]], "-0.0", "(-0+0j)", "-0.0"),
        ([[0.0, 1.0], [0.0, 2.0]], "-0.0", "0j", "-0.0"),
        ([[1.0, 1.0], [1.0, 1.0]], "0.0", "0j", "0.0"),
        ([[-2.0, 0.0], [0.0, 0.0]], "-0.0", "(-0+0j)", "-0.0"),
        ([[-0.0]], "-0.0", "(-0+0j)", "0.0"),
    ],
)
def test_determinants_of_singular_matrices_are_torchs_zeros(
    matrix: list[list[float]], real: str, of_complex: str, sign: str
) -> None:
    x = rushlight.tensor(matrix, dtype=rushlight.float64)
    z = x.to(rushlight.complex128)
    assert [str(rushlight.det(each).item()) for each in (x, z)] == [real, of_complex]
    assert str(rushlight.slogdet(x)[0].item()) == sign
    logarithm = rushlight.logdet(z).item()
    assert logarithm.real == -float("inf")
    assert np.isnan(logarithm.imag)


@pytest.mark.parametrize(("name", "code"), [("eigh", 3), ("eigvalsh", 2)])
def test_eigenvalues_that_are_not_found(name: str, code: int) -> None:
    matrices = rushlight.eye(4).repeat(2, 1, 1)
    matrices[1] = nan
    told = rf"linalg\.eigh: \(Batch element 1\): .* \(error code: {code}\)\."
    with pytest.raises(rushlight.linalg.LinAlgError, match=told):
        getattr(rushlight.linalg, name)(matrices)


def test_singular_values_of_what_is_not_finite() -> None:
    matrices = rushlight.eye(3).repeat(2, 2, 1, 1)
    matrices[1, 0, 2] = float("nan")
    words = "linalg.svd: {}The algorithm failed to converge because the input matrix contained"
    for matrix, place in ((matrices, r"\(Batch element 2\): "), (matrices[1, 0], "")):
        for function in (rushlight.linalg.svd, rushlight.linalg.svdvals, rushlight.linalg.pinv):
            with pytest.raises(rushlight.linalg.LinAlgError, match=words.format(place)):
                function(matrix)


def test_least_squares_by_triangular_factors_want_full_rank() -> None:
    lstsq, flat = rushlight.linalg.lstsq, rushlight.tensor([[1.0, 0.0], [2.0, 0.0]])
    words = r"lstsq: {}The least squares solution .* have full rank \(error code: 2\)"
    for matrix in (flat, flat.mT):
        with pytest.raises(rushlight.linalg.LinAlgError, match=words.format("")):
            lstsq(matrix, rushlight.ones(2, 1), driver="gels")
        with pytest.raises(rushlight.linalg.LinAlgError, match=words.format("")):
            lstsq(matrix[None], rushlight.ones(1, 2, 1), driver="gels")
        assert lstsq(matrix, rushlight.ones(2, 1)).rank == 1
    several = rushlight.stack([rushlight.eye(2), flat])
    with pytest.raises(rushlight.linalg.LinAlgError, match=words.format(r"\(Batch element 1\): ")):
        lstsq(several, rushlight.ones(2, 2, 1), driver="gels")
    nothing = lstsq(rushlight.zeros(2, 3), rushlight.ones(2, 1), driver="gels").solution
    assert nothing.tolist() == [[0.0]] * 3


@pytest.mark.parametrize("dtype", [rushlight.float32, rushlight.float64, rushlight.complex64])
@pytest.mark.parametrize("sizes", [(1, 1), (12, 3), (64, 1), (130, 5), (3, 0)])
def test_triangular_systems_read_one_side_alone(
    sizes: tuple[int, int], dtype: rushlight.dtype
) -> None:
    size, columns = sizes
    rushlight.manual_seed(0)
    matrix = rushlight.randn(2, size, size, dtype=dtype) / size + 2 * rushlight.eye(
        size, dtype=dtype
    )
    sides = rushlight.randn(2, size, columns, dtype=dtype)
    for upper in (False, True):
        for unit in (False, True):
            wanted = matrix.triu() if upper else matrix.tril()
            if unit:
                wanted = wanted - rushlight.diag_embed(wanted.diagonal(0, 1, 2) - 1)
            given = rushlight.where(wanted != 0, matrix, rushlight.nan)
            if unit:
                given.diagonal(0, 1, 2).fill_(rushlight.nan)
            found = rushlight.linalg.solve_triangular(given, sides, upper=upper, unitriangular=unit)
            assert rushlight.allclose(wanted @ found, sides, atol=1e-4)
            turned = rushlight.linalg.solve_triangular(
                given, sides.mT, upper=upper, left=False, unitriangular=unit
            )
            assert rushlight.allclose(turned @ wanted, sides.mT, atol=1e-4)


def test_norms_of_complex_halves_are_halves() -> None:
    x = rushlight.tensor([3 + 4j, 0], dtype=rushlight.complex32)
    for norm in (
        rushlight.linalg.vector_norm(x),
        rushlight.norm(x, 1),
        rushlight.linalg.norm(x[None]),
    ):
        assert (norm.item(), norm.dtype) == (5, rushlight.float16)


def test_what_linear_algebra_refuses() -> None:
    m, a, b = rushlight.ones(3, 2), rushlight.ones(3), rushlight.ones(2)
    for call, said in (
        (
            lambda: rushlight.addr(m, a, b, beta=True),
            "Boolean beta only supported for Boolean results",
        ),
        (
            lambda: rushlight.linalg.pinv(a),
            "linalg.pinv(Float{[3]}): expected a tensor with 2 or more",
        ),
        (
            lambda: rushlight.linalg.matrix_rank(a),
            "torch.linalg.matrix_rank: The input tensor input",
        ),
        (
            lambda: rushlight.linalg.matrix_rank(m, out=rushlight.tensor(True)),
            "torch.linalg.matrix_rank: Expected result to be safely castable from Long dtype",
        ),
        (
            lambda: rushlight.linalg.norm(a, "fro"),
            "linalg.matrix_norm: The input tensor A must have",
        ),
        (lambda: rushlight.linalg.norm(m, "nuc", dim=0), "dim must be a 2-tuple. Got 0"),
    ):
        with pytest.raises(RuntimeError, match=re.escape(said)):
            call()


def test_least_squares_cut_no_more_than_rounding_where_the_share_is_all() -> None:
    found = rushlight.linalg.lstsq(
        rushlight.tensor([[2.0]]), rushlight.tensor([[1.0]]), rcond=1.0, driver="gelsd"
    )
    assert (found.solution.item(), found.rank.item()) == (0.5, 1)


@pytest.mark.parametrize(
    ("sizes", "shape"), [((0,), ()), ((1, 0), ()), ((0, 1), (0, 0)), ((2, 1), (2, 2)), ((1,), ())]
)
def test_too_few_observations_are_told(sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    with pytest.warns(UserWarning, match=r"^cov\(\): degrees of freedom is <= 0"):
        found = rushlight.cov(rushlight.ones(sizes))
    assert tuple(found.shape) == shape
    assert found.isnan().all()


def test_an_outer_product_is_added_in_the_common_dtype() -> None:
    whole = rushlight.tensor([60000, 50000], dtype=rushlight.int32)
    for dtype in (rushlight.float16, rushlight.bfloat16, rushlight.float32, rushlight.complex64):
        matrix = rushlight.ones(2, 2, dtype=dtype)
        assert rushlight.addr(matrix, whole // 10000, whole // 10000).dtype is dtype
        assert rushlight.addr(matrix, whole > 0, whole // 10000).dtype is dtype
    found = rushlight.addr(rushlight.zeros(2, 2), whole, whole)
    assert found.tolist() == [[3.6e9, 3e9], [3e9, 2.5e9]]


@pytest.mark.parametrize("driver", [None, "gelsy", "gelss", "gelsd"])
def test_least_squares_take_a_negative_bound_as_that_of_the_machine(driver: str | None) -> None:
    matrix = rushlight.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], dtype=rushlight.float64)
    right = rushlight.tensor([[1.0], [2.0], [4.0]], dtype=rushlight.float64)
    wanted = rushlight.linalg.lstsq(matrix, right, driver=driver)
    for bound in (-1, -0.5):
        found = rushlight.linalg.lstsq(matrix, right, rcond=bound, driver=driver)
        assert found.rank == 2
        assert rushlight.allclose(found.solution, wanted.solution)


@pytest.mark.parametrize("dtype", [rushlight.complex64, rushlight.complex128])
@pytest.mark.parametrize("sizes", [(70, 70), (2, 70, 40), (40, 75), (33, 32), (3, 31, 31)])
def test_complex_factors_of_more_than_some_columns(dtype: Any, sizes: tuple[int, ...]) -> None:
    drawn = rushlight.Generator().manual_seed(4)
    matrices = rushlight.randn(sizes, dtype=dtype, generator=drawn)
    p, lower, upper = rushlight.linalg.lu(matrices)
    near = 1e-4 if dtype is rushlight.complex64 else 1e-12
    assert rushlight.allclose(p @ lower @ upper, matrices, rtol=0, atol=near)
    assert lower.abs().max() < 2**0.5 + 1e-3  # pivots are the largest by their parts
    assert rushlight.equal(upper, upper.triu())


@pytest.mark.parametrize("dtype", [rushlight.float64, rushlight.complex64])
@pytest.mark.parametrize("place", [3, 31, 32, 60])
def test_where_factors_have_a_zero_first(dtype: Any, place: int) -> None:
    singular = rushlight.eye(70, dtype=dtype)
    singular[place, place] = singular[65, 65] = 0
    both = rushlight.stack([rushlight.eye(70, dtype=dtype), singular])
    assert rushlight.linalg.lu_factor_ex(both).info.tolist() == [0, place + 1]
    with pytest.raises(
        rushlight.linalg.LinAlgError, match=f"The diagonal element {place + 1} is zero"
    ):
        rushlight.linalg.inv(both)
