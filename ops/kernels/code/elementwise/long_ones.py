"""Vectors of formulas that take many lines, which are written as few times as costs no speed: each
time takes as long again to compile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from ..functions.formulas import FORMULAS, KINDS
from ..language.target import Target
from ..language.text import LANES, Code, Value

__all__ = ["is_long", "lines_of", "visited"]

_LONG: Final = 25
"""Lines that are worth it."""
_LONGEST: Final = 400
"""So many fill a CPU's window: two vectors side by side take as long as one after the other."""


def is_long(lines: int) -> bool:
    """Whether vectors are to be gone through as `visited` does."""
    return lines > _LONG


@cache
def lines_of(target: Target, name: str, letters: tuple[str, ...]) -> int:
    """How many lines of code a formula takes for a vector of operands of some dtypes."""
    code = Code(target)
    kinds = (KINDS[letter].of_lanes(LANES) for letter in letters)
    FORMULAS[name].compute(*(Value(code, kind, f"%x{place}") for place, kind in enumerate(kinds)))
    return code.kernel(name, ()).count("\n")


def visited(
    code: Code,
    low: Value,
    high: Value,
    lines: int,
    visit: Callable[[list[Value], Value | None], None],
) -> None:
    """Visit the vectors of a range as `Code.vectors` does, but those that are left over with masks,
    whole ones too."""
    many = low
    if lines <= _LONGEST:
        many = low + ((high - low) & -2 * LANES)
        with code.counted(low, many, 2 * LANES) as at:
            visit([at, at + LANES], None)
    with code.counted(many, high, LANES) as at:
        visit([at], code.first(high - at))
