"""The table of formulas: what operators compute of each element, as code for vectors.

Dtypes have NumPy's letters here: `f` and `d` are floats, `b h i l` whole numbers, `B` bytes without
a sign, `?` bools.  A formula gives a vector of the kind of its operands, or one of bools.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from .text import DOUBLE, FLOAT, Kind, Value

__all__ = [
    *("FLOATS_ONLY", "FORMULAS", "KINDS", "NUMBERS", "WHOLE", "Formula"),
    *("as_kind", "formula", "to_double", "to_float"),
]

FLOATS_ONLY: Final = "fd"
WHOLE: Final = "bhilB"
NUMBERS: Final = FLOATS_ONLY + WHOLE

KINDS: Final = {
    **{"f": Kind("float"), "d": Kind("double")},
    **{"b": Kind("i8"), "h": Kind("i16"), "i": Kind("i32"), "l": Kind("i64")},
    **{"B": Kind("i8", unsigned=True), "?": Kind("i1", unsigned=True)},
}
"""The kind of one number of each dtype."""


class Formula(NamedTuple):
    """A formula, the dtypes it is `of`, and whether NumPy gives the same bits (`is_exact`).

    The operands at the places `masks` are taken as bools, whatever the others are.
    """

    compute: Callable[..., Value]
    of: str
    is_exact: bool
    masks: tuple[int, ...]


FORMULAS: Final[dict[str, Formula]] = {}
"""The formulas by the names that operators ask for them."""


def formula(
    of: str = "f",
    *,
    is_exact: bool = False,
    masks: tuple[int, ...] = (),
    double: Callable[..., Value] | None = None,
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """A function that operators may ask for by its name; `double` is its form for float64, where it
    has another."""

    def declare(function: Callable[..., Value]) -> Callable[..., Value]:
        chosen = function if double is None else _by_length(function, double)
        known = of if double is None else f"{of}d"
        FORMULAS[function.__name__] = Formula(chosen, known, is_exact, masks)
        return chosen

    return declare


def _by_length(short: Callable[..., Value], long: Callable[..., Value]) -> Callable[..., Value]:
    """One of two functions, by what the numbers are."""

    def compute(*operands: Value) -> Value:
        return (long if operands[0].kind.element == "double" else short)(*operands)

    return compute


def as_kind(value: Value, kind: Kind) -> Value:
    """A number or vector as another kind of number, as NumPy casts.

    Whole numbers wrap; a float that does not fit becomes the lowest number of 64 or 32 bits.
    """
    own = value.kind
    if own == kind:
        return value
    if kind.element == "i1":
        return value.differs(0)
    if own.is_real:
        return _of_float(value, kind)
    if kind.is_real:
        return value.converted("uitofp" if own.unsigned else "sitofp", kind)
    if _bits(own) == _bits(kind):
        return Value(value.code, kind, value.name)
    if _bits(own) > _bits(kind):
        return value.converted("trunc", kind)
    return value.converted("zext" if own.unsigned else "sext", kind)


def to_double(value: Value) -> Value:
    """A number in float64."""
    return as_kind(value, DOUBLE.of_lanes(value.kind.lanes))


def to_float(value: Value) -> Value:
    """A number in float32."""
    return as_kind(value, FLOAT.of_lanes(value.kind.lanes))


def _bits(kind: Kind) -> int:
    return int(kind.element[1:])


def _of_float(value: Value, kind: Kind) -> Value:
    if kind.is_real:
        return value.converted("fpext" if kind.element == "double" else "fptrunc", kind)
    wide = Kind("i64" if kind.element == "i64" else "i32", kind.lanes)
    end = 2.0 ** (_bits(wide) - 1)
    fits = (value > -end - (value.kind.element == "double" and _bits(wide) == 32)) & (value < end)
    found = value.code.choose(fits, value.converted("fptosi", wide), -int(end))
    return found if wide == kind else as_kind(found, kind)
