"""What functions of numbers are made of: polynomials, and signs."""

from __future__ import annotations

from typing import Final

from .text import Kind, Value

__all__ = ["TO_WHOLE", "TO_WHOLE_BITS", "polynomial", "with_sign", "words_of"]

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


def with_sign(size: Value, x: Value) -> Value:
    """A positive value with the sign of another."""
    is_wide = x.kind.element == "double"
    kind = Kind("i64" if is_wide else "i32", x.kind.lanes)
    sign = -(1 << (63 if is_wide else 31))
    return (size.bits(kind) | (x.bits(kind) & sign)).bits(x.kind)


def words_of(x: Value) -> Kind:
    """Unsigned words for the bits of float64."""
    return Kind("i64", x.kind.lanes, unsigned=True)
