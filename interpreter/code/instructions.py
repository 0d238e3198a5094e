"""The instruction table: one row an opcode, everything else is derived from it.

A frame is one list: registers first, the code's constants behind them.  Operands are numbers:

    R   a register that is written             R*  several of them
    V   a value that is read: a register, or a constant if the number is negative (-1 is `C[0]`)
    V*  several of them                        O   an entry of the code's table of operators
    P   where to jump: an instruction's index  T   an entry of the code's table of types
    S   a slot of an object                    F   an entry of the code's table of names
    N   a count or position

A row's meaning is an equation over the operands' letters, and so is the line of Python that does
it: of that the machine's steps and the lines of plans are made.  A meaning that is Python already
is the line, too; rows of structure have none.  An instruction is a tuple of the opcode's number and
its operands; starred operands are tuples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ...frontend.foundations.made_once import made_once

__all__ = [
    "ROWS",
    "Instruction",
    "Row",
    "bounds_of",
    "check",
    "meaning",
    "opcode",
    "operator_number",
    "read_numbers",
    "row",
    "written_numbers",
]

Instruction = tuple[object, ...]


@dataclass(frozen=True)
class Row:
    """An opcode: its name, its operands as `letter:kind`, and its meaning.

    `line` is the Python that does it, with the letters in braces; empty for structure.  `plain` is
    shorter, for a slot that never holds a tensor, and where values are tensors themselves.  The
    result of one that `wraps` is kept in 64 bits; one that `decides` can be written as the test of
    an `if`.
    """

    name: str
    operands: tuple[tuple[str, str], ...]
    meaning: str
    line: str = ""
    plain: str = ""
    wraps: bool = False
    decides: bool = False

    @made_once
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for _, kind in self.operands)


def _row(
    head: str,
    meaning: str,
    *,
    python: str | None = None,
    plain: str = "",
    wraps: bool = False,
    decides: bool = False,
) -> Row:
    """A row; `python` is its line where the meaning is none."""
    name, *words = head.split()
    operands = tuple((letter, kind) for letter, _, kind in (w.partition(":") for w in words))
    letters = "".join(letter for letter, _ in operands)

    def template(text: str) -> str:
        return re.sub(rf"\b([{letters}])\b", r"{\1}", text)

    line = template(meaning if python is None else python)
    return Row(name, operands, meaning, line, template(plain), wraps, decides)


_TENSOR_DICT = "a = make_tensor_dict((b))"
_READ, _WRITE = "a = b.slots[s]", "b.slots[s] = write_slot(c)"
_ARRAY = "a = the array of b.s"
_METHOD = "a = the method f of the first of b, called with b"
_RAISE = "raise the exception named c with the message b"

ROWS: tuple[Row, ...] = (
    _row("add_int a:R b:V c:V", "a = b + c", wraps=True),  # in 64 bits
    _row("sub_int a:R b:V c:V", "a = b - c", wraps=True),  # in 64 bits
    _row("mul_int a:R b:V c:V", "a = b * c", wraps=True),  # in 64 bits
    _row("add a:R b:V c:V", "a = b + c"),  # floats, strings, lists
    _row("sub a:R b:V c:V", "a = b - c"),  # floats
    _row("mul a:R b:V c:V", "a = b * c"),  # floats
    _row("eq a:R b:V c:V", "a = b == c", decides=True),
    _row("ne a:R b:V c:V", "a = b != c", decides=True),
    _row("lt a:R b:V c:V", "a = b < c", decides=True),
    _row("le a:R b:V c:V", "a = b <= c", decides=True),
    _row("gt a:R b:V c:V", "a = b > c", decides=True),
    _row("ge a:R b:V c:V", "a = b >= c", decides=True),
    _row("not a:R b:V", "a = not b", decides=True),
    _row("and a:R b:V c:V", "a = b & c"),  # bits or truth values
    _row("or a:R b:V c:V", "a = b | c"),  # bits or truth values
    _row("is a:R b:V c:V", "a = b is c", decides=True),
    _row("is_not a:R b:V c:V", "a = b is not c", decides=True),
    _row("length a:R b:V", "a = len(b)"),
    _row("append b:V c:V", "b.append(c)"),
    _row("move a:R b:V", "a = b"),
    _row("free a:R*", "a = nothing", python="a = None"),  # the arrays held there are dropped
    _row("call1 a:R o:O b:V", "a = o(b)"),
    _row("call2 a:R o:O b:V c:V", "a = o(b, c)"),
    _row("call3 a:R o:O b:V c:V d:V", "a = o(b, c, d)"),
    _row("call a:R o:O b:V*", "a = o(b)"),
    _row("call_many a:R* o:O b:V*", "a = o(b)"),  # an operator with no result or several
    _row("jump p:P", "continue at p", python=""),
    _row("branch b:V p:P", "continue at p unless b", python=""),
    _row("branch_if b:V p:P", "continue at p if b", python=""),
    _row("range a:R b:V", "a = the numbers from 0 up to b", python=""),
    _row("next a:R b:V p:P", "a = the next of b, or continue at p if none is left", python=""),
    _row("return b:V", "give back b", python="return b"),
    _row("list a:R b:V*", "a = [b]"),
    _row("tuple a:R b:V*", "a = (b)"),
    _row("named a:R t:T b:V*", "a = t(b)", python="a = make_named(t, (b))"),  # a NamedTuple
    _row("dict a:R b:V*", "a = {b}", python="a = make_dict((b))"),  # keys and values in turn
    _row("tensor_dict a:R b:V*", "a = {b}", python=_TENSOR_DICT),  # the keys are tensors
    _row("unpack a:R* b:V", "a = b"),  # a tuple
    _row("unpack_list a:R* b:V n:N", "a = b", python="a = check_list(b, n)"),  # of n elements
    _row("item a:R b:V n:N", "a = b[n]"),  # a tuple
    _row("slice a:R b:V m:N n:N", "a = b[m:n]"),  # a tuple
    _row("get_slot a:R b:V s:S", "a = b.s", python="a = read_slot(b.slots[s])", plain=_READ),
    _row("get_tensor a:R b:V s:S", _ARRAY, python="a = b.slots[s]._array", plain=_READ),
    _row("set_slot b:V s:S c:V", "b.s = c", python=_WRITE, plain="b.slots[s] = c"),
    _row("set_tensor b:V s:S c:V", "b.s = the handle of array c", python=_WRITE),
    _row("create a:R t:T", "a = new t", python="a = create(t)"),
    _row("method a:R f:F b:V*", _METHOD, python="a = invoke(f, (b))"),
    _row("function a:R t:T b:V*", "a = t(b)", python="a = invoke(t.function, (b))"),
    _row("is_instance a:R b:V t:T*", "a = isinstance(b, (t))", python="a = is_instance(b, (t))"),
    _row("enum_name a:R b:V", "a = b.name"),
    _row("enum_value a:R b:V", "a = b.value", python="a = enum_value(b)"),
    _row("raise b:V c:V", _RAISE, python="raise_exception(b, c)"),
)
"""The rows; an opcode's number is its place."""

_NUMBERS = {r.name: number for number, r in enumerate(ROWS)}
_ROW_OF: Final[Mapping[object, Row]] = dict(enumerate(ROWS))


def opcode(name: str) -> int:
    """The number of an opcode."""
    return _NUMBERS[name]


def row(instruction: Instruction) -> Row:
    """The row of an instruction."""
    return _ROW_OF[instruction[0]]


_ANY: Final = 1 << 62
_KNOWN: Final = 1 << 14
"""Instructions whose operands are remembered: they are small numbers, and so often the same."""


@lru_cache(maxsize=_KNOWN)
def read_numbers(instruction: Instruction) -> tuple[int, ...]:
    """The operands an instruction reads, in order."""
    return _numbers_at(_READ_AT, instruction)


@lru_cache(maxsize=_KNOWN)
def written_numbers(instruction: Instruction) -> tuple[int, ...]:
    """The registers that an instruction writes or empties, in order."""
    return _numbers_at(_WRITTEN_AT, instruction)


def _numbers_at(
    places: Mapping[object, Sequence[int]], instruction: Instruction
) -> tuple[int, ...]:
    numbers = list[int]()
    for place in places[instruction[0]]:
        operand = instruction[place]
        if isinstance(operand, tuple):
            numbers.extend(operand)
        elif isinstance(operand, int):
            numbers.append(operand)
    return tuple(numbers)


def _places_of(letter: str) -> Mapping[object, tuple[int, ...]]:
    """Where the operands of a kind are in instructions, by opcode."""
    return {
        number: tuple(place for place, kind in enumerate(each.kinds, 1) if kind[0] == letter)
        for number, each in enumerate(ROWS)
    }


_READ_AT: Final = _places_of("V")
_WRITTEN_AT: Final = _places_of("R")

_OPERATOR_AT: Final[Mapping[object, int]] = {
    number: 1 + each.kinds.index("O") if "O" in each.kinds else 0
    for number, each in enumerate(ROWS)
}
"""Where an instruction's operator is, by opcode; 0 if it has none."""


def operator_number(instruction: Instruction) -> int | None:
    """The number of the operator that an instruction calls, None if it calls none."""
    place = _OPERATOR_AT[instruction[0]]
    return instruction[place] if place else None  # type: ignore[return-value]


Bounds = Mapping[str, tuple[int, int]]
"""The least number that an operand of a kind may be, and the first that it may not."""


def bounds_of(limits: Mapping[str, int]) -> Bounds:
    """Those of all kinds, from how many registers (`R`), constants (`C`), operators (`O`),
    instructions (`P`), types (`T`) and names (`F`) there are."""
    found = {kind: (0, limits.get(kind, _ANY)) for kind in "ROPTFSN"}
    found["V"] = -limits["C"], limits["R"]
    return found | {f"{kind}*": each for kind, each in found.items()}


def check(instruction: Instruction, bounds: Bounds) -> None:
    """Check the operands against the table.

    Raises:
        ValueError: an operand is missing, surplus or out of range.
    """
    kinds = row(instruction).kinds
    operands = instruction[1:]
    if len(operands) != len(kinds):
        raise ValueError(f"{row(instruction).name} has {len(kinds)} operands, not {len(operands)}")
    for kind, operand in zip(kinds, operands, strict=True):
        low, high = bounds[kind]
        if len(kind) == 1:
            if operand is None and kind == "N":
                continue
            numbers: tuple[object, ...] = (operand,)
        else:
            assert isinstance(operand, tuple)
            numbers = operand
        for number in numbers:
            if not isinstance(number, int) or not low <= number < high:
                raise ValueError(f"{row(instruction).name}: {number} is no operand of kind {kind}")


def meaning(instruction: Instruction, show: Callable[[str, object], str]) -> str:
    """The row's equation with every letter replaced by `show(kind, operand)`."""
    entry = row(instruction)
    shown = {
        letter: ", ".join(show(kind[0], one) for one in operand)
        if isinstance(operand, tuple)
        else show(kind, operand)
        for (letter, kind), operand in zip(entry.operands, instruction[1:], strict=True)
    }
    pattern = r"(?<![\w`])(" + "|".join(shown) + r")(?!\w)" if shown else r"(?!)"
    text = re.sub(pattern, lambda match: shown[match.group()], entry.meaning)
    return text.removeprefix(" = ")
