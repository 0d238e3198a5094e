"""Special functions by native code: exact values, NumPy's way beside them, the ends of their
arguments, and that no element's result depends on its neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.arithmetic import polynomials
from rushlight.ops.reductions import special
from rushlight.ops.special_functions import bessel, gamma, incomplete_gamma

pytestmark = pytest.mark.skipif(
    kernels.family("elementwise.arrays") is None, reason="no native code here"
)

DATA = Path(__file__).parent / "data" / "special.txt"


def _read() -> dict[str, list[list[float]]]:
    found: dict[str, list[list[float]]] = {}
    for line in DATA.read_text().splitlines():
        name, *numbers = line.split()
        found.setdefault(name, []).append([float.fromhex(each) for each in numbers])
    return found


EXACT = _read()
NAMES = {f"modified_bessel_{each}": each for each in ("i0", "i1")}
"""Formulas that have another name than the operator."""

SHORT = "i0e modified_bessel_k1 airy_ai log_ndtr ndtri igamma igammac zeta entr logit".split()
"""Those that are tried with float32 as well: most others differ from them in coefficients alone."""
PARTS = {
    **{"igamma": 1e-13, "igammac": 1e-12, "zeta": 2e-15, "polygamma": 2e-14, "mvlgamma": 1e-13},
    **{"airy_ai": 1e-13, "erfcx": 5e-15, "trigamma": 1e-12, "ndtr": 2e-13, "log_ndtr": 3e-15},
    **{"spherical_bessel_j0": 1e-15, "sinc": 2e-14, "logit": 2e-15},
    **{name: 1e-11 for name in EXACT if "polynomial" in name},
}
"""How much of a value float64 may miss, where that is more than a part of 3e-15."""


def apply(name: str, *operands: Any) -> Any:
    return kernels.family("elementwise.arrays").apply(name, operands)


@pytest.mark.parametrize("name", EXACT)
def test_exact_values(name: str) -> None:
    *operands, want = np.array(EXACT[name]).T
    scale = np.abs(want) if "polynomial" not in name else np.maximum(np.abs(want), 0.1)
    made = apply(name, *(each.copy() for each in operands))
    assert np.max(np.abs(made - want) / scale) < PARTS.get(name, 3e-15)
    if name in SHORT:
        short = [each.astype(np.float32) for each in operands]
        exactly = apply(name, *(each.astype(np.float64) for each in short))
        made = apply(name, *short)
        apart = np.abs(made - exactly.astype(np.float32))
        assert np.max(apart / np.spacing(np.abs(made))) <= 2


def _polygamma(x: Any, n: Any) -> Any:
    return gamma.polygamma(int(n.flat[0]), x)


def _mvlgamma(x: Any, p: Any) -> Any:
    return gamma.multigamma(x, int(p.flat[0]))


BY_NUMPY: dict[str, Callable[..., Any]] = {
    **special._OF_SELF,
    **special._OF_X,
    **{"i0": bessel.i0, "zeta": gamma.zeta, "trigamma": lambda x: gamma.polygamma(1, x)},
    **{"igamma": incomplete_gamma.igamma, "igammac": incomplete_gamma.igammac},
    **{"polygamma": _polygamma, "mvlgamma": _mvlgamma},
    **{
        name: polynomials._of_whole_degree(name, kernel)
        for name, kernel in polynomials._KERNELS.items()
    },
}
ENDS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, -2.5, 5.0, -5.0, 8.0, 20.0, -20.5, 100.0, 1e10),
    *(5e-324, 1e-310, 1e300, -1e300, math.inf, -math.inf, math.nan),
)
DEGREES = (0.0, 1.0, 2.0, 6.0, 7.0, 9.0, 20.0, 129.0, 600.0, -1.0, -0.5, 1e20, math.inf, math.nan)
WHOLE = {"polygamma": (2.0, 3.0, 200.0), "mvlgamma": (1.0, 2.0, 5.0)}


def _cases(name: str) -> list[list[Any]]:
    x = np.array(ENDS)
    if name in WHOLE:
        return [[x, np.full(x.shape, n)] for n in WHOLE[name]]
    if name in ("zeta", "igamma", "igammac") or "polynomial" in name:
        second = np.array(DEGREES if "polynomial" in name else ENDS)
        return [[each.ravel().copy() for each in np.meshgrid(x, second)]]
    return [[x]]


@pytest.mark.parametrize("name", BY_NUMPY)
def test_ends_are_those_of_numpys_way(name: str) -> None:
    for operands in _cases(name):
        with np.errstate(all="ignore"):
            want = np.asarray(BY_NUMPY[name](*operands))
        made = apply(NAMES.get(name, name), *operands)
        x = operands[0]
        if name == "trigamma":  # NumPy's way misses the poles by what pi is rounded by
            want = np.where((x <= 0) & (x == np.floor(x)) & np.isfinite(x), np.inf, want)
            want = np.where(x > 1e200, made, want)
        odd = ~np.isfinite(want) | (want == 0) | ~np.isfinite(made)
        assert np.array_equal(made[odd], want[odd], equal_nan=True)
        usual = ~odd & (np.abs(x) < 1e9)
        assert np.allclose(made[usual], want[usual], rtol=1e-9, atol=1e-14)


LOOPS = "igamma igammac zeta polygamma mvlgamma legendre_polynomial_p hermite_polynomial_h".split()
BESIDE = "airy_ai ndtri log_ndtr chebyshev_polynomial_u bessel_y1 modified_bessel_k0".split()
"""Those that choose between ways by the elements."""


def _draws(name: str, count: int) -> list[Any]:
    rng = np.random.default_rng(0)
    if name == "polygamma":
        return [rng.uniform(-30, 30, count), np.full(count, 3.0)]
    if name == "mvlgamma":
        return [rng.uniform(-5, 30, count), np.full(count, 5.0)]
    if name in ("igamma", "igammac"):
        sizes = 10.0 ** rng.uniform(-3, 3, count)
        return [sizes, sizes * rng.uniform(0.3, 2, count)]
    if name == "zeta":
        return [np.floor(rng.uniform(2, 9, count)), rng.uniform(-2000, 30, count)]
    if "polynomial" in name:
        return [rng.uniform(-1.5, 1.5, count), rng.integers(0, 30, count) * 1.0]
    return [rng.uniform(-12, 12, count)]


@pytest.mark.parametrize("name", [*LOOPS, *BESIDE])
def test_neighbours_change_no_bit(name: str) -> None:
    operands = _draws(name, 70)
    whole = apply(name, *operands)
    assert not np.isnan(whole).all()
    for start, stop in ((0, 1), (3, 20), (1, 34), (69, 70)):
        part = apply(name, *(each[start:stop].copy() for each in operands))
        assert part.tobytes() == whole[start:stop].tobytes()
    back = apply(name, *(each[::-1].copy() for each in operands))
    assert back[::-1].tobytes() == whole.tobytes()


def test_operators_take_their_numbers_where_they_stand() -> None:
    for x, n, want in EXACT["polygamma"]:
        tensor = torch.tensor([x], dtype=torch.float64)
        found = [torch.polygamma(int(n), tensor), tensor.clone().polygamma_(int(n))]
        assert [each.item() for each in found] == pytest.approx([want] * 2, rel=1e-13)
    for x, p, want in EXACT["mvlgamma"]:
        tensor = torch.tensor([x], dtype=torch.float64)
        found = [torch.mvlgamma(tensor, int(p)), tensor.clone().mvlgamma_(int(p))]
        assert [each.item() for each in found] == pytest.approx([want] * 2, rel=1e-12)


def _several(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.logit(x / 9, 0.2) + torch.logit(y / 9) + torch.polygamma(1, y)
    z = z + torch.special.xlog1py(x, y) + torch.special.i1e(x)
    return z + torch.special.legendre_polynomial_p(y, 4)


@pytest.mark.parametrize("size", [3, 9000])
def test_eager_scripted_and_later_calls_give_the_same_bits(size: int) -> None:
    torch.manual_seed(0)
    x, y = torch.rand(size) * 8 + 0.5, torch.rand(size) * 8 + 0.5
    scripted = torch.jit.script(_several)
    first = _several(x, y).numpy().tobytes()
    for _ in range(60):
        assert _several(x, y).numpy().tobytes() == first
        assert scripted(x, y).numpy().tobytes() == first


def test_zeta_of_large_arguments() -> None:
    s, q = np.array([100.0, 50, 30, 12, 2]), np.array([10.0, 10, 12, 40, 1e6])
    want = [1.0000725777946107e-100, 1.0086304954352791e-50, 4.6418371139547267e-33]
    want += [2.480337863562482e-19, 1.0000005000001667e-06]
    assert np.allclose(apply("zeta", s, q), want, rtol=1e-14, atol=0)
    assert np.allclose(gamma.zeta(s, q), want, rtol=1e-14, atol=0)


def test_orders_of_sixteen_bits_are_not_rounded() -> None:
    x = torch.tensor([632.0, 640.0])
    wide = torch.mvlgamma(x, 257).bfloat16()
    for _ in range(60):
        assert torch.equal(torch.mvlgamma(x.bfloat16(), 257), wide)


def test_degrees_beyond_reach_are_refused_in_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polynomials, "_MOST", 500)
    x, n = torch.full((40,), 0.5), torch.full((40,), 3.0)
    for _ in range(70):
        torch.special.legendre_polynomial_p(x, n)
        torch.special.legendre_polynomial_p(x, 3)
    n[7] = 1e6
    with pytest.raises(RuntimeError, match="out of reach"):
        torch.special.legendre_polynomial_p(x, n)
    with pytest.raises(RuntimeError, match="out of reach"):
        torch.special.legendre_polynomial_p(x, 1e6)
