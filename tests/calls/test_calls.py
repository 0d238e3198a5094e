"""Calls of the public functions give what torch gives, or refuse as torch refuses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from call_tables import Table, answer, read, same

import rushlight

FILES = sorted((Path(__file__).parent / "tables").glob("*.txt"))
TABLES = {file.stem: read(file) for file in FILES}
MANY = 25
"""So many rows are one test, since a test of pytest's takes as long as a call or two."""
PARTS = [
    (name, table.rows[at : at + MANY])
    for name, table in TABLES.items()
    for at in range(0, len(table.rows), MANY)
]


@cache
def _names(name: str) -> dict[str, Any]:
    return TABLES[name].names(rushlight)


@pytest.mark.parametrize(
    ("name", "rows"), PARTS, ids=[f"{name}: {rows[0][0]}"[:80] for name, rows in PARTS]
)
def test_as_torch_answers(name: str, rows: list[tuple[str, Any]]) -> None:
    wrong = []
    for expression, wanted in rows:
        found = answer(expression, dict(_names(name)))
        if not same(found, wanted):
            wrong.append(f"{expression}\nwanted: {wanted}\nfound:  {found}")
    assert not wrong, "\n\n".join(wrong)


def test_what_is_the_same() -> None:
    nan = float("nan")
    for found, wanted in (
        ([1.0, "a"], [1.0000001, "a"]),
        (nan, nan),
        ("!TypeError: x", "!TypeError: "),
        (float("inf"), float("inf")),
    ):
        assert same(found, wanted)
    for found, wanted in (
        (1, True),
        (1, 1.0),
        ([1], [1, 2]),
        (1.0, 1.001),
        (nan, 1.0),
        ("!TypeError: x", "!TypeError: y"),
        ("!KeyError: x", "!TypeError: "),
    ):
        assert not same(found, wanted)
    assert Table("x = 3", []).names(rushlight)["x"] == 3
