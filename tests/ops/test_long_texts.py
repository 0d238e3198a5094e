"""Lists with long strings give what short ones give, in time that is not their product."""

from __future__ import annotations

import time

import pytest

import rushlight as torch

UNIT = torch.jit.CompilationUnit("""
def order(l: List[str], t: str) -> List[str]:
    l.sort(True)
    return sorted(l)
def inside(l: List[str], t: str) -> Tuple[bool, int, int]:
    return t in l, l.count(t), l.index(t)
def without(l: List[str], t: str) -> List[str]:
    l.remove(t)
    return l
def same(l: List[str], t: str) -> Tuple[bool, bool]:
    return l == [t] * len(l), l != [t] * len(l)
""")


@pytest.mark.parametrize("letter", ["a", "\u00e9"])
@pytest.mark.parametrize("length", [3, 3_000_000])
@pytest.mark.parametrize("name", ["order", "inside", "without", "same"])
def test_lists_of_long_strings(name: str, length: int, letter: str) -> None:
    long, last = letter * length, letter * (length - 1) + "b"
    values = [last, "", long, letter * length, "c", last]
    call = getattr(UNIT, name)
    expected = {
        "order": sorted(values, key=str.encode),
        "inside": (True, 2, 0),
        "without": values[1:],
        "same": (False, True),
    }
    assert call(list(values), last) == expected[name]
    assert UNIT.same([long] * 3, letter * length) == (True, False)


def test_a_hundred_thousand_places_for_one_long_string() -> None:
    values = ["a" * 1_000_000] * 100_000
    other = "a" * 999_999 + "b"
    began = time.process_time()
    assert UNIT.order(values, "") == values
    assert UNIT.same(values, "a" * 1_000_000) == (True, False)
    with pytest.raises(RuntimeError, match="not in list"):
        UNIT.without(values, other)
    assert time.process_time() - began < 10
