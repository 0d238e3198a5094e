"""The instruction table: checks and meanings come from its rows."""

from __future__ import annotations

import pytest

from rushlight.interpreter.code.instructions import (
    ROWS,
    bounds_of,
    check,
    meaning,
    opcode,
    row,
)

LIMITS = {"R": 4, "C": 2, "O": 1, "P": 10, "T": 1, "F": 1}


def show(kind: str, operand: object) -> str:
    assert isinstance(operand, int)
    return f"C[{-1 - operand}]" if kind == "V" and operand < 0 else f"{kind}{operand}"


def test_names_are_unique_and_numbered_by_place() -> None:
    assert [opcode(r.name) for r in ROWS] == list(range(len(ROWS)))


def test_every_operand_is_in_the_meaning() -> None:
    filler = {"N": 901, "P": 902, "S": 903}
    for entry in ROWS:
        operands: list[object] = []
        for kind in entry.kinds:
            number = filler.get(kind[0], 900)
            operands.append((number,) if kind.endswith("*") else number)
        text = meaning((opcode(entry.name), *operands), show)
        for (letter, kind), _ in zip(entry.operands, operands, strict=True):
            if entry.name != "unpack_list" or letter != "n":
                assert f"{kind[0]}{filler.get(kind[0], 900)}" in text, entry.name


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        ((opcode("add_int"), 2, 0, -1), "R2 = V0 + C[0]"),
        ((opcode("call2"), 1, 0, 2, -2), "R1 = O0(V2, C[1])"),
        ((opcode("unpack"), (0, 1), 2), "R0, R1 = V2"),
        ((opcode("branch"), 0, 7), "continue at P7 unless V0"),
        ((opcode("or"), 0, 1, 2), "R0 = V1 | V2"),
    ],
)
def test_meaning(instruction: tuple[object, ...], text: str) -> None:
    assert meaning(instruction, show) == text
    check(instruction, bounds_of(LIMITS))


@pytest.mark.parametrize(
    "instruction",
    [
        (opcode("move"), 4, 0),  # there are four registers
        (opcode("move"), -1, 0),  # constants are not written
        (opcode("move"), 0, -3),  # there are two constants
        (opcode("move"), 0),
        (opcode("move"), 0, 1, 2),
        (opcode("call1"), 0, 1, 0),  # there is one operator
        (opcode("jump"), 10),
        (opcode("list"), 0, (1, 9)),
    ],
)
def test_wrong_operands(instruction: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match=row(instruction).name):
        check(instruction, bounds_of(LIMITS))
