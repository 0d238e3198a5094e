"""Special functions against values of torch and against identities."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.eager.dispatch import eager_function
from rushlight.ops.tensors.tensor import Tensor

_POINTS = (-2.5, 0.3, 1.0, 9.0)

_AT_POINTS = {
    "special_i0e": (
        0.27004644161220276,
        0.7575806251825479,
        0.46575960759364043,
        0.134959524581723,
    ),
    "special_i1e": (
        *(-0.20658464953126657, 0.1123775606398388),
        *(0.20791041534970844, 0.1272249839358912),
    ),
    "special_bessel_j0": (
        *(-0.04838377646819797, 0.9776262465382961, 0.7651976865579666, -0.09033361118287613),
    ),
    "special_bessel_y0": (math.nan, -0.8072735778045195, 0.08825696421567691, 0.2499366982850247),
    "digamma": (1.1031566406452431, -3.502524222200133, -0.5772156649015329, 2.1406414779556112),
    "lgamma": (-0.05624371649767405, 1.0957979948180756, 0.0, 10.60460290274525),
}


def _call(name: str, *arguments: object) -> np.ndarray:
    values = [
        Tensor._of(np.asarray(a, np.float64)) if isinstance(a, (tuple, list, np.ndarray)) else a
        for a in arguments
    ]
    result: np.ndarray = eager_function(f"aten::{name}")(*values).numpy()
    return result


@pytest.mark.parametrize("name", _AT_POINTS)
def test_known_values(name: str) -> None:
    # torch's own coefficients for these two lose digits on the way to 5
    rtol = 1e-5 if name in ("special_bessel_j0", "special_bessel_y0") else 1e-13
    np.testing.assert_allclose(_call(name, _POINTS), _AT_POINTS[name], rtol=rtol, atol=1e-15)


def test_bessel_functions_meet_their_wronskian_on_both_sides_of_the_seam() -> None:
    x = np.linspace(0.5, 30, 400)
    j0, j1, y0, y1 = (_call(f"special_bessel_{n}", x) for n in ("j0", "j1", "y0", "y1"))
    np.testing.assert_allclose(j1 * y0 - j0 * y1, 2 / (math.pi * x), rtol=2e-5)
    i0, i1 = _call("special_i0e", x), _call("special_i1e", x)
    k0 = _call("special_scaled_modified_bessel_k0", x)
    k1 = _call("special_scaled_modified_bessel_k1", x)
    np.testing.assert_allclose(i0 * k1 + i1 * k0, 1 / x, rtol=1e-12)


def test_incomplete_gamma_functions_add_up_and_match_the_exponential() -> None:
    a, x = np.meshgrid([0.1, 1.0, 7.5, 300.0], [0.05, 1.0, 8.0, 290.0, 310.0])
    lower, upper = _call("igamma", a, x), _call("igammac", a, x)
    np.testing.assert_allclose(lower + upper, 1, rtol=1e-12)
    np.testing.assert_allclose(
        _call("igamma", np.ones(3), (0.1, 1.0, 5.0)), -np.expm1((-0.1, -1, -5))
    )


def test_normal_quantiles_undo_the_distribution() -> None:
    p = np.array([1e-300, 1e-20, 0.01, 0.5, 0.9, 1 - 1e-12])
    np.testing.assert_allclose(_call("special_ndtr", _call("special_ndtri", p)), p, rtol=1e-10)
    far = _call("special_log_ndtr", (-40.0, -1e5))
    np.testing.assert_allclose(far, (-804.6084420137538, -5000000012.43187), rtol=1e-12)


def test_polynomials_take_a_degree_for_each_element() -> None:
    x, n = (0.5, 0.5, 2.0, -1.0, 0.3), (0, 3, 4, 5, 9)
    wanted = np.cosh(4 * np.arccosh(2)), math.cos(9 * math.acos(0.3))
    found = _call("special_chebyshev_polynomial_t", x, n)
    np.testing.assert_allclose(found, (1, -1, wanted[0], -1, wanted[1]), rtol=1e-12)
    np.testing.assert_allclose(_call("special_legendre_polynomial_p", (0.5,), (2,)), -0.125)
    np.testing.assert_allclose(_call("special_hermite_polynomial_h", (1.5,), (3,)), 9.0)
    np.testing.assert_allclose(_call("special_laguerre_polynomial_l", (2.0,), (2,)), -1.0)


def test_zeta_and_polygamma() -> None:
    np.testing.assert_allclose(
        _call("special_zeta", (2.0, 4.0), (1.0, 1.0)), (math.pi**2 / 6, math.pi**4 / 90)
    )
    np.testing.assert_allclose(_call("polygamma", 1, (1.0,)), math.pi**2 / 6)
    assert np.isinf(_call("special_zeta", (1.0, 3.0), (2.0, -1.0))).all()


def test_incomplete_gamma_functions_of_large_arguments() -> None:
    places = np.array([50.0, 1e4, 1e8, 1e15, 1e30, 1e300])
    found = _call("igamma", tuple(places), tuple(places))
    np.testing.assert_allclose(found, 0.5 + 1 / (3 * np.sqrt(2 * math.pi * places)), rtol=1e-5)
    assert _call("igammac", (1e8,), (1e8 + 3e4,)) == pytest.approx(0.0013510, rel=1e-4)
    assert _call("igamma", (1e30, 1e30), (2e30, 5e29)).tolist() == [1, 0]


def test_incomplete_gamma_functions_of_small_arguments() -> None:
    found = _call("igammac", (1e-300, 1e-30, 1e-5, 1e-3), (1e-10, 1e-300, 0.5, 1.0))
    recorded = (2.3025850930040457e-299, 6.907755278982137e-28, 5.597765285384846e-06)
    np.testing.assert_allclose(found[:3], recorded, rtol=1e-13)
    np.testing.assert_allclose(found[3], 0.0002196084, rtol=1e-6)
    a, x = np.meshgrid(10.0 ** np.arange(-6, 5), 10.0 ** np.arange(-6, 5))
    both = _call("igamma", tuple(a.ravel()), tuple(x.ravel()))
    rest = _call("igammac", tuple(a.ravel()), tuple(x.ravel()))
    np.testing.assert_allclose(both + rest, 1, rtol=1e-13)


def test_logarithms_far_below_zero_are_numbers() -> None:
    x = torch.tensor([-1e38, -1e20, -1e10, -1001.2, float("-inf")], dtype=torch.float64)
    found = torch.special.log_ndtr(x).tolist()
    assert found == pytest.approx([-5e75, -5e39, -5e19, -501208.547, float("-inf")], rel=1e-8)
    assert torch.special.log_ndtr(torch.tensor(-1e20)).item() == float("-inf")
    far = torch.tensor([1e20, 1e10, 150.0, 101.0, 99.0], dtype=torch.float64)
    wanted = [
        *(5.641895835477563e-21, 5.641895835477563e-11, 0.0037611803122479916),
        *(0.005585761722495841, 0.00569859399702787),
    ]
    assert torch.special.erfcx(far).tolist() == pytest.approx(wanted, rel=1e-14)


def test_logarithms_of_complex_numbers_beside_one_keep_their_real_part() -> None:
    numbers = [1e-19 + 1e-18j, 1e-10 + 1e-5j, 1e250 + 1j, -1 + 1j, -2 + 1e-9j]
    x = torch.tensor(numbers, dtype=torch.complex128)
    found = torch.log1p(x).real.tolist()
    wanted = [1e-19, 1.5e-10, 575.6462732485114, 0.0, 5e-19]
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-25)
    assert torch.log1p(torch.tensor(complex(math.nan, math.inf))).real.isnan().item()
