"""Searches in strings give what Python's give, in time that grows with sums and not products."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.ops.python_values.searching import distinct, last_place, split_from_end

SCRIPT = """
def last(s: str, t: str) -> int:
    return s.rfind(t)
def pieces(s: str, t: str) -> List[str]:
    return s.rsplit(t)
def halves(s: str, t: str) -> str:
    return s.rpartition(t)[2]
def bare(s: str, t: str) -> str:
    return s.strip(t)
"""


@pytest.mark.parametrize("letters", ["ab", "a\u00e9\u4e00"])
def test_searches_from_the_end(letters: str) -> None:
    draw = random.Random(3)
    for length in (1, 3, 65, 70):
        part = "".join(draw.choices(letters, k=length))
        for _ in range(50):
            pieces = [part[: draw.randint(0, length)] for _ in range(4)]
            text = part.join(pieces) + draw.choice((part, ""))
            assert last_place(text, part) == text.rfind(part)
            for most in (-1, 0, 1, 2):
                assert split_from_end(text, part, most) == text.rsplit(part, most)


def test_what_is_stripped_is_a_set() -> None:
    assert ("x" * 5 + "y" + "ab" * 9).strip(distinct("ab" * 50 + "x")) == "y"


@pytest.mark.parametrize("name", ["last", "pieces", "halves", "bare"])
def test_the_worst_strings_take_no_minutes(name: str) -> None:
    """Each of them took the product of the two lengths: some 10 minutes."""
    function: Callable[[str, str], object] = getattr(torch.jit.CompilationUnit(SCRIPT), name)
    text, part = "b" + "a" * 2_000_000, "ab" + "a" * 1_000_000
    if name == "bare":
        text, part = "a" * 2_000_000, "b" * 1_000_000 + "a"
    began = time.process_time()
    found = function(text, part)
    assert found == {"last": -1, "pieces": [text], "halves": text, "bare": ""}[name]
    assert time.process_time() - began < 5
