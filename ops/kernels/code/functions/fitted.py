"""Coefficients of special functions, for native code and for NumPy's way.

A line of `series.txt` is a Chebyshev series (see tools/fit_series.py): a name, the interval, and
the coefficients; one of `cylinder.txt` a polynomial, the highest power's coefficient first.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["Series", "polynomials", "series", "uniform_expansion"]

_FOLDER: Final = Path(__file__).parent


class Series(NamedTuple):
    """A Chebyshev series on an interval."""

    low: float
    high: float
    coefficients: tuple[float, ...]

    def rounded(self, unit: float) -> Series:
        """Without the last coefficients, which are below so small a part of the largest one."""
        least = unit * max(map(abs, self.coefficients))
        kept = [place for place, each in enumerate(self.coefficients) if abs(each) > least]
        return self._replace(coefficients=self.coefficients[: kept[-1] + 1])

    def powers(self) -> tuple[float, ...]:
        """The same as a polynomial, the highest power's coefficient first."""
        count = len(self.coefficients)
        total, last, before = [Fraction()] * count, [1], [0, 1]
        for each in map(Fraction, self.coefficients):
            for power, one in enumerate(last):
                total[power] += one * each
            twice = [0, *(2 * one for one in before)]
            after = [one - other for one, other in zip_longest(twice, last, fillvalue=0)]
            last, before = before, after
        return tuple(map(float, reversed(total)))


def _numbers(file: str) -> dict[str, tuple[float, ...]]:
    lines = (line.split() for line in (_FOLDER / file).read_text("utf-8").splitlines())
    return {name: tuple(map(float, numbers)) for name, *numbers in lines}


@cache
def series() -> dict[str, Series]:
    """The series by their names."""
    found = _numbers("series.txt").items()
    return {name: Series(low, high, tuple(rest)) for name, (low, high, *rest) in found}


@cache
def polynomials() -> dict[str, tuple[float, ...]]:
    """The polynomials by their names."""
    return _numbers("cylinder.txt")


@cache
def uniform_expansion(count: int) -> tuple[float, ...]:
    """So many coefficients of `eta / mu` in powers of eta, where `eta ** 2 / 2 = mu - log(1 + mu)`:
    of N. Temme's expansion of the incomplete gamma functions."""
    mu = [0.0, 1.0]  # from mu * mu' = eta * (1 + mu)
    for n in range(3, count + 2):
        square = 2 * mu[n - 2] / n
        mu.append((square - sum(mu[i] * mu[n - i] for i in range(2, n - 1))) / 2)
    quotient = [1.0]
    for n in range(1, count):
        quotient.append(-sum(mu[i + 1] * quotient[n - i] for i in range(1, n + 1)))
    return tuple(quotient)
