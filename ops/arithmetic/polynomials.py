"""Orthogonal polynomials, by their three-term recurrences.

The degree is an operand as well: the recurrence runs to the highest degree and each element stops
at its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..kernels import of_floats, written_by_numpy
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.declare import number_first, number_second, of_two
from ..table.formula import formula
from ..table.refusals import Refusal
from ..table.table import operator

Kernel = Callable[[Array, Array], Array]
Step = Callable[[int, Array, Array, Array], object]
"""(k, x, value of degree k, value of degree k - 1) -> value of degree k + 1."""


_MOST: Final = 1 << 18
"""Steps that a recurrence may take."""

_LARGEST: Final = 2.0**63
"""Degrees from here on, and NaN, count as negative."""


def _recurrence(x: Array, n: Array, first: Array, step: Step) -> Array:
    """The value of degree n at x: 1 for 0, `first` for 1, 0 below.

    Raises:
        OperatorError: a degree is too large for counting up to it.
    """
    most = int(np.max(n, initial=0))
    before, last = np.ones_like(x), np.asarray(first, x.dtype)
    result = np.where(n == 0, before, np.where(n == 1, last, x.dtype.type(0)))
    for degree in range(1, most):
        if degree > _MOST:
            raise OperatorError(
                f"a polynomial of degree {most} is out of reach: more than {_MOST} steps"
            )
        before, last = last, np.asarray(step(degree, x, last, before), x.dtype)
        result = np.where(n == degree + 1, last, result)
        if not ((n > degree + 1) & ~np.isnan(last)).any():
            return np.where(n > degree, last, result)
    return result


def _chebyshev(k: int, x: Array, last: Array, before: Array) -> Array:
    return (x + x) * last - before


def _odd(n: Array) -> Array:
    odd: Array = np.fmod(n, 2) != 0
    return odd


def _by_angle(x: Array, n: Array, above: int, value: Array, at_ends: Array, first: Array) -> Array:
    """`value` inside -1..1 for degrees above a limit, `at_ends` at the ends, else the recurrence
    that begins with `first`."""
    inside, ends = (np.abs(x) < 1) & (n > above), np.abs(x) == 1
    other = _recurrence(x, np.where(inside | ends, 0, n), first, _chebyshev)
    result = np.where(inside, value, other)
    return np.where(n < 0, x.dtype.type(0), np.where(ends, at_ends, result))


def _chebyshev_t(x: Array, n: Array) -> Array:
    ends = np.where((x > 0) | ~_odd(n), 1.0, -1.0).astype(x.dtype)
    return _by_angle(x, n, 6, np.cos(n * np.arccos(x)), ends, x)


def _chebyshev_u(x: Array, n: Array) -> Array:
    ends = np.where((x > 0) | ~_odd(n), n + 1, -(n + 1)).astype(x.dtype)
    angle = np.arccos(x)
    inner = np.sin((n + 1) * angle) / np.sin(angle)
    return _by_angle(x, n, 8, inner, ends, x + x)


def _chebyshev_v(x: Array, n: Array) -> Array:
    wide = n + n + 1
    ends = np.where(x > 0, 1.0, np.where(_odd(n), -wide, wide)).astype(x.dtype)
    angle = np.arccos(x)
    inner = np.cos((n + 0.5) * angle) / np.cos(angle / 2)
    return _by_angle(x, n, 8, inner, ends, x + x - 1)


def _chebyshev_w(x: Array, n: Array) -> Array:
    wide = n + n + 1
    ends = np.where(x > 0, wide, np.where(_odd(n), -1.0, 1.0)).astype(x.dtype)
    angle = np.arccos(x)
    inner = np.sin((n + 0.5) * angle) / np.sin(angle / 2)
    return _by_angle(x, n, 8, inner, ends, x + x + 1)


def _shifted(kernel: Kernel) -> Kernel:
    """The polynomial on 0..1 in place of -1..1."""

    def shifted(x: Array, n: Array) -> Array:
        return kernel(x + x - 1, n)

    return shifted


def _hermite_h(x: Array, n: Array) -> Array:
    def step(k: int, x: Array, last: Array, before: Array) -> object:
        return (x + x) * last - (k + k) * before

    return _within_limit(x, n, x + x, step)


def _hermite_he(x: Array, n: Array) -> Array:
    def step(k: int, x: Array, last: Array, before: Array) -> object:
        return x * last - k * before

    return _within_limit(x, n, x, step)


def _within_limit(x: Array, n: Array, first: Array, step: Step) -> Array:
    """Hermite's polynomials are given up where they overflow: at degree 128, or 512 in double."""
    limit = 128 if x.dtype == np.float32 else 512
    value = _recurrence(x, np.where(n > limit, 0, n), first, step)
    return np.where(n > limit, x.dtype.type(np.nan), value)


def _laguerre_l(x: Array, n: Array) -> Array:
    def step(k: int, x: Array, last: Array, before: Array) -> object:
        return ((k + k + 1 - x) * last - k * before) / (k + 1)

    value = _recurrence(x, n, 1 - x, step)
    return np.where((np.abs(x) == 0) & (n >= 0), x.dtype.type(1), value)


def _legendre_p(x: Array, n: Array) -> Array:
    def step(k: int, x: Array, last: Array, before: Array) -> object:
        return ((k + k + 1) * x * last - k * before) / (k + 1)

    ends = np.where((x > 0) | ~_odd(n), 1.0, -1.0).astype(x.dtype)
    value = _recurrence(x, n, x, step)
    return np.where((np.abs(x) == 1) & (n >= 0), ends, value)


_KERNELS: Final[dict[str, Kernel]] = {
    "chebyshev_polynomial_t": _chebyshev_t,
    "chebyshev_polynomial_u": _chebyshev_u,
    "chebyshev_polynomial_v": _chebyshev_v,
    "chebyshev_polynomial_w": _chebyshev_w,
    "hermite_polynomial_h": _hermite_h,
    "hermite_polynomial_he": _hermite_he,
    "laguerre_polynomial_l": _laguerre_l,
    "legendre_polynomial_p": _legendre_p,
    "shifted_chebyshev_polynomial_t": _shifted(_chebyshev_t),
    "shifted_chebyshev_polynomial_u": _shifted(_chebyshev_u),
    "shifted_chebyshev_polynomial_v": _shifted(_chebyshev_v),
    "shifted_chebyshev_polynomial_w": _shifted(_chebyshev_w),
}


_ZERO_AT_NAN: Final = frozenset(
    f"{shift}chebyshev_polynomial_{letter}" for shift in ("", "shifted_") for letter in "uw"
) | {"laguerre_polynomial_l", "legendre_polynomial_p"}
"""Polynomials whose recurrence torch does not begin where x is not a number."""


def _of_whole_degree(name: str, kernel: Kernel) -> Kernel:
    def polynomial(x: Array, n: Array) -> Array:
        x, n = np.broadcast_arrays(x, n)
        degree = np.where(np.abs(n) < _LARGEST, np.trunc(n), -1).astype(x.dtype)
        value = np.asarray(kernel(x, degree), x.dtype)
        if name in _ZERO_AT_NAN:
            value = np.where(np.isnan(x) & (degree > 1), x.dtype.type(0), value)
        return value

    return polynomial


def _reached(name: str, kernel: Kernel) -> Kernel:
    """The polynomial by native code where there is such, and its loop comes to the degree."""

    def polynomial(x: Array, n: Array) -> Array:
        if n.size and float(n.ravel()[0] if n.size == 1 else np.max(n)) > _MOST:
            written_by_numpy()
            return kernel(x, n)
        found = of_floats(name, x, n)
        if n.ndim and not name.startswith("hermite"):
            written_by_numpy()  # since other degrees may be beyond that
        return kernel(x, n) if found is None else found

    return polynomial


for _name, _kernel in _KERNELS.items():
    _of_degree = _reached(_name, _of_whole_degree(_name, _kernel))
    _forward = of_two(Refusal("hqc", f"{_name}_cpu"), _of_degree)
    _full = f"aten::special_{_name}"
    _is_bounded = _name.startswith("hermite")
    operator(
        f"{_full}(Tensor x, Tensor n) -> Tensor",
        order="out x_scalar x_scalar_out n_scalar n_scalar_out",
        layout="P",
        formula=formula(_name, 0, 1) if _is_bounded else (),
    )(_forward)
    operator(f"{_full}.n_scalar(Tensor x, Scalar n) -> Tensor", prepared=True)(
        number_second(_forward)
    )
    operator(f"{_full}.x_scalar(Scalar x, Tensor n) -> Tensor")(number_first(_forward))
