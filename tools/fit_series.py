"""Write ops/kernels/code/functions/series.txt: Chebyshev series, computed to 40 digits with mpmath.

    PYTHON_WITH_MPMATH tools/fit_series.py > ops/kernels/code/functions/series.txt

A line is a name, the interval, and the coefficients.  `bessel.py` and `gamma.py` say how the
functions are put together from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import mpmath as mp

mp.mp.dps = 40


def _fit(f: Callable[[mp.mpf], mp.mpf], low: float, high: float, count: int) -> list[float]:
    """The coefficients of the interpolation in the Chebyshev points, down to 1e-18."""
    angles = [mp.pi * (k + mp.mpf(1) / 2) / count for k in range(count)]
    middle, half = (mp.mpf(high) + low) / 2, (mp.mpf(high) - low) / 2
    values = [f(middle + half * mp.cos(angle)) for angle in angles]
    found = [
        2 * sum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True)) / count
        for j in range(count)
    ]
    found[0] /= 2
    largest = max(map(abs, found))
    while abs(found[-1]) < largest * mp.mpf(10) ** -18:
        found.pop()
    return [float(c) for c in found]


def _wave(order: int, x: mp.mpf) -> mp.mpc:
    """What is left of the Hankel function without its decay and its phase."""
    phase = x - mp.pi / 4 - order * mp.pi / 2
    return mp.hankel1(order, x) * mp.sqrt(mp.pi * x / 2) * mp.expj(-phase)


def _airy_wave(zeta: mp.mpf) -> mp.mpc:
    x = (3 * zeta / 2) ** (mp.mpf(2) / 3)
    sum_ = mp.airybi(-x) + 1j * mp.airyai(-x)
    return sum_ * mp.sqrt(mp.pi) * x ** (mp.mpf(1) / 4) * mp.expj(-zeta - mp.pi / 4)


def _airy_tail(t: mp.mpf) -> mp.mpf:
    zeta = 1 / t
    x = (3 * zeta / 2) ** (mp.mpf(2) / 3)
    return mp.airyai(x) * mp.exp(zeta) * 2 * mp.sqrt(mp.pi) * x ** (mp.mpf(1) / 4)


_ZETA = 2 * mp.sqrt(2) ** 3 / 3  # of x = 2


def _quantile_beside_middle(square: mp.mpf) -> mp.mpf:
    """The normal quantile of 1 / 2 + q, divided by q."""
    q = mp.sqrt(square)
    return mp.sqrt(2) * mp.erfinv(2 * q) / q if q else mp.sqrt(2 * mp.pi)


def _quantile_of_tail(level: mp.mpf) -> mp.mpf:
    """How far out the normal curve leaves a share of `exp(-level ** 2)`, divided by the level."""
    begin = mp.sqrt(2) * level - mp.log(2 * mp.sqrt(mp.pi) * level) / (mp.sqrt(2) * level)
    return mp.findroot(lambda x: mp.log(mp.erfc(x / mp.sqrt(2)) / 2) + level**2, begin) / level


def _series() -> Iterator[tuple[str, Callable[[mp.mpf], mp.mpf], float, float]]:
    yield "i0", lambda x: mp.exp(-x) * mp.besseli(0, x), 0, 8
    yield "i0_tail", lambda t: mp.exp(-1 / t) * mp.besseli(0, 1 / t) / mp.sqrt(t), 0, 0.125
    yield "i1", lambda x: mp.exp(-x) * mp.besseli(1, x) / x, 0, 8
    yield "i1_tail", lambda t: mp.exp(-1 / t) * mp.besseli(1, 1 / t) / mp.sqrt(t), 0, 0.125
    for n in (0, 1):

        def tail(t: mp.mpf, n: int = n) -> mp.mpf:
            return mp.exp(1 / t) * mp.besselk(n, 1 / t) / mp.sqrt(t)

        yield f"k{n}_tail", tail, 0, 0.5

        def in_phase(t: mp.mpf, n: int = n) -> mp.mpf:
            return _wave(n, 8 / mp.sqrt(t)).real

        def out_of_phase(t: mp.mpf, n: int = n) -> mp.mpf:
            return _wave(n, 8 / mp.sqrt(t)).imag / mp.sqrt(t)

        yield f"p{n}", in_phase, 0, 1
        yield f"q{n}", out_of_phase, 0, 1
    yield "k0", lambda s: mp.besselk(0, r(s)) + mp.log(r(s) / 2) * mp.besseli(0, r(s)), 0, 4
    yield (
        "k1",
        lambda s: r(s) * (mp.besselk(1, r(s)) - mp.log(r(s) / 2) * mp.besseli(1, r(s))),
        *(0, 4),
    )
    yield "j0", lambda s: mp.besselj(0, r(s)), 0, 64
    yield "j1", lambda s: mp.besselj(1, r(s)) / r(s), 0, 64
    yield (
        "y0",
        lambda s: mp.bessely(0, r(s)) - 2 / mp.pi * mp.log(r(s)) * mp.besselj(0, r(s)),
        0,
        64,
    )
    yield (
        "y1",
        lambda s: (
            (mp.bessely(1, r(s)) - 2 / mp.pi * (mp.log(r(s)) * mp.besselj(1, r(s)) - 1 / r(s)))
            / r(s)
        ),
        *(0, 64),
    )
    yield "airy", lambda x: mp.airyai(x), -2, 2
    yield "airy_tail", _airy_tail, 0, float(1 / _ZETA)
    yield "airy_p", lambda t: _airy_wave(1 / mp.sqrt(t)).real, 0, float(1 / _ZETA**2)
    yield (
        "airy_q",
        lambda t: _airy_wave(1 / mp.sqrt(t)).imag / mp.sqrt(t),
        *(0, float(1 / _ZETA**2)),
    )
    yield "log_gamma", lambda a: mp.loggamma(1 + a) / a if a else -mp.euler, 0, 0.6
    yield "quantile", _quantile_beside_middle, 0, 0.180625
    yield "quantile_tail", _quantile_of_tail, 1.6, 5
    yield "quantile_far", lambda u: _quantile_of_tail(1 / u), 0.036, 0.2
    yield "erfcx", lambda y: mp.exp((4 / y - 4) ** 2) * mp.erfc(4 / y - 4), 0, 1


r = mp.sqrt


def main() -> None:
    """Print a line for every series."""
    for name, f, low, high in _series():
        print(name, float(low), float(high), *_fit(f, low, high, 64))


if __name__ == "__main__":
    main()
