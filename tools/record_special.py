"""Write tests/ops/data/special.txt: values of special functions, computed to 40 digits with mpmath.

    PYTHON_WITH_MPMATH tools/record_special.py > tests/ops/data/special.txt

A line is the name of an operator's formula, its operands and the value, in hexadecimal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import mpmath as mp

mp.mp.dps = 40
COUNT = 24

Row = tuple[str, Callable[..., Any], list[tuple[float, float]]]


def _share(x: mp.mpf) -> mp.mpf:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _quantile(p: mp.mpf) -> mp.mpf:
    return mp.findroot(lambda x: mp.log(_share(x)) - mp.log(p), -mp.sqrt(-2 * mp.log(p)))


def _zeta(s: mp.mpf, q: mp.mpf) -> mp.mpf:
    return mp.zeta(s, q)


def _polynomials() -> Iterator[Row]:
    def of_degree(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, n: f(int(n), x)

    yield "chebyshev_polynomial_t", of_degree(mp.chebyt), [(-1.2, 1.2), (0, 20)]
    yield "chebyshev_polynomial_u", of_degree(mp.chebyu), [(-1.2, 1.2), (0, 20)]
    yield "hermite_polynomial_h", of_degree(mp.hermite), [(-3, 3), (0, 20)]
    yield "laguerre_polynomial_l", of_degree(lambda n, x: mp.laguerre(n, 0, x)), [(0, 9), (0, 20)]
    yield "legendre_polynomial_p", of_degree(mp.legendre), [(-1.2, 1.2), (0, 20)]


def _rows() -> Iterator[Row]:
    yield "i0", lambda x: mp.besseli(0, x), [(-20, 20)]
    yield "i0e", lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), [(-20, 20)]
    yield "i1", lambda x: mp.besseli(1, x), [(-20, 20)]
    yield "i1e", lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [(-20, 20)]
    yield "modified_bessel_k0", lambda x: mp.besselk(0, x), [(0, 6)]
    yield "modified_bessel_k1", lambda x: mp.besselk(1, x), [(0, 6)]
    yield "scaled_modified_bessel_k0", lambda x: mp.besselk(0, x) * mp.exp(x), [(0, 6)]
    yield "scaled_modified_bessel_k1", lambda x: mp.besselk(1, x) * mp.exp(x), [(0, 6)]
    yield "spherical_bessel_j0", lambda x: mp.sin(x) / x, [(-20, 20)]
    yield "airy_ai", mp.airyai, [(-6, 6)]
    yield "erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), [(-5, 150)]
    yield "ndtr", _share, [(-30, 6)]
    yield "log_ndtr", lambda x: mp.log(_share(x)), [(-30, 6)]
    yield "ndtri", _quantile, [(0, 0.5)]
    yield "entr", lambda x: -x * mp.log(x), [(0, 5)]
    yield "sinc", mp.sincpi, [(-3, 3)]
    yield "logit", lambda x: mp.log(x / (1 - x)), [(0, 0.4)]
    yield "trigamma", lambda x: mp.psi(1, x), [(-5, 30)]
    yield "polygamma", lambda x, n: mp.psi(int(n), x), [(0, 30), (2, 9)]
    yield "mvlgamma", lambda x, p: _multigamma(x, int(p)), [(4, 40), (1, 8)]
    yield "zeta", _zeta, [(1, 60), (0, 30)]
    yield "igamma", lambda a, x: mp.gammainc(a, 0, x, regularized=True), [(0, 60), (0, 60)]
    yield "igammac", lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), [(0, 60), (0, 60)]
    yield "xlogy", lambda x, y: x * mp.log(y), [(-3, 3), (1.5, 9)]
    yield "xlog1py", lambda x, y: x * mp.log1p(y), [(-3, 3), (0, 9)]
    yield "logaddexp2", lambda x, y: mp.log(2**x + 2**y, 2), [(1, 9), (1, 9)]
    yield from _polynomials()


def _multigamma(x: mp.mpf, p: int) -> mp.mpf:
    parts = [mp.loggamma(x - mp.mpf(j) / 2) for j in range(p)]
    return sum(parts) + p * (p - 1) * mp.log(mp.pi) / 4


_WHOLE = {"polygamma": 1, "mvlgamma": 1}


def main() -> None:
    """Print the lines."""
    draws = random.Random(0)
    for name, function, ranges in _rows():
        for _ in range(COUNT):
            operands = [draws.uniform(*each) for each in ranges]
            whole = 1 if "polynomial" in name else _WHOLE.get(name)
            if whole is not None:
                operands[whole] = float(int(operands[whole]))
            value = function(*map(mp.mpf, operands))
            print(name, *map(float.hex, [*operands, float(value)]))


if __name__ == "__main__":
    main()
