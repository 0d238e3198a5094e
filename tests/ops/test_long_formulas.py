"""Functions of float64, and of the gamma and error functions of float32, by native code: exact
values (rounded to the nearest number), ends, places, layouts, and what operators make of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels

pytestmark = pytest.mark.skipif(
    kernels.family("elementwise.arrays") is None, reason="no native code here"
)

DATA = Path(__file__).parent / "data"
Rows = dict[str, tuple[list[float], list[float]]]


def read(file: str) -> Rows:
    found: Rows = {}
    for line in (DATA / file).read_text().splitlines():
        name, x, y = line.split()
        given, wanted = found.setdefault(name, ([], []))
        given.append(float.fromhex(x))
        wanted.append(float.fromhex(y))
    return found


LONG, SHORT = read("doubles.txt"), read("singles.txt")
ENDS = [0.0, -0.0, 5e-324, -1e-310, math.inf, -math.inf, math.nan, 1.0, -1.0, 1e300, -1e300]


def apply(name: str, *operands: Any) -> Any:
    return kernels.family("elementwise.arrays").apply(name, operands)


def assert_within_two_numbers(made: Any, want: Any) -> None:
    """Two steps from the nearest number is 2.5 units from what is right."""
    finite = np.isfinite(want)
    assert np.array_equal(made[~finite], want[~finite])
    apart = np.abs(made[finite] - want[finite])
    assert np.max(apart / np.spacing(np.abs(want[finite]))) <= 2


@pytest.mark.parametrize("name", LONG)
def test_exact_values_of_float64(name: str) -> None:
    x, want = map(np.array, LONG[name])
    assert_within_two_numbers(apply(name, x), want)


@pytest.mark.parametrize("name", SHORT)
def test_exact_values_of_float32(name: str) -> None:
    x, want = (np.array(each, np.float32) for each in SHORT[name])
    assert_within_two_numbers(apply(name, x), want)


NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
NUMPY |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
OURS = {
    "erf": [0.0, -0.0, 5e-324 * 1, -1e-310, 1, -1, math.nan, 0.8427007929497148, None, 1, -1],
    "erfc": [1, 1, 1, 1, 0, 2, math.nan, None, None, 0, 2],
    "sigmoid": [0.5, 0.5, 0.5, 0.5, 1, 0, math.nan, None, None, 1, 0],
}


@pytest.mark.parametrize("name", LONG)
def test_ends_of_float64(name: str) -> None:
    x = np.array(ENDS)
    made = apply(name, x)
    if name in OURS:
        for each, want in zip(made.tolist(), OURS[name], strict=True):
            assert want is None or each == pytest.approx(want, rel=0.2, nan_ok=True)
        return
    with np.errstate(all="ignore"):
        want = getattr(np, NUMPY.get(name, name))(x)
    odd = ~np.isfinite(want) | (want == 0)
    assert np.array_equal(made[odd], want[odd], equal_nan=True)
    known = odd & ~np.isnan(want)
    assert np.array_equal(np.signbit(made[known]), np.signbit(want[known]))
    assert np.allclose(made[~odd], want[~odd], rtol=1e-15, atol=0)


def test_ends_of_gamma_functions() -> None:
    x = np.array([0.0, -0.0, -1, -7, math.inf, -math.inf, math.nan, 1, 2], np.float32)
    inf, nan = math.inf, math.nan
    assert np.array_equal(
        apply("lgamma", x), [inf, inf, inf, inf, inf, inf, nan, 0, 0], equal_nan=True
    )
    made = apply("digamma", x)
    assert np.array_equal(made[:7], [-inf, inf, nan, nan, inf, nan, nan], equal_nan=True)
    y = np.array([1, -1, 1.5, -0.0, nan, inf], np.float32)
    made = apply("erfinv", y)
    assert np.array_equal(made, [inf, -inf, nan, 0, nan, nan], equal_nan=True)
    assert np.signbit(made[3])


@pytest.mark.parametrize("name", [*LONG, "silu", "mish", "gelu", "gelu_tanh", "log_sigmoid"])
def test_place_in_the_array_changes_no_bit(name: str) -> None:
    x = np.random.default_rng(0).standard_normal(200) * 3
    x[::41] *= 1e12
    whole = apply(name, x)
    for start, stop in ((0, 1), (3, 20), (1, 34), (17, 81), (199, 200)):
        part = apply(name, np.ascontiguousarray(x[start:stop]))
        assert part.tobytes() == whole[start:stop].tobytes()
    assert apply(name, x[::3]).tobytes() == np.ascontiguousarray(whole[::3]).tobytes()
    turned = x.reshape(8, 25).T
    assert np.array_equal(apply(name, turned), whole.reshape(8, 25).T, equal_nan=True)


FUNCTIONS = "exp expm1 log1p sin cos tan tanh sigmoid erf erfc sinh cosh asinh atan".split()


@pytest.mark.parametrize("size", [0, 1, 7, 8191, 8200])
def test_eager_scripted_and_later_calls_give_the_same_bits(size: int) -> None:
    def several(x: torch.Tensor) -> torch.Tensor:
        y = torch.sin(x) * torch.sigmoid(x) + torch.tanh(x)
        z = torch.nn.functional.softplus(x, 2.0) - torch.nn.functional.elu(x, 0.5)
        return torch.nn.functional.gelu(y) + z * torch.exp(-x * x) + torch.logit(y, 0.1)

    x = torch.randn(size, dtype=torch.float64)
    scripted, want = torch.jit.script(several), several(x).numpy().tobytes()
    for _ in range(70):
        assert scripted(x).numpy().tobytes() == want
    assert several(x).numpy().tobytes() == want
    for name in FUNCTIONS:
        function = getattr(torch, name)
        first = function(x).numpy().tobytes()
        assert {function(x).numpy().tobytes() for _ in range(60)} == {first}
        assert function(x).dtype == torch.float64


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
@pytest.mark.parametrize("size", [1, 7, 64, 65, 1000, 8191])
def test_few_float32_numbers_are_computed_in_double(name: str, size: int) -> None:
    x = np.random.default_rng(size).gamma(1.0, 3.0, (size,)).astype(np.float32)
    wanted = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
    found = getattr(torch, name)(torch.from_numpy(x)).numpy()
    assert np.mean(found != wanted) <= 1e-3  # the double may lie between two numbers
    np.testing.assert_array_max_ulp(found, wanted, 1)
    strided = torch.from_numpy(np.stack([x, x], 1))[:, 1]
    assert np.array_equal(getattr(torch, name)(strided).numpy(), found)
    ends = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, -1e-45, -104.0, 89.0], np.float32)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(ends.astype(np.float64)).astype(np.float32)
    found = getattr(torch, name)(torch.from_numpy(ends)).numpy()
    assert np.array_equal(found, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(found[3:5]), np.signbit(wanted[3:5]))


def test_gamma_and_error_functions_of_float64() -> None:
    """Against libm, and the error function itself; the ends are those of float32."""
    x = np.concatenate([np.linspace(-9.97, 25, 1733), np.geomspace(1e-300, 1e300, 400)])
    wanted = np.array([math.lgamma(each) for each in x])
    np.testing.assert_allclose(apply("lgamma", x), wanted, 4e-15, 2e-14)
    steps = np.linspace(0.6, 12, 900)  # digamma(x + 1) = digamma(x) + 1 / x
    apart = apply("digamma", steps + 1) - apply("digamma", steps)
    np.testing.assert_allclose(apart, 1 / steps, 0, 4e-15)
    np.testing.assert_allclose(apply("digamma", np.array([1.0, 0.5, -0.5, 1e8])), DIGAMMA, 4e-15)
    y = np.concatenate([np.linspace(-0.999, 0.999, 1001), 1 - np.geomspace(1e-15, 1e-3, 200)])
    made = apply("erfinv", y)
    back = np.array([math.erfc(abs(each)) for each in made])
    np.testing.assert_allclose(back, 1 - np.abs(y), 2e-14)
    tiny = np.geomspace(1e-300, 1e-3, 50)
    np.testing.assert_allclose(apply("erf", apply("erfinv", tiny)), tiny, 1e-15)
    ends = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -2.5, 0.25])
    for name in ("lgamma", "digamma", "erfinv", "erf"):
        np.testing.assert_allclose(apply(name, ends), apply(name, ends.astype("f4")), 1e-6)
    assert np.array_equal(
        apply("lgamma", np.array([1e300, -1e300])), [math.lgamma(1e300), math.inf]
    )


DIGAMMA = [-0.5772156649015329, -1.9635100260214235, 0.03648997397857652, 18.420680738952367]
"""Minus Euler's constant, that less twice the logarithm of 2, and that plus 2; near a logarithm."""


@pytest.mark.parametrize("name", ["tanh", "lgamma", "bessel_j0", "airy_ai", "zeta", "igamma"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_the_same_wherever_they_stand(name: str, dtype: Any) -> None:
    x = np.linspace(1.1, 9.0, 150).astype(dtype)
    operands = (x, x[::-1].copy())[: 2 if name in ("zeta", "igamma") else 1]
    whole = apply(name, *operands)
    for size in range(1, 80):
        part = apply(name, *(each[size // 2 : size // 2 + size].copy() for each in operands))
        assert part.tobytes() == whole[size // 2 : size // 2 + size].tobytes(), size
    apart = apply(name, *(np.repeat(each, 2)[::2] for each in operands))
    assert apart.tobytes() == whole.tobytes()


def test_long_formulas_are_written_as_few_times_as_costs_no_speed() -> None:
    loops = kernels.family("elementwise.loops")
    target = kernels.family("language.target").host()
    times = {"add": 5, "tanh": 3, "lgamma": 3, "igamma": 1}
    for name, count in times.items():
        operands = "ff" if name in ("add", "igamma") else "f"
        step = loops.Step(name, "f", tuple(range(len(operands))))
        expression = loops.Expression(operands, (step,), ((0, "f"),))
        text = loops.module_text(target, expression, "c" * len(operands), 1)
        assert text.count("llvm.masked.load") + text.count(" = load <") >= count
        own = loops.lines_of(target, name, tuple(operands))
        assert text.count("\n") < count * own + 250, name
