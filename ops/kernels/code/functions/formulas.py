"""The table of formulas: what operators compute of each element, as code for vectors.

Dtypes have NumPy's letters here: `f` and `d` are floats, `b h i l` whole numbers, `B` bytes without
a sign, `?` bools.  A formula gives a vector of the kind of its operands, or one of bools.

Numbers of `e` (float16) and `E` (bfloat16) are taken as float32, which a formula computes in, and
its result is rounded to them, once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Final, NamedTuple

from .....frontend.foundations.declared import Declared
from ....memory.allocation import uncounted
from ..language.text import BYTE, DOUBLE, FLOAT, INT32, Kind, Value

__all__ = [
    *("FLOATS_ONLY", "FORMULAS", "HALVES", "KINDS", "NUMBERS", "SPECIAL", "WHOLE", "Formula"),
    *("as_kind", "by_doubles", "formula", "rounded", "stored_kind", "stored_as", "taken_from"),
    *("to_double", "to_float", "width_of"),
]

FLOATS_ONLY: Final = "fd"
HALVES: Final = "eE"
WHOLE: Final = "bhilB"
NUMBERS: Final = FLOATS_ONLY + WHOLE

KINDS: Final = {
    **{"f": Kind("float"), "d": Kind("double"), "e": Kind("float"), "E": Kind("float")},
    **{"b": Kind("i8"), "h": Kind("i16"), "i": Kind("i32"), "l": Kind("i64")},
    **{"B": Kind("i8", unsigned=True), "?": Kind("i1", unsigned=True)},
}
"""The kind of one number of each dtype, as it is computed with."""


class Formula(NamedTuple):
    """A formula, the dtypes it is `of`, and whether NumPy gives the same bits (`is_exact`).

    The operands at the places `masks` are taken as bools, whatever the others are.  Where it
    computes 16-bit floats, numbers of Python are rounded to these first, unless it `takes_whole`
    ones.  One that `keeps` gives one of its operands, but for the sign, or a small whole number:
    nothing that had to be rounded.
    """

    compute: Callable[..., Value]
    of: str
    is_exact: bool
    masks: tuple[int, ...]
    takes_whole: bool = False
    keeps: bool = False

    def letter_at(self, place: int, letter: str, *, is_number: bool) -> str:
        """The dtype in which an operand is taken by what computes in a dtype."""
        if place in self.masks:
            return "?"
        return "f" if is_number and self.takes_whole and letter in HALVES else letter


class _Formulas(Declared[str, Formula]):
    """Formulas by their names; those of special functions are declared when one is asked for."""

    def __missing__(self, name: str) -> Formula:
        if name not in SPECIAL:
            with uncounted():
                for module in _OF_SPECIAL:
                    import_module(f".{module}", __package__)
        return SPECIAL[name]


_OF_SPECIAL: Final = (
    "bessels implicit_slopes incomplete_gammas normal_shares orthogonal zetas".split()
)

FORMULAS: Final[Declared[str, Formula]] = _Formulas()
"""The formulas by the names that operators ask for them."""
SPECIAL: Final[Declared[str, Formula]] = Declared()
"""Those of them that are found there, but not gone through."""


def formula(
    of: str = "f",
    *,
    is_exact: bool = False,
    masks: tuple[int, ...] = (),
    double: Callable[..., Value] | None = None,
    in_halves: bool = True,
    takes_whole: bool = False,
    keeps: bool = False,
    among: Declared[str, Formula] = FORMULAS,
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """A function that operators may ask for by its name; `double` is its form for float64, where it
    has another.  One of float32 is one of 16-bit floats as well, if operators compute these so
    (`in_halves`)."""

    def declare(function: Callable[..., Value]) -> Callable[..., Value]:
        chosen = function if double is None else _by_length(function, double)
        known = of if double is None else f"{of}d"
        if in_halves and "f" in of:
            known += HALVES
        made = Formula(chosen, known, is_exact, masks, takes_whole, keeps)
        among.put([function.__name__], made)
        return chosen

    return declare


def by_doubles(name: str, function: Callable[..., Value], *, takes_whole: bool = False) -> None:
    """Declare a function of float64 as the formula of a special function, of all floats: in the end
    it is told the element of the kind that its result is rounded to."""

    def compute(*operands: Value) -> Value:
        unit = operands[0].kind.element
        made = function(*map(to_double, operands), unit)
        return made if unit == "double" else to_float(made)

    compute.__name__ = name
    formula(FLOATS_ONLY, takes_whole=takes_whole, among=SPECIAL)(compute)


def _by_length(short: Callable[..., Value], long: Callable[..., Value]) -> Callable[..., Value]:
    """One of two functions, by what the numbers are."""

    @wraps(short)
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
    if width_of(own) == width_of(kind):
        return Value(value.code, kind, value.name)
    if width_of(own) > width_of(kind):
        return value.converted("trunc", kind)
    return value.converted("zext" if own.unsigned else "sext", kind)


def stored_kind(letter: str) -> Kind:
    """The kind of one number of a dtype as it lies in memory."""
    if letter in HALVES:
        return _WORD
    return BYTE if letter == "?" else KINDS[letter]


def taken_from(letter: str, stored: Value) -> Value:
    """What a stored number or vector means."""
    if letter == "?":
        return stored.differs(0)
    lanes = stored.kind.lanes
    if letter == "e":
        half = stored.bits(Kind("half", lanes))
        return half.converted("fpext", FLOAT.of_lanes(lanes))
    if letter == "E":
        wide = stored.converted("zext", INT32.of_lanes(lanes))
        return (wide << 16).bits(FLOAT.of_lanes(lanes))
    return stored


def stored_as(letter: str, value: Value) -> Value:
    """A number or vector of a dtype as it is stored; of 16-bit floats one that is `rounded`."""
    lanes = value.kind.lanes
    if letter == "e":
        return value.converted("fptrunc", Kind("half", lanes)).bits(_WORD.of_lanes(lanes))
    if letter == "E":
        word = value.bits(INT32.of_lanes(lanes)).unsigned_shift(16)
        return word.converted("trunc", _WORD.of_lanes(lanes))
    return value.converted("zext", BYTE.of_lanes(lanes)) if letter == "?" else value


def rounded(letter: str, value: Value) -> Value:
    """A float32 that a 16-bit float holds, the nearest one; of two the even one."""
    if letter == "e":
        return taken_from(letter, stored_as(letter, value))
    code, lanes = value.code, value.kind.lanes
    words = value.bits(INT32.of_lanes(lanes))
    is_odd = words.unsigned_shift(16) & 1
    near = (words + is_odd + 0x7FFF) & -0x10000
    no_number = (words & -0x80000000) | 0x7FC00000
    return code.choose(value.is_nan(), no_number, near).bits(value.kind)


_WORD: Final = Kind("i16")


def to_double(value: Value) -> Value:
    """A number in float64."""
    return as_kind(value, DOUBLE.of_lanes(value.kind.lanes))


def to_float(value: Value) -> Value:
    """A number in float32."""
    return as_kind(value, FLOAT.of_lanes(value.kind.lanes))


def width_of(kind: Kind) -> int:
    """The bits of a whole number."""
    return int(kind.element[1:])


def _of_float(value: Value, kind: Kind) -> Value:
    if kind.is_real:
        return value.converted("fpext" if kind.element == "double" else "fptrunc", kind)
    wide = Kind("i64" if kind.element == "i64" else "i32", kind.lanes)
    end = 2.0 ** (width_of(wide) - 1)
    fits = (value > -end - (value.kind.element == "double" and width_of(wide) == 32)) & (
        value < end
    )
    found = value.code.choose(fits, value.converted("fptosi", wide), -int(end))
    return found if wide == kind else as_kind(found, kind)
