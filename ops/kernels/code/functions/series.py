"""What functions of numbers are made of: polynomials, series, signs, and choice between ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..language.text import DOUBLE, Kind, Value
from . import fitted

__all__ = [
    *("TO_WHOLE", "TO_WHOLE_BITS", "chebyshev", "either", "polynomial"),
    *("with_sign", "words_of"),
]

TO_WHOLE: Final = 1.5 * 2.0**52
"""Added to a smaller float64 it rounds that to a whole number, which its last bits then hold."""
TO_WHOLE_BITS: Final = 0x4338000000000000


def polynomial(x: Value, *factors: float) -> Value:
    """Horner's rule, the factor of the highest power first."""
    add = x.code.multiply_add
    made = add(x, factors[0], factors[1])
    for each in factors[2:]:
        made = add(made, x, each)
    return made


_ENOUGH: Final = {"float": 2.0**-36, "double": 0.0}
"""Parts of a series that do not count, by what its sum is rounded to in the end."""
_MOST_GROWN: Final = 3.0
"""How much larger the coefficients of a polynomial may be than those of its series."""


def chebyshev(name: str, x: Value, unit: str = "double") -> Value:
    """The sum of a fitted series at x, held in its interval: as a polynomial where that is as good,
    else by C. Clenshaw's recurrence."""
    code, own = x.code, fitted.series()[name].rounded(_ENOUGH[unit])
    low, high = own.low, own.high
    held = code.choose(x < low, low, code.choose(x > high, high, x))
    t = (held - (high + low) / 2) * (2 / (high - low))
    powers = own.powers()
    if sum(map(abs, powers)) < _MOST_GROWN * sum(map(abs, own.coefficients)):
        return polynomial(t, *powers)
    twice = t + t
    last, before = t.taken(own.coefficients[-1]), t.taken(0.0)
    for each in own.coefficients[-2:0:-1]:
        last, before = code.multiply_add(twice, last, each - before), last
    return code.multiply_add(t, last, own.coefficients[0] - before)


def either(
    mask: Value, one: Callable[[], Value], other: Callable[[], Value], kind: Kind | None = None
) -> Value:
    """One where the mask is true, else the other: float64, or of a kind; each is computed where
    some element of the vector needs it."""
    code = mask.code
    found = code.variable(code.constant(kind or DOUBLE.of_lanes(mask.kind.lanes), 0))
    with code.when(code.any_of(mask ^ 1)):
        found.set(other())
    with code.when(code.any_of(mask)):
        found.set(code.choose(mask, one(), found.now))
    return found.now


def with_sign(size: Value, x: Value) -> Value:
    """A positive value with the sign of another."""
    is_wide = x.kind.element == "double"
    kind = Kind("i64" if is_wide else "i32", x.kind.lanes)
    sign = -(1 << (63 if is_wide else 31))
    return (size.bits(kind) | (x.bits(kind) & sign)).bits(x.kind)


def words_of(x: Value) -> Kind:
    """Unsigned words for the bits of float64."""
    return Kind("i64", x.kind.lanes, unsigned=True)
